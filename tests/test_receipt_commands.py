"""`python -m api receipts`, and the settings of receipts."""

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.__main__ import main
from api.config import ConfigFaults, from_env
from api.core.receipts import keys
from tests.receipts import OTHER_PEM, SIGNING_PEM, URL, Json, issuer, kid_of, public_of

REQUEST = {"task": "t", "agent_output": "o"}
RESPONSE = {"verdict": "retry", "score": 0.5, "engine": "deterministic", "request_id": "req_1"}
SIGNED = issuer().with_receipt("judge", REQUEST, RESPONSE, 0, None)

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `python -m api receipts ...` in a folder of the test's own: status, output, faults."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["receipts", *arguments])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def put(name: str, value: Any) -> str:
    Path(name).write_text(value if isinstance(value, str) else json.dumps(value))
    return name


def test_a_key_is_made_once_and_for_its_owner_only(command: Run) -> None:
    status, out, err = command("keygen", "key.pem")
    pem = Path("key.pem").read_text()
    assert status == 0
    assert stat.S_IMODE(Path("key.pem").stat().st_mode) == 0o600
    assert out == public_of(pem)
    assert f"kid: {kid_of(pem)}" in err
    assert pem.splitlines()[1] not in out + err
    status, _, err = command("keygen", "key.pem")
    assert (status, Path("key.pem").read_text()) == (1, pem)
    assert "never overwritten" in err
    assert command("public", "key.pem")[1] == public_of(pem)
    assert from_env({"RECEIPT_SIGNING_KEY": "key.pem"}).receipt_signing_key == pem


def test_a_printed_key_stands_alone_on_standard_output(command: Run) -> None:
    status, out, _ = command("keygen")
    assert status == 0
    assert keys.private_key(out)


def test_a_key_can_be_made_while_the_setting_names_it(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECEIPT_SIGNING_KEY", "later.pem")
    assert command("keygen", "later.pem")[0] == 0


@pytest.mark.promise("receipts.offline")
@pytest.mark.parametrize("whole", [False, True])
def test_a_receipt_is_verified_with_a_saved_key_set(command: Run, whole: bool) -> None:
    put("jwks.json", issuer(OTHER_PEM, public_of(SIGNING_PEM)).jwks())
    put("receipt.json", SIGNED if whole else SIGNED["receipt"])
    put("request.json", REQUEST)
    status, out, _ = command("verify", "receipt.json", "--jwks", "jwks.json", "--request", "request.json")
    assert (status, json.loads(out)) == (0, {"valid": True, "reason": None, "receipt": SIGNED["receipt"]})


@pytest.mark.promise("receipts.offline")
def test_a_receipt_is_verified_with_the_keys_of_the_settings(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECEIPT_RETIRED_KEYS", public_of(SIGNING_PEM))
    put("receipt.json", SIGNED["receipt"])
    assert command("verify", "receipt.json")[0] == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SIGNED).encode())))
    assert command("verify", "-")[0] == 0


@pytest.mark.parametrize(
    ("given", "request_body", "issuer_url", "reason"),
    [
        ({**SIGNED["receipt"], "endpoint": "consensus"}, REQUEST, URL, "wrong_signature"),
        ({**SIGNED, "verdict": "pass"}, REQUEST, URL, "wrong_response_hash"),
        (SIGNED, {**REQUEST, "task": "u"}, URL, "wrong_request_hash"),
        (SIGNED, REQUEST, "https://other.example", "wrong_issuer"),
    ],
)
def test_what_is_not_valid_ends_with_1(
    command: Run, given: Json, request_body: Json, issuer_url: str, reason: str
) -> None:
    put("jwks.json", issuer().jwks())
    put("receipt.json", given)
    put("request.json", request_body)
    words = ("verify", "receipt.json", "--jwks", "jwks.json", "--request", "request.json", "--issuer", issuer_url)
    status, out, err = command(*words)
    assert (status, json.loads(out)) == (1, {"valid": False, "reason": reason, "receipt": None})
    assert err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("verify", "none.json", "--jwks", "jwks.json"), "none.json: No such file"),
        (("verify", "receipt.json"), "Save https://screwtape.ai/.well-known/jwks.json"),
        (("verify", "receipt.json", "--jwks", "receipt.json"), "a JSON Web Key Set"),
        (("verify", "broken.json", "--jwks", "jwks.json"), "can't be read"),
        (("public", "jwks.json"), "an Ed25519 private key"),
    ],
)
def test_faults_are_told(command: Run, words: tuple[str, ...], told: str) -> None:
    put("jwks.json", issuer().jwks())
    put("receipt.json", SIGNED)
    put("broken.json", '{"a": 1, "a": 2}')
    status, _, err = command(*words)
    assert status == 1
    assert told in err
    assert "Traceback" not in err


@pytest.mark.promise("ops.receipt_settings")
def test_the_settings_take_pem_and_paths(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_text(public_of(SIGNING_PEM))
    (tmp_path / "b.pem").write_text(public_of(OTHER_PEM))
    one_line = SIGNING_PEM.replace("\n", "\\n")
    config = from_env({"RECEIPT_SIGNING_KEY": one_line, "RECEIPT_RETIRED_KEYS": f"{tmp_path}/a.pem, {tmp_path}/b.pem"})
    found = issuer(config.receipt_signing_key, config.receipt_retired_keys)
    assert list(found.keys) == [kid_of(SIGNING_PEM), kid_of(OTHER_PEM)]
    secret = SIGNING_PEM.splitlines()[1]
    assert secret not in repr(config)
    assert secret not in repr(found)
    assert public_of(OTHER_PEM).splitlines()[1] not in repr(config)


@pytest.mark.promise("ops.receipt_settings")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RECEIPT_SIGNING_KEY", public_of(SIGNING_PEM)),
        ("RECEIPT_SIGNING_KEY", "MC4CAQAwBQYDK2VwBCIEIMadeUpMadeUpMadeUp"),
        ("RECEIPT_SIGNING_KEY", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"),
        ("RECEIPT_SIGNING_KEY", "/"),
        ("RECEIPT_RETIRED_KEYS", SIGNING_PEM),
        ("RECEIPT_RETIRED_KEYS", "/nowhere/key.pem"),
    ],
)
def test_a_wrong_key_is_a_fault_at_the_start(name: str, value: str) -> None:
    with pytest.raises(ConfigFaults) as raised:
        from_env({name: value})
    (fault,) = raised.value.faults
    assert fault.startswith(f"{name} must be ")
    assert "AAAA" not in fault
    assert "MadeUp" not in fault
    assert value.splitlines()[min(1, value.count("\n"))] not in fault or value == "/"
