"""Work and answers that a caller can make large stay bounded. What is counted is work, never time."""

from typing import Any

import pytest

from api.service.retained import PAGE_CHARACTERS
from tests.examples import example, the_contract
from tests.live import Live
from tests.problem_checks import assert_problem

FLOODS: dict[str, tuple[str, Any, str]] = {
    "a long list of the wrong type": ("judge", {**example("judge"), "evidence": [1] * 200_000}, "/evidence"),
    "a long list of empty texts": ("judge", {**example("judge"), "criteria": [""] * 200_000}, "/criteria"),
    "a long list of objects": ("consensus", {"task": "t", "answers": [{"x": 1}] * 50_000}, "/answers"),
    "unknown fields": ("create_key", {f"k{number}": 1 for number in range(100_000)}, "/k0"),
    "unknown fields inside": (
        "consensus",
        {"task": "t", "answers": [{f"k{number}": 1 for number in range(50_000)}] * 2},
        "/answers/0/k0",
    ),
}


class CountedFaults:
    """Stands before a validator and counts the faults that it is made to work out."""

    def __init__(self, validator: Any) -> None:
        self._validator, self.asked = validator, 0

    def is_valid(self, body: Any) -> bool:
        return bool(self._validator.is_valid(body))

    def iter_errors(self, body: Any) -> Any:
        self.asked += 1
        return self._validator.iter_errors(body)


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_faults_is_refused_before_the_validator_lists_them(name: str) -> None:
    operation, body, path = FLOODS[name]
    schema = the_contract().operations[operation].body
    assert schema is not None
    counted = CountedFaults(schema.validator)
    object.__setattr__(schema, "validator", counted)
    try:
        faults = schema.faults(body)
    finally:
        object.__setattr__(schema, "validator", counted._validator)
    assert faults[0].path == path
    assert len(faults) <= 20
    assert counted.asked == 0


def test_a_flood_of_faults_is_a_400(live: Live) -> None:
    key = live.new_key()
    for operation, body, path in FLOODS.values():
        answer = live.request("POST", the_contract().operations[operation].path, body, key=key)
        assert_problem(answer, "invalid_request")
        assert answer.json["errors"][0]["path"] == path


def test_a_long_name_is_cut_in_the_answer(live: Live) -> None:
    body = {**example("judge"), "k" * 1_500_000: 1}
    answer = live.request("POST", "/v1/judge", body, key=live.new_key())
    assert_problem(answer, "invalid_request")
    assert len(answer.body) < 2_000


def test_a_page_of_kept_calls_ends_before_it_has_too_much_text(live: Live) -> None:
    key = live.new_key()
    large = {**example("judge"), "evidence": ["Filler of no account. " * 700] * 16, "retain": True}
    for _ in range(12):
        assert live.request("POST", "/v1/judge", large, key=key).status == 200
    seen: list[str] = []
    cursor, pages = "", 0
    while True:
        answer = live.request("GET", f"/v1/retention?limit=100{cursor}", key=key)
        assert len(answer.body) < PAGE_CHARACTERS * 1.2
        seen += [row["id"] for row in answer.json["data"]]
        pages += 1
        if answer.json["next_cursor"] is None:
            break
        cursor = f"&cursor={answer.json['next_cursor']}"
    assert pages == 2
    assert len(seen) == len(set(seen)) == 12
