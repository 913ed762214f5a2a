"""The article's results are computed by the function that answers the API's calls."""

import json
import re

import pytest

from api.core.consensus import Answer, consensus
from tests.site.conftest import Project
from tests.site.test_machine import text


def blocks(project: Project) -> list[object]:
    found = re.findall(r"^```json\n(.*?)^```", text(project, "blog/false-consensus.md"), re.DOTALL | re.MULTILINE)
    return [json.loads(block) for block in found]


@pytest.mark.promise("site.article_five_sets")
def test_each_result_is_the_functions(built: Project) -> None:
    found = blocks(built)
    requests = [block for block in found if isinstance(block, dict) and "answers" in block]
    results = [block for block in found if isinstance(block, dict) and "consensus_answer" in block]
    assert len(requests) >= 5
    for request in requests[:5]:
        answers = [Answer(answer["output"], answer.get("agent_id")) for answer in request["answers"]]
        computed = json.dumps(consensus(answers).as_dict())
        assert computed in map(json.dumps, results), request


def test_another_request_makes_another_page(project: Project) -> None:
    project.build()
    before = text(project, "blog/false-consensus.html")
    assert "medium risk" in before
    output = "output: Mars is a dry planet with two small moons and a thin atmosphere"
    project.edit("content/blog/false-consensus.yaml", output, "output: The crew size was 4.")
    project.build()
    after = text(project, "blog/false-consensus.html")
    assert after.count("high risk") == before.count("high risk") + 1
    assert after.count("medium risk") == before.count("medium risk") - 1
    markdown = text(project, "blog/false-consensus.md")
    assert "Picture: 3 answers in 1 cluster: 3 (a, b, c). Agreement 1, risk high." in markdown


def test_the_pictures_say_what_they_show(built: Project) -> None:
    html = text(built, "blog/false-consensus.html")
    labels = re.findall(r'<svg class="full"[^>]*role="img" aria-label="([^"]+)"', html)
    assert len(labels) == 5
    assert labels[1] == "3 answers in 2 clusters: 2 (a, b); 1 (c). Agreement 0.67, risk medium."
    assert "▲ high risk" in html, "the risk has a word and a mark beside its colour"
    assert text(built, "blog.html").count('<svg class="thumb"') == 5


def test_the_judge_example_is_computed_too(project: Project) -> None:
    project.build()
    assert '"verdict": "pass"' in text(project, "docs/judge.md")
    example = "agent_output: The crew size was 4. The mission launched from Cape Canaveral."
    project.edit("content/openapi.yaml", example, example.replace("was 4", "was 5"))
    project.build()
    for name in ("docs/judge.md", "index.md", "llms-full.txt", "openapi.json"):
        assert re.search(r'"verdict": ?"fail"', text(project, name)), name
