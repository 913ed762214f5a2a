"""Receives drift alerts with the package standardwebhooks, which checks the signature and the time of sending.

SCREWTAPE_WEBHOOK_SECRET=whsec_... PORT=8080 python receive_alerts_standard.py
"""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SCREWTAPE_WEBHOOK_SECRET"])
seen: set[str] = set()  # use your database: a restart must not forget


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            alert = webhook.verify(body, headers)
        except WebhookVerificationError:
            self.answer(400)
            return
        if alert["id"] not in seen:
            seen.add(alert["id"])
            print(alert["type"], alert["id"], flush=True)  # hand it on here, quickly
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        """Logs nothing."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
