import pytest

from api.core.judge.structured import find_json, is_json, members


def test_members_with_offsets() -> None:
    text = '{"a_b": 1, "c": {"dE": "x\\ty"}, "f": ["g", false], "h": null, "i": true}'
    assert [(text[start:end], value, key) for start, end, value, key in members(text)] == [
        ('"a_b": 1', "1", "a b"),
        ('"dE": "x\\ty"', "x\ty", "d E"),
        ('"f": ["g"', "g", "f"),
        ("false", "false", ""),
        ('"h": null', "", "h"),
        ('"i": true', "", "i"),
    ]


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('{"a": 1}', True),
        (" [1] ", True),
        ("4", True),
        ('```json\n{"a": 1}\n```', True),
        ('```\n{"a": 1}\n```\nDone.', False),
        ("{'a': 1}", False),
        ('{"a": NaN}', False),
        ("", False),
        ("[" * 5000 + "]" * 5000, False),
    ],
)
def test_is_json(text: str, valid: bool) -> None:
    assert is_json(text) is valid


def test_find_json_wants_a_whole_object_or_array() -> None:
    assert find_json(' {"a": 1} ') == (1, '{"a": 1}')
    assert find_json('x {"a": 1}') is None
    assert find_json("[" * 100 + "]" * 100) is None
    assert find_json("{}}") is None
