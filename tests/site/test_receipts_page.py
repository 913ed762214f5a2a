"""The guide of receipts: its code verifies a real answer, its table has every reason, and its example is genuine."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.core.receipts import keys
from api.core.receipts.canonical import digest, text_digest
from api.core.receipts.signing import REASONS, refusal
from tests.examples import example
from tests.receipts import OTHER_PEM, SIGNING_PEM, Json, issuer, public_of
from tests.site.conftest import BASE_URL, Project

REQUEST = {"task": "Name the river.", "agent_output": "The Rhône \U0001f30a \u2028.", "version": "1.0"}
ANSWER = {"verdict": "pass", "score": 1.0, "reasons": ["é"], "engine": "deterministic", "request_id": "req_1"}
SIGNED = issuer(url=BASE_URL).with_receipt("judge", REQUEST, ANSWER, 0, None)


def guide(built: Project) -> str:
    return (built.out / "receipts.md").read_text(encoding="utf-8")


def code(built: Project, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", guide(built), re.MULTILINE | re.DOTALL)
    return str(found)


def lay_out(folder: Path, response: Json, request: Any = REQUEST, listed: Json | None = None) -> None:
    """The files that the guide's code reads."""
    documents = {"response": response, "request": request, "jwks": listed or LISTED}
    for name, value in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


LISTED = issuer(OTHER_PEM, public_of(SIGNING_PEM)).jwks()
RECEIPT = SIGNED["receipt"]
FORGED: dict[str, tuple[Json, Any]] = {
    "another score": ({**SIGNED, "receipt": {**RECEIPT, "result": {**RECEIPT["result"], "score": "0.9"}}}, REQUEST),
    "another response": ({**SIGNED, "score": 0.9}, REQUEST),
    "another request": (SIGNED, {**REQUEST, "task": "Name the sea."}),
    "two signatures": ({**SIGNED, "receipt": {**RECEIPT, "signatures": RECEIPT["signatures"] * 2}}, REQUEST),
    "another issuer": (issuer(url="https://other.test").with_receipt("judge", REQUEST, ANSWER, 0, None), REQUEST),
    "an unlisted key": (
        issuer(keys.new_private_pem(), url=BASE_URL).with_receipt("judge", REQUEST, ANSWER, 0, None),
        REQUEST,
    ),
}


def run_python(built: Project, folder: Path) -> subprocess.CompletedProcess[str]:
    program = code(built, "python")
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.promise("site.receipts_guide")
def test_the_python_of_the_guide_verifies_an_answer(built: Project, tmp_path: Path) -> None:
    lay_out(tmp_path, SIGNED)
    done = run_python(built, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("valid: {'verdict': 'pass', 'score': '1',")


@pytest.mark.promise("site.receipts_guide")
@pytest.mark.parametrize("kind", FORGED)
def test_the_python_of_the_guide_refuses(built: Project, tmp_path: Path, kind: str) -> None:
    lay_out(tmp_path, *FORGED[kind])
    done = run_python(built, tmp_path)
    assert done.returncode != 0
    assert "valid: {" not in done.stdout
    assert "not valid: " in done.stderr or "InvalidSignature" in done.stderr


def test_the_guide_explains_every_reason(built: Project) -> None:
    found = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", guide(built).partition("## Reasons")[2], re.MULTILINE))
    assert set(found) == {*REASONS, "wrong_response_hash"}
    for name, why in REASONS.items():
        assert found[name].replace("`", "") == why


def test_the_example_is_a_genuine_receipt_of_the_example_call() -> None:
    """Signed with the private key of RFC 8037 appendix A.1, which all the world knows."""
    receipt = example("verify_receipt")["receipt"]
    (known,) = keys.read_jwks(
        {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
    ).items()
    assert refusal(receipt, receipt["issuer"], dict([known])) is None
    assert receipt["request_hash"] == digest(example("judge"))
    assert receipt["result"]["output_hash"] == text_digest(example("judge")["agent_output"])


def test_the_key_list_is_announced(built: Project) -> None:
    index = (built.out / "llms.txt").read_text(encoding="utf-8")
    assert f"{BASE_URL}/.well-known/jwks.json): the public keys" in index
    assert f"{BASE_URL}/receipts): " in index
