"""`:name` becomes `$n`, each with the type of its value."""

import pytest

from api.store.named_parameters import numbered


def test_each_name_has_one_number_in_the_order_of_appearance() -> None:
    sql = "SELECT :b, :a, :b, (:long_name2)"
    assert numbered(sql, {"a": 1, "b": "x", "long_name2": 0.5}) == (
        "SELECT $1::text, $2::bigint, $1::text, ($3::double precision)",
        ["x", 1, 0.5],
    )


def test_none_is_written_into_the_text() -> None:
    assert numbered("SET a = :a, b = :b, c = :a", {"a": None, "b": b"x"}) == (
        "SET a = NULL, b = $1::bytea, c = NULL",
        [b"x"],
    )


def test_the_same_text_with_values_of_other_types_is_another_one() -> None:
    assert numbered("SELECT :a", {"a": 1})[0] == "SELECT $1::bigint"
    assert numbered("SELECT :a", {"a": "1"})[0] == "SELECT $1::text"


def test_an_argument_that_is_not_used_is_not_sent() -> None:
    assert numbered("SELECT 1", {"a": 1}) == ("SELECT 1", [])


def test_what_can_not_be_sent_is_refused() -> None:
    with pytest.raises(KeyError):
        numbered("SELECT :missing", {})
    with pytest.raises(TypeError, match="parameter a is a list"):
        numbered("SELECT :a", {"a": [1]})
