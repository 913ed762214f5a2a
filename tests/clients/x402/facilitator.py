"""An x402 facilitator over HTTP, made of the official package's own classes: run with the environment of these tests.

    python facilitator.py URL-OF-THE-CHAIN KEY-THAT-PAYS-GAS

Prints its address once it listens.
"""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# mypy runs without the packages of this environment, hence the comments.
# mypy runs without the packages of this environment, hence the comments.
from x402 import x402Facilitator  # type: ignore[import-not-found]
from x402.mechanisms.evm.exact import register_exact_evm_facilitator  # type: ignore[import-not-found]
from x402.mechanisms.evm.signers import FacilitatorWeb3Signer  # type: ignore[import-not-found]
from x402.schemas import PaymentPayload, PaymentRequirements  # type: ignore[import-not-found]

NETWORK = "eip155:8453"


def facilitator(chain: str, key: str) -> Any:
    """The official one for the exact scheme."""
    made = x402Facilitator()
    signer = FacilitatorWeb3Signer(private_key=key, rpc_url=chain, confirmation_timeout_seconds=20)
    register_exact_evm_facilitator(made, signer, networks=NETWORK)
    return made


class Handler(BaseHTTPRequestHandler):
    """GET /supported, POST /verify and /settle."""

    protocol_version = "HTTP/1.1"
    made: Any

    def do_GET(self) -> None:
        """Says what it can settle."""
        self._send(self.made.get_supported())

    def do_POST(self) -> None:
        """Verifies or settles."""
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        payload = PaymentPayload.model_validate(sent["paymentPayload"])
        requirements = PaymentRequirements.model_validate(sent["paymentRequirements"])
        work = self.made.verify if self.path == "/verify" else self.made.settle
        self._send(asyncio.run(work(payload, requirements)))

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _send(self, answer: Any) -> None:
        body = answer.model_dump_json(by_alias=True, exclude_none=True).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    Handler.made = facilitator(*sys.argv[1:3])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
