"""What every error of the API has in common, checked wherever a test meets one."""

from functools import cache

from api import problems
from api.problems import ProblemTable
from tests.examples import CONTENT, the_contract
from tests.live import Answer


@cache
def the_problems() -> ProblemTable:
    """The problem table as the product reads it."""
    return problems.load(CONTENT, "https://screwtape.ai")


def assert_problem(answer: Answer, code: str) -> None:
    """Fails unless `answer` is the problem `code` in its whole documented form."""
    kind = the_problems().kinds[code]
    assert answer.headers["content-type"] == "application/problem+json", answer
    document = answer.json
    assert (answer.status, document["code"]) == (kind.status, code), document
    assert the_contract().body_schema("Problem").faults(document) == []
    assert document["type"] == f"https://screwtape.ai/errors#{code}"
    assert (document["title"], document["status"]) == (kind.title, kind.status)
    assert document["request_id"] == answer.headers["x-request-id"]
    for name in kind.headers:
        assert name.lower() in answer.headers, (code, name)
    if kind.status == 503:
        assert int(answer.headers["retry-after"]) >= 1
    if kind.status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
