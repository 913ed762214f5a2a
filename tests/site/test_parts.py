"""The pure parts: reference, layout, examples, Markdown, highlighting."""

import ast
import json
import re
import subprocess
from typing import Any

import pytest

from api import contract
from site_build import layout
from site_build.cache import Cache
from site_build.examples import curl, javascript, python
from site_build.highlight import highlight
from site_build.markdown import Converter, absolute, deeper, inline, mirror
from site_build.reference import field
from site_build.templating import day, dollars, thousands
from site_build.tree import ROOT

CONTRACT = contract.load(ROOT / "content")
DOCUMENT: dict[str, Any] = {
    "components": {
        "schemas": {
            "Tree": {
                "type": "object",
                "required": ["value"],
                "properties": {
                    "value": {"type": ["string", "null"], "description": "What it holds."},
                    "left": {"$ref": "#/components/schemas/Tree"},
                    "children": {"type": "array", "maxItems": 3, "items": {"$ref": "#/components/schemas/Tree"}},
                },
            },
            "Pair": {
                "type": "object",
                "properties": {
                    "one": {"$ref": "#/components/schemas/Leaf"},
                    "two": {"$ref": "#/components/schemas/Leaf", "description": "The other."},
                },
            },
            "Leaf": {
                "type": "object",
                "description": "A leaf.",
                "properties": {"n": {"type": "integer", "minimum": 1}},
            },
            "Either": {
                "oneOf": [{"type": "string", "maxLength": 5}, {"$ref": "#/components/schemas/Leaf"}],
                "examples": ["abc", {"n": 2}],
            },
        }
    }
}


def named(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_a_schema_that_contains_itself_is_cut_where_it_meets_itself() -> None:
    tree = field("tree", named("Tree"), DOCUMENT)
    value, left, children = tree.fields
    assert (value.type, value.required, left.required) == ("string or null", True, False)
    assert (left.type, left.fields) == ("Tree", ())
    assert (children.type, children.limits, children.fields) == ("array of Tree", ("up to 3 items",), ())


def test_two_fields_of_one_type_are_both_shown_whole() -> None:
    one, two = field("", named("Pair"), DOCUMENT).fields
    assert [f.name for f in one.fields] == [f.name for f in two.fields] == ["n"]
    assert (one.description, two.description) == ("A leaf.", "The other.")
    assert one.fields[0].limits == ("at least 1",)


def test_alternatives_and_examples_have_values() -> None:
    either = field("x", named("Either"), DOCUMENT)
    assert either.type == "string or object"
    assert [a.type for a in either.alternatives] == ["string", "object"]
    assert either.alternatives[0].limits == ("up to 5 characters",)
    assert either.example == 'abc, {"n": 2}'


@pytest.mark.parametrize("id", [o.id for o in CONTRACT.operations.values() if not o.operator])
def test_the_calls_say_what_the_example_says(id: str) -> None:
    operation = CONTRACT.operations[id]
    command = curl(operation, "https://site.test")
    subprocess.run(["sh", "-n"], input=command, text=True, check=True)
    module = ast.parse(python(operation, "https://site.test"))
    script = javascript(operation, "https://site.test")
    assert command.count("scr_") == script.count("scr_") == 0
    if operation.body:
        sent = re.search(r"-d '(.*)'\Z", command, re.DOTALL)
        assert sent is not None
        assert json.loads(sent[1].replace("'\\''", "'")) == operation.example
        calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
        dumped = [call.args[0] for call in calls if ast.unparse(call.func) == "json.dumps"]
        assert ast.literal_eval(dumped[0]) == operation.example
    for text in (command, script, ast.unparse(module)):
        assert ("SCREWTAPE_API_KEY" in text) == (operation.auth != "none")


@pytest.mark.parametrize("value", [1, "a'b", [], {}, [1, [2, {"a": None}]], {"a": "x" * 90, "b": [True, 1.5]}])
def test_layouts_hold_the_value(value: Any) -> None:
    assert json.loads(layout.as_json(value)) == value
    assert ast.literal_eval(layout.as_python(value, "    ")) == value


def test_short_values_stay_on_a_line() -> None:
    text = layout.as_json({"answers": [{"agent_id": "alpha", "output": "The crew size was 4."}]})
    assert '    {"agent_id": "alpha", "output": "The crew size was 4."}\n' in text
    assert layout.as_json({"retention": {"retained": False}}) == '{\n  "retention": {"retained": false}\n}'


def convert(text: str) -> str:
    return Converter(Cache(None, "")).convert(text).html


def test_fences_in_lists_are_code() -> None:
    html = convert("1. Do\n\n    ```sh\n    ls\n    ```\n\n2. Then\n")
    assert html.count("<li>") == 2
    assert '<div class="code" data-lang="sh">' in html
    assert "```" not in html


def test_tables_and_code_can_be_scrolled_by_keyboard() -> None:
    assert '<div class="table" tabindex="0"><table>' in convert("| | b |\n|---|---|\n| 1 | 2 |\n")
    assert "<th></th>" not in convert("| | b |\n|---|---|\n| 1 | 2 |\n")
    assert '<pre tabindex="0">' in convert("```python\nx\n```\n")


def test_headings_have_stable_ids() -> None:
    found = Converter(Cache(None, "")).convert("## One thing\n\n## One thing\n\n### `code` {#own}\n")
    assert [(entry.level, entry.id) for entry in found.toc] == [(2, "one-thing"), (2, "one-thing_1"), (3, "own")]
    assert 'href="#own" aria-label="Link to code"' in found.html


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("json", '{"a": [1, "b<", true]}', ['<span class="fn">"a"</span>', '<span class="num">1</span>', '"b&lt;"']),
        ("python", "def f():  # x", ['<span class="kw">def </span>', '<span class="comment"># x</span>']),
        ("sh", "export A=1", ["export"]),
        ("nonsense", "a < b", ["a &lt; b"]),
    ],
)
def test_code_has_five_colours_at_most(language: str, code: str, expected: list[str]) -> None:
    html = highlight(code, language)
    assert all(part in html for part in expected), html
    assert set(re.findall(r'class="([^"]+)"', html)) <= {"kw", "str", "num", "comment", "fn", "l i0"}
    plain = re.sub(r"<[^>]+>", "", html).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert plain.rstrip("\n") == code, "copying the block gives the code back"


def test_the_mirror_leaves_code_alone() -> None:
    source = "## A {#a}\n\n[x](/y) [z](#a)\n\n```md\n## B {#b}\n[x](/y)\n```\n"
    assert mirror(source) == source.replace("## A {#a}", "## A")
    made = absolute(source, "https://site.test", "/page")
    assert "[x](https://site.test/y) [z](https://site.test/page#a)" in made
    assert "```md\n## B {#b}\n[x](/y)\n```" in made
    assert deeper(source, 2).startswith("#### A")
    assert "\n## B" in deeper(source, 2)


def test_words_of_the_contract_are_escaped() -> None:
    assert inline("a `x<y`\n  & [b](/c)") == 'a <code>x&lt;y</code> &amp; <a href="/c">b</a>'


def test_filters() -> None:
    assert (thousands(1234567), dollars(3000), dollars(3050), day("2026-10-05")) == (
        "1,234,567",
        "$30",
        "$30.50",
        "5 October 2026",
    )
