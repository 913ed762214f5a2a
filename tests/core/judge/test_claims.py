import pytest

from api.core.judge.claims import split_claims


def claims(output: str) -> list[tuple[str, str, str]]:
    """(slice of the output, text, key) of each claim."""
    return [(output[claim.start : claim.end], claim.text, claim.key) for claim in split_claims(output)]


def texts(output: str) -> list[str]:
    return [shown for shown, _, _ in claims(output)]


def test_sentences_with_offsets() -> None:
    assert texts("The crew was 4. It landed.") == ["The crew was 4.", "It landed."]


def test_what_states_nothing_is_left_out() -> None:
    talk = "Sure! Here is the answer:\n\n# Report\n\n**Crew**\n\n"
    output = talk + "- The crew was 4.\n\nWhat next?\n\nLet me know if you need more."
    assert texts(output) == ["The crew was 4."]


def test_list_markers_are_no_part_of_a_claim() -> None:
    assert texts("1. The crew was 4.\n2) It landed.\n* [x] Done here.\n> Quoted words.") == [
        "The crew was 4.",
        "It landed.",
        "Done here.",
        "Quoted words.",
    ]


def test_citation_marks_are_not_compared() -> None:
    assert claims("The crew was 4 [1, 2].") == [("The crew was 4 [1, 2].", "The crew was 4  .", "")]


def test_a_table_gives_one_claim_a_row_without_its_header() -> None:
    assert claims("| Field | Value |\n|---|:-:|\n| Crew size | 4 |\n| Site | Cape |") == [
        ("Crew size | 4 |", "4 |", "Crew size"),
        ("Site | Cape |", "Cape |", "Site"),
    ]


def test_a_wide_table_row_is_one_claim() -> None:
    assert texts("| a | b | c |\n|---|---|---|\n| Ada | 3 | Cape |") == ["Ada | 3 | Cape |"]


def test_a_label_is_kept_apart() -> None:
    assert claims("- **Launch site:** Cape Canaveral") == [
        ("**Launch site:** Cape Canaveral", "Cape Canaveral", "Launch site")
    ]


def test_json_members_are_claims_with_their_place() -> None:
    output = 'Result:\n```json\n{"crew_size": 4, "launchSite": "Cape \\"C\\"", "tags": ["red", null]}\n```'
    assert claims(output) == [
        ('"crew_size": 4', "4", "crew size"),
        ('"launchSite": "Cape \\"C\\""', 'Cape "C"', "launch Site"),
        ('"tags": ["red"', "red", "tags"),
    ]


def test_the_tool_of_a_tool_call_is_no_statement() -> None:
    output = '{"name": "get_weather", "id": "c1", "arguments": {"city": "Oslo"}}'
    assert [text for _, text, _ in claims(output)] == ["Oslo"]


def test_code_is_no_statement() -> None:
    assert texts("The crew was 4.\n\n```python\nx = 5\n```\n\nIt landed.") == ["The crew was 4.", "It landed."]


@pytest.mark.parametrize("output", ["", "  ", "\n", "```", "{", "[1", "|", "-", "#"])
def test_broken_structure_never_raises(output: str) -> None:
    for claim in split_claims(output):
        assert output[claim.start : claim.end]
