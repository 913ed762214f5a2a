"""Schemathesis against a running server: what fits the contract, what does not, and chains of calls."""

import json
import subprocess
from pathlib import Path

import pytest

from api.openapi import public_document
from tests.examples import the_contract
from tests.fakes.facilitator import fake_facilitator
from tests.faults.leaks import watched
from tests.faults.tools import python
from tests.problem_checks import the_problems

EXAMPLES = 20
SECONDS = 300
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
ENDS_THE_KEY = ("delete_key", "rotate_key")
NEEDS_STRIPE = ("checkout",)
"""Without Stripe it is a 503, which is documented and which the checks would take for a crash."""


@pytest.mark.promise("contract.fuzzed")
@pytest.mark.parametrize("with_key", [True, False], ids=["with a key", "without one"])
def test_no_request_is_a_server_error_or_answered_with_what_is_not_documented(tmp_path: Path, with_key: bool) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(public_document(the_contract(), the_problems(), "https://screwtape.ai", {})))
    # With a facilitator: without one, a payment is a 503 that is documented and that the checks would take for a crash.
    database = f"sqlite:///{tmp_path}/screwtape.db"
    with fake_facilitator() as facilitator, watched(database, 1, **facilitator.settings) as server:
        headers = ["-H", f"Authorization: Bearer {server.new_key()}"] if with_key else []
        left_out = (*NEEDS_STRIPE, *ENDS_THE_KEY) if with_key else NEEDS_STRIPE
        ended = subprocess.run(
            [
                str(python("schemathesis")),
                "-m",
                "schemathesis.cli",
                "run",
                str(document),
                f"--url=http://127.0.0.1:{server.port}",
                f"--checks={CHECKS}",
                f"--max-examples={EXAMPLES}",
                "--mode=all",
                "--seed=7",
                "--generation-deterministic",
                "--suppress-health-check=all",
                "--no-color",
                *headers,
                *(part for name in left_out for part in ("--exclude-operation-id", name)),
            ],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
