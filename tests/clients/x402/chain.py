"""A chain of the tests' own that takes itself for Base: anvil, with a token at the address of USDC."""

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.x402.environment import anvil, clean_environment

CHAIN_ID = 8453
GAS_PAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
GAS_PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
"""The first account of every anvil, known to all the world."""
TOKEN_CODE = Path(__file__).with_name("FakeUSDC.json")
_MINT, _BALANCE = "0x40c10f19", "0x70a08231"
_READY = "Listening on "


@dataclass(frozen=True)
class Chain:
    """A running chain. Amounts are in atomic units of the token."""

    url: str
    token: str

    def call(self, method: str, *params: Any) -> Any:
        """The result of a JSON-RPC call."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            answer = json.load(response)
        assert "error" not in answer, answer
        return answer["result"]

    def mint(self, address: str, amount: int) -> None:
        """Gives the address tokens."""
        data = _MINT + _word(int(address, 16)) + _word(amount)
        self.call("eth_sendTransaction", {"from": GAS_PAYER, "to": self.token, "data": data})

    def balance(self, address: str) -> int:
        """The address's tokens."""
        data = _BALANCE + _word(int(address, 16))
        return int(self.call("eth_call", {"to": self.token, "data": data}, "latest"), 16)

    def transfers(self, transaction: str) -> list[tuple[str, str, int]]:
        """The token's transfers in a transaction that went through: from, to, amount; addresses in lower case."""
        receipt = self.call("eth_getTransactionReceipt", transaction)
        assert receipt is not None, f"{transaction} is not on the chain"
        assert receipt["status"] == "0x1"
        moved = [log for log in receipt["logs"] if log["address"].lower() == self.token.lower()]
        return [
            ("0x" + log["topics"][1][-40:], "0x" + log["topics"][2][-40:], int(log["data"], 16))
            for log in moved
            if len(log["topics"]) == 3 and len(log["data"]) == 66
        ]


@contextmanager
def running_chain(token: str) -> Iterator[Chain]:
    """A chain with the token at that address, until the block ends."""
    words = [str(anvil()), "--chain-id", str(CHAIN_ID), "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        try:
            assert process.stdout is not None
            address = next(line for line in process.stdout if line.startswith(_READY)).removeprefix(_READY).strip()
            chain = Chain(f"http://{address}", token)
            chain.call("anvil_setCode", token, json.loads(TOKEN_CODE.read_text())["runtime"])
            yield chain
        finally:
            process.terminate()


def _word(value: int) -> str:
    return f"{value:064x}"
