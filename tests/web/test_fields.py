"""The limits of every body field, read from the contract's schemas and tried from both sides over a socket."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from api.contract import resolve
from tests.examples import example, the_contract
from tests.live import Answer, Live, live_server
from tests.problem_checks import assert_problem

METERED = ("judge", "consensus")
LETTER = "\u00e9"  # two bytes, one character: limits count characters


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("fields")) as live:
        live.new_key()
        yield live


@dataclass(frozen=True)
class Limit:
    """One limit of one field. `path` leads to the field in a body; -1 stands for an item of a list."""

    operation: str
    path: tuple[str | int, ...]
    schema: dict[str, Any]
    keyword: str

    def __str__(self) -> str:
        return f"{self.operation}/{'/'.join(map(str, self.path))} {self.keyword}"

    def values(self) -> tuple[Any, Any]:
        """A value at the limit and one beyond it."""
        bound = self.schema[self.keyword]
        beyond = bound + (1 if self.keyword.startswith("max") else -1)
        return self._sized(bound), self._sized(beyond)

    def _sized(self, size: int) -> Any:
        if self.keyword.endswith("Length"):
            letter = "a" if "pattern" in self.schema else LETTER
            return letter * size
        return [_smallest(self.schema["items"]) for _ in range(size)]


def _resolved(schema: Any) -> dict[str, Any]:
    return dict(resolve(schema, the_contract().document))


def _smallest(schema: Any) -> Any:
    schema = _resolved(schema)
    if schema["type"] == "object":
        return {name: _smallest(schema["properties"][name]) for name in schema["required"]}
    return "x" * max(1, schema.get("minLength", 0))


def _limits(operation: str, schema: Any, path: tuple[str | int, ...] = ()) -> Iterator[Limit]:
    schema = _resolved(schema)
    for keyword in ("minLength", "maxLength", "minItems", "maxItems"):
        if schema.get(keyword):
            yield Limit(operation, path, schema, keyword)
    for name, inner in schema.get("properties", {}).items():
        yield from _limits(operation, inner, (*path, name))
    if "items" in schema:
        yield from _limits(operation, schema["items"], (*path, -1))


def _all_limits() -> list[Limit]:
    operations = [the_contract().operations[name] for name in METERED]
    return [limit for op in operations if op.body is not None for limit in _limits(op.id, op.body.schema)]


def _with(body: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy of `body` with `value` at `path`; a list that is missing on the way is made with one item."""
    whole = copy.deepcopy(body)
    node: Any = whole
    for step in path[:-1]:
        node = node.setdefault(step, ["x"]) if isinstance(step, str) else node[step]
    node[path[-1]] = value
    return whole


def send(server: Live, operation: str, body: Any) -> Answer:
    return server.request("POST", the_contract().operations[operation].path, body, key=server.keys[0])


@pytest.mark.promise("judge.task")
@pytest.mark.promise("judge.output")
@pytest.mark.promise("judge.evidence")
@pytest.mark.promise("judge.criteria")
@pytest.mark.promise("judge.tags")
@pytest.mark.promise("consensus.answers")
@pytest.mark.parametrize("limit", _all_limits(), ids=str)
def test_a_limit_holds_to_the_character(server: Live, limit: Limit) -> None:
    at, beyond = limit.values()
    faults = the_contract().operations[limit.operation].body
    assert faults is not None
    base = example(limit.operation)
    assert faults.faults(_with(base, limit.path, at)) == []
    answer = send(server, limit.operation, _with(base, limit.path, beyond))
    assert_problem(answer, "invalid_request")
    length = len(base.get(str(limit.path[0]), [0])) if -1 in limit.path else 0
    where = "/" + "/".join(str(max(0, length - 1)) if step == -1 else str(step) for step in limit.path)
    assert answer.json["errors"][0]["path"] == where
    assert f"{limit.schema[limit.keyword]:,}" in answer.json["errors"][0]["message"]


STATED = {
    ("judge", "task"): (1, 8_000),
    ("judge", "agent_output"): (None, 64_000),
    ("judge", "evidence", -1): (1, 16_000),
    ("judge", "criteria", -1): (1, 500),
    ("judge", "agent_id"): (1, 64),
    ("judge", "version"): (None, 64),
    ("consensus", "task"): (1, 8_000),
    ("consensus", "answers", -1, "output"): (1, 16_000),
    ("consensus", "answers", -1, "agent_id"): (1, 80),
    ("consensus", "agent_id"): (1, 64),
    ("consensus", "version"): (None, 64),
}
STATED_ITEMS = {("judge", "evidence"): 50, ("judge", "criteria"): 50, ("consensus", "answers"): 16}


@pytest.mark.promise("judge.task")
@pytest.mark.promise("judge.output")
@pytest.mark.promise("judge.evidence")
@pytest.mark.promise("judge.criteria")
@pytest.mark.promise("judge.tags")
@pytest.mark.promise("consensus.answers")
def test_the_limits_are_the_promised_ones() -> None:
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for limit in _all_limits():
        found.setdefault((limit.operation, *limit.path), {})[limit.keyword] = limit.schema[limit.keyword]
    for path, (least, most) in STATED.items():
        assert found[path].get("minLength") == least, path
        assert found[path]["maxLength"] == most, path
    for path, most in STATED_ITEMS.items():
        assert found[path]["maxItems"] == most, path
    assert found["consensus", "answers"]["minItems"] == 2


@pytest.mark.promise("judge.output")
def test_the_largest_and_the_empty_output_are_judged(server: Live) -> None:
    for output in ("", "x" * 64_000, "w " * 32_000):
        answer = send(server, "judge", {"task": "t", "agent_output": output})
        assert answer.status == 200, answer.body
    assert send(server, "judge", {"task": "t", "agent_output": ""}).json["verdict"] == "retry"


@pytest.mark.promise("judge.total")
@pytest.mark.parametrize("beyond", [0, 1])
def test_all_texts_together_have_256_000_characters_at_most(server: Live, beyond: int) -> None:
    judge = {"task": "t" * 8_000, "agent_output": "", "evidence": ["e" * 16_000] * 15 + ["e" * (8_000 + beyond)]}
    output = "o" * 15_750
    consensus = {"task": "t" * 4_000, "answers": [{"output": output}] * 15 + [{"output": output + "o" * beyond}]}
    for operation, body in (("judge", judge), ("consensus", consensus)):
        answer = send(server, operation, body)
        if not beyond:
            assert answer.status == 200
            continue
        assert_problem(answer, "invalid_request")
        assert answer.json["errors"] == [
            {"path": "", "message": "has 256,001 characters of text in all; the limit is 256,000"}
        ]


@pytest.mark.promise("judge.tags")
@pytest.mark.parametrize("tag", ["", "a b", "ä", "a/b", "a" * 65, "a\n", 7, None])
def test_a_tag_has_letters_digits_and_four_signs(server: Live, tag: Any) -> None:
    answer = send(server, "judge", {**example("judge"), "agent_id": tag})
    assert_problem(answer, "invalid_request")
    assert {error["path"] for error in answer.json["errors"]} == {"/agent_id"}


@pytest.mark.promise("judge.tags")
@pytest.mark.parametrize("operation", METERED)
def test_tags_are_echoed_when_sent_and_left_out_otherwise(server: Live, operation: str) -> None:
    tags = {"agent_id": "Crew.planner_2:a-b", "version": "2026-11 é"}
    answer = send(server, operation, {**example(operation), **tags}).json
    assert {name: answer[name] for name in tags} == tags
    assert not tags.keys() & send(server, operation, example(operation)).json.keys()


@pytest.mark.promise("consensus.two_tags")
def test_an_answers_agent_id_is_another_field_than_the_tag(server: Live) -> None:
    body = {
        "task": "t",
        "agent_id": "swarm",
        "answers": [{"output": "one", "agent_id": "é two words"}, {"output": "one"}],
    }
    answer = send(server, "consensus", body).json
    assert answer["agent_id"] == "swarm"
    assert answer["clusters"][0]["agent_ids"] == ["é two words", "answer-2"]


UNKNOWN = [
    ("judge", {"evidense": []}, "/evidense", "the nearest known one is evidence"),
    ("judge", {"agentOutput": ""}, "/agentOutput", "the nearest known one is agent_output"),
    ("judge", {"criterion": []}, "/criterion", "the nearest known one is criteria"),
    ("judge", {"Task": ""}, "/Task", "the nearest known one is task"),
    ("judge", {"qqqq": 1}, "/qqqq", "the known ones are task, agent_output, evidence"),
    ("judge", {"a/b~c": 1}, "/a~1b~0c", "is not a known field"),
    ("judge", {"~1": 1}, "/~01", "is not a known field"),
    ("judge", {"": 1}, "/", "is not a known field"),
    ("judge", {"x" * 10_000: 1}, "/" + "x" * 100 + "...", "is not a known field"),
    ("consensus", {"answer": []}, "/answer", "the nearest known one is answers"),
    ("create_key", {"e-mail": ""}, "/e-mail", "the nearest known one is email"),
]


@pytest.mark.promise("http.unknown_fields")
@pytest.mark.promise("http.validation_errors")
@pytest.mark.parametrize(("operation", "extra", "path", "said"), UNKNOWN)
def test_an_unknown_field_is_named_with_the_nearest_known_one(
    server: Live, operation: str, extra: dict[str, Any], path: str, said: str
) -> None:
    answer = send(server, operation, {**example(operation), **extra})
    assert_problem(answer, "invalid_request")
    (error,) = answer.json["errors"]
    assert error["path"] == path
    assert said in error["message"]


@pytest.mark.promise("http.unknown_fields")
def test_an_unknown_field_of_an_answer_is_found_too(server: Live) -> None:
    body = example("consensus")
    body["answers"][1]["ouput"] = "x"
    error = send(server, "consensus", body).json["errors"][0]
    assert error["path"] == "/answers/1/ouput"
    assert "the nearest known one is output" in error["message"]


WRONG = [
    ("judge", [], "", "must be an object"),
    ("judge", "text", "", "must be an object"),
    ("judge", None, "", "must be an object"),
    ("judge", {}, "/task", "is required and missing"),
    ("judge", {"task": 1, "agent_output": "o"}, "/task", "must be a string"),
    ("judge", {"task": None, "agent_output": "o"}, "/task", "must be a string"),
    ("judge", {"task": "t", "agent_output": "o", "evidence": "e"}, "/evidence", "must be an array"),
    ("judge", {"task": "t", "agent_output": "o", "evidence": ["e", ""]}, "/evidence/1", "at least 1 character"),
    ("judge", {"task": "t", "agent_output": "o", "criteria": [{}]}, "/criteria/0", "must be a string"),
    ("judge", {"task": "t", "agent_output": "o", "explain": "yes"}, "/explain", "must be true or false"),
    ("judge", {"task": "t", "agent_output": "o", "explain": 1}, "/explain", "must be true or false"),
    ("consensus", {"task": "t", "answers": ["a", "b"]}, "/answers/0", "must be an object"),
    ("consensus", {"task": "t", "answers": [{"output": "a"}]}, "/answers", "at least 2 items"),
    ("create_key", {"email": "no address", "name": "x"}, "/email", "is not an email address"),
    ("create_key", {"email": "a@b", "name": "x"}, "/email", "is not an email address"),
    ("create_key", {"email": "dev@example.com", "name": ""}, "/name", "at least 1 character"),
    ("create_key", {"email": "dev@example.com", "name": "n" * 81}, "/name", "at most 80 characters"),
    ("create_key", {"email": "dev@example.com", "name": "   "}, "/name", "does not have the form"),
    ("create_key", {"email": "dev@example.com", "name": "a\nb"}, "/name", "does not have the form"),
]


@pytest.mark.promise("http.validation_errors")
@pytest.mark.promise("keys.fields")
@pytest.mark.parametrize(("operation", "body", "path", "said"), WRONG)
def test_a_fault_is_named_with_its_place(server: Live, operation: str, body: Any, path: str, said: str) -> None:
    answer = send(server, operation, b"null" if body is None else body)
    assert_problem(answer, "invalid_request")
    assert path in [error["path"] for error in answer.json["errors"]]
    error = next(error for error in answer.json["errors"] if error["path"] == path)
    assert said in error["message"]
    assert (path.split("/")[1] if path else "The body") in answer.json["detail"]


@pytest.mark.promise("http.validation_errors")
def test_faults_do_not_repeat_what_was_sent(server: Live) -> None:
    answer = send(server, "judge", {"task": ["PRIVATE-1"], "agent_output": {"PRIVATE-2": 1}, "criteria": "PRIVATE-3"})
    assert len(answer.json["errors"]) == 3
    assert b"PRIVATE" not in answer.body


@pytest.mark.promise("keys.fields")
def test_the_longest_name_and_the_longest_email_are_taken(server: Live) -> None:
    email = f"{'e' * 64}@{'d' * 63}.{'d' * 63}.{'d' * 57}.com"
    assert len(email) == 254
    answer = send(server, "create_key", {"email": email, "name": "é" * 80})
    assert answer.status == 201, answer.body
    assert answer.json["name"] == "é" * 80
