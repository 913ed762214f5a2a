"""Receives drift alerts with the standard library of Python 3.11 alone. Put it behind TLS: alerts go to https only.

SCREWTAPE_WEBHOOK_SECRET=whsec_... PORT=8080 python receive_alerts.py
"""

import base64
import hashlib
import hmac
import json
import os
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["SCREWTAPE_WEBHOOK_SECRET"]
LARGEST = 64 * 1024
# Deliveries are tried again for 24 hours.
OLDEST = timedelta(hours=25)

seen: dict[str, datetime] = {}  # use your database: a restart must not forget


def verify(body: bytes, signature: str) -> dict:
    """The alert in `body`. Raises ValueError when it was not signed with the secret or is too old."""
    digest = hmac.new(SECRET.encode(), body, hashlib.sha256).digest()
    expected = base64.urlsafe_b64encode(digest).rstrip(b"=")
    if not hmac.compare_digest(expected, signature.encode()):
        raise ValueError("wrong signature")
    alert = json.loads(body)
    if datetime.now(UTC) - datetime.fromisoformat(alert["created_at"]) > OLDEST:
        raise ValueError("too old")
    return alert


def is_new(alert: dict) -> bool:
    """Whether the alert comes for the first time. A delivery that is tried again has the same id."""
    now = datetime.now(UTC)
    for alert_id in [alert_id for alert_id, at in seen.items() if now - at > OLDEST]:
        del seen[alert_id]
    return seen.setdefault(alert["id"], now) == now


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers.get("Content-Length", 0))
        if size > LARGEST:
            self.answer(413)
            return
        body = self.rfile.read(size)
        try:
            alert = verify(body, self.headers.get("X-Screwtape-Signature", ""))
        except ValueError:
            self.answer(400)
            return
        if is_new(alert):
            print(alert["type"], alert["id"], flush=True)  # hand it on here, quickly
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        """Logs nothing."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
