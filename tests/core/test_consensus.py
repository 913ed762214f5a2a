"""The consensus rules with hand calculations, on made-up words that have no endings to lose."""

from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.core import consensus as rules
from api.core.consensus import Answer, Similarities, consensus, hundredths
from api.core.text import STOPWORDS, stem, tokens

WORDS = [f"{a}{b}{c}" for a in "bdfgk" for b in "aou" for c in "lmnpk"]
OUTPUTS = st.lists(
    st.text("ab cdxyz .!éß中م1234567890\n", max_size=30) | st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join),
    min_size=2,
    max_size=16,
)


def words(*numbers: int) -> str:
    """An output whose token set has these members of WORDS."""
    return " ".join(WORDS[number] for number in numbers)


def result(*outputs: str) -> dict[str, Any]:
    return consensus([Answer(output) for output in outputs]).as_dict()


def sizes(*outputs: str) -> list[int]:
    return [cluster["size"] for cluster in result(*outputs)["clusters"]]


@pytest.mark.promise("consensus.tokens")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The crew SIZE was 4.", {"crew", "size"}),
        ("a b c 1 2", set()),
        ("ab_cd", {"ab", "cd"}),
        ("x-ray v2.0", {"ray", "v2"}),
        ("Zürich ZÜRICH", {"zürich"}),
        ("Москва 2024", {"москва", "2024"}),
        ("東京は大きい", {"東京は大きい"}),
        ("عدد ٤٢", {"عدد", "٤٢"}),
        ("２０２４", {"２０２４"}),
        ("not no never without", {"not", "no", "never", "without"}),
        ("", set()),
        ("🚀 ... --", set()),
    ],
)
def test_tokens_are_runs_of_two_letters_or_digits_of_any_script(text: str, found: set[str]) -> None:
    assert tokens(text) == found


@pytest.mark.promise("consensus.stems")
@pytest.mark.parametrize(
    ("token", "stemmed"),
    [
        ("landing", "land"),  # 7 > 5
        ("sings", "sing"),  # no ing at its end; 5 > 4 and s
        ("being", "being"),  # 5 is not longer than 5
        ("string", "str"),  # 6 > 5
        ("landings", "landing"),  # ing came too late
        ("landed", "land"),
        ("used", "used"),  # 4 is not longer than 4
        ("asked", "ask"),  # 5 > 4
        ("crews", "crew"),
        ("gas", "gas"),
        ("four", "four"),
        ("cats", "cats"),  # 4 is not longer than 4
        ("glass", "glass"),
        ("classes", "classe"),
        ("needsing", "need"),  # ing, then ed does not end "needs", then s
        ("wingeding", "wing"),  # ing, then ed, then no s
        ("bussesed", "busse"),  # ed, then s of "busses"
        ("ing", "ing"),
        ("eding", "eding"),  # 5 is not longer than 5
        ("pressed", "press"),  # ss stays
    ],
)
def test_stems_lose_their_endings_in_order(token: str, stemmed: str) -> None:
    assert stem(token) == stemmed


@pytest.mark.promise("consensus.stopwords")
def test_stopwords_are_dropped_after_stemming() -> None:
    assert tokens("during having doing the crew and its ship") == {"crew", "ship"}
    assert {stem(word) for word in STOPWORDS} <= STOPWORDS | {stem(word) for word in STOPWORDS}
    # "dures" is no stopword as written but "dur" is none of its stem either: only the stem decides.
    assert stem("during") in STOPWORDS
    assert "during" not in STOPWORDS
    assert not STOPWORDS & {"not", "no", "never", "without"}


@pytest.mark.promise("consensus.jaccard")
@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (words(0, 1, 2), words(0, 1, 2), Fraction(1)),
        (words(0, 1, 2), words(2, 1, 0, 0, 0), Fraction(1)),
        (words(0, 1, 2), words(3, 4), Fraction(0)),
        (words(0, 1, 2, 3), words(2, 3, 4, 5), Fraction(2, 6)),
        (words(0, 1), words(0, 1, 2), Fraction(2, 3)),
        ("4", "4", Fraction(1)),
        ("4", "5", Fraction(0)),
        (" Yes, I am ", "yes, i am", Fraction(1)),
        ("STRASSE! A", "straße! a", Fraction(1, 1)),
        ("a", "A", Fraction(1)),
        ("a", words(0), Fraction(0)),
    ],
)
def test_similarity_is_jaccard_and_empty_sets_compare_their_text(left: str, right: str, expected: Fraction) -> None:
    if left.startswith("STRASSE"):
        # Their token sets are not empty ("strasse", "straße"), so case folding has no say.
        expected = Fraction(0)
    assert Fraction(*Similarities([left, right]).of(0, 1)) == expected
    assert Fraction(*Similarities([right, left]).of(0, 1)) == expected


@pytest.mark.promise("consensus.clusters")
def test_an_answer_joins_at_exactly_055() -> None:
    first = words(*range(20))
    # 11 shared of 20: 11/20 = 0.55 exactly. 10 of 20 is below.
    assert sizes(first, words(*range(11))) == [2]
    assert sizes(first, words(*range(10))) == [1, 1]
    # 0.55 = 11/20 of a union with words of both: 11 shared, 5 + 4 others.
    assert sizes(words(*range(16)), words(*range(11), 20, 21, 22, 23)) == [2]


@pytest.mark.promise("consensus.clusters")
def test_an_answer_is_compared_with_first_members_and_joins_the_first_that_fits() -> None:
    # b resembles a (3/4), c resembles b (3/4) and not a (2/4): c starts a cluster of its own.
    a, b, c = words(0, 1, 2), words(0, 1, 2, 3), words(1, 2, 3)
    assert Fraction(*Similarities([a, c]).of(0, 1)) == Fraction(2, 4)
    assert sizes(a, b, c) == [2, 1]
    # d resembles the first members of both (3/5 each): it joins the earlier.
    left, right = words(0, 1, 2, 3, 4), words(2, 3, 4, 5, 6)
    both = words(1, 2, 3, 4, 5)  # 4 of 6 with each
    assert result(left, right, both)["clusters"][0]["agent_ids"] == ["answer-1", "answer-3"]


@pytest.mark.promise("consensus.winner")
def test_the_largest_cluster_wins_and_the_earlier_on_a_tie() -> None:
    tie = result(words(0, 1, 2), words(3, 4, 5), words(6, 7, 8))
    assert tie["consensus_answer"] == words(0, 1, 2)
    two_each = result(words(0, 1), words(3, 4), words(4, 3), words(1, 0))
    assert two_each["consensus_answer"] == words(0, 1)
    later = result(words(0, 1), words(3, 4), words(4, 3))
    assert later["consensus_answer"] == words(3, 4)
    assert [cluster["representative"] for cluster in later["clusters"]] == [words(0, 1), words(3, 4)]


@pytest.mark.promise("consensus.score")
@pytest.mark.parametrize(
    ("part", "whole", "score"),
    [
        (1, 3, 0.33),
        (2, 3, 0.67),
        (1, 8, 0.13),  # 0.125: the half goes up
        (3, 8, 0.38),  # 0.375
        (5, 8, 0.63),  # 0.625
        (7, 8, 0.88),  # 0.875
        (1, 16, 0.06),  # 0.0625
        (3, 16, 0.19),  # 0.1875
        (1, 2, 0.5),
        (4, 5, 0.8),
        (9, 16, 0.56),  # 0.5625
        (2, 2, 1),
        (16, 16, 1),
        (199, 200, 1),  # 0.995
        (0, 7, 0),
    ],
)
def test_the_score_has_two_decimals_with_halves_up(part: int, whole: int, score: float) -> None:
    found = hundredths(part, whole)
    assert (found, type(found)) == (score, type(score))


@pytest.mark.promise("consensus.answer_n")
def test_a_missing_agent_id_shows_as_the_answers_number() -> None:
    answers = [Answer("x"), Answer("x", "named"), Answer("x"), Answer("x", "answer-1")]
    assert consensus(answers).as_dict()["clusters"][0]["agent_ids"] == ["answer-1", "named", "answer-3", "answer-1"]


@pytest.mark.promise("consensus.risk_verbatim")
def test_nearly_verbatim_begins_at_a_mean_of_exactly_09() -> None:
    # Two answers of 10 and 9 words: 9/10 = 0.9.
    assert result(words(*range(10)), words(*range(9)))["reasons"][0] == rules.NEARLY_VERBATIM
    # 18 of 21 are 0.857.
    assert result(words(*range(21)), words(*range(18)))["reasons"][0] == rules.AGREES
    # Three: ab 1, ac 17/20, bc 17/20: the mean is 2.7/3 = 0.9 exactly, which floats would miss.
    a, c = words(*range(20)), words(*range(17))
    assert result(a, a, c)["reasons"][0] == rules.NEARLY_VERBATIM
    # The same with 33/39: 1 + 2 * 0.846 = 2.692, mean 0.897.
    assert result(words(*range(39)), words(*range(39)), words(*range(33)))["reasons"][0] == rules.AGREES


@pytest.mark.promise("consensus.risk_verbatim")
def test_verbatim_needs_an_agreement_of_exactly_08() -> None:
    same, other = words(*range(10)), words(*range(20, 30))
    four_of_five = result(same, same, same, same, other)
    assert (four_of_five["agreement_score"], four_of_five["false_consensus_risk"]) == (0.8, "high")
    # 7 of 9 are 0.777.., shown as 0.78: below the bar, and the outsider dissents.
    seven_of_nine = result(*[same] * 7, other, other)
    assert (seven_of_nine["agreement_score"], seven_of_nine["false_consensus_risk"]) == (0.78, "medium")


@pytest.mark.promise("consensus.risk_thin")
def test_thin_means_fewer_than_four_distinct_tokens_of_the_representative() -> None:
    # 3 of 5 words: similar (0.6), not verbatim.
    assert result(words(0, 1, 2), words(0, 1, 2, 3, 4))["reasons"][0] == rules.TOO_THIN
    assert result(words(0, 1, 2, 3), words(0, 1, 2, 3, 4, 5))["reasons"][0] == rules.AGREES
    # The representative is the first member: the longer one may come first.
    assert result(words(0, 1, 2, 3, 4), words(0, 1, 2))["reasons"][0] == rules.AGREES
    # Verbatim comes before thin.
    assert result("4", "4")["reasons"][0] == rules.NEARLY_VERBATIM


@pytest.mark.promise("consensus.risk_minority")
def test_a_minority_dissents_below_exactly_035() -> None:
    same = words(*range(7))
    # 7 shared of 20 are 0.35: not below. 6 of 20 are.
    seven, six = words(*range(7), *range(20, 33)), words(*range(6), *range(20, 33))
    assert Fraction(*Similarities([same, seven]).of(0, 1)) == Fraction(35, 100)
    assert result(same, same, seven)["reasons"][0] == rules.AGREES
    assert result(same, same, six)["false_consensus_risk"] == "medium"
    # One dissent among several outsiders is enough.
    assert result(same, same, same, seven, six)["reasons"][0] == rules.MINORITY


@pytest.mark.promise("consensus.risk_no_majority")
def test_a_majority_begins_at_exactly_06() -> None:
    same, other, third = words(0, 1, 2, 3), words(10, 11, 12, 13), words(20, 21, 22)
    three_of_five = result(same, same, same, other, third)
    assert (three_of_five["agreement_score"], three_of_five["reasons"][0]) == (0.6, rules.MINORITY)
    # 13 of 22 would be 0.59; with 16 answers at most: 9 of 16 are 0.5625.
    nine = result(*[same] * 9, *[other] * 7)
    assert (nine["agreement_score"], nine["reasons"][0]) == (0.56, rules.NO_MAJORITY)
    half = result(same, other)
    assert (half["false_consensus_risk"], half["reasons"][0]) == ("low", rules.NO_MAJORITY)


@pytest.mark.promise("consensus.risk_otherwise")
def test_otherwise_the_majority_agrees() -> None:
    base = result(words(*range(8)), words(*range(6)), words(*range(7)))
    assert (base["false_consensus_risk"], base["reasons"][0]) == ("low", rules.AGREES)


def test_empty_token_sets() -> None:
    assert sizes("4", "4 ", "5") == [2, 1]
    # A single member that wins alone counts as verbatim only with agreement of 0.8, which one of two has not.
    assert result("4", "5")["reasons"][0] == rules.NO_MAJORITY


@pytest.mark.promise("consensus.note")
@given(OUTPUTS)
def test_what_holds_for_every_consensus(outputs: list[str]) -> None:
    found = result(*outputs)
    clusters = found["clusters"]
    assert list(found) == [
        "consensus_answer",
        "agreement_score",
        "false_consensus_risk",
        "reasons",
        "clusters",
        "engine",
    ]
    assert sum(cluster["size"] for cluster in clusters) == len(outputs)
    members = sorted(member for cluster in clusters for member in cluster["agent_ids"])
    assert members == sorted(f"answer-{n}" for n in range(1, len(outputs) + 1))
    assert found["consensus_answer"] == max(clusters, key=lambda cluster: cluster["size"])["representative"]
    assert found["reasons"][1:] == ["Agreement is token overlap, not a model judgment."]
    risk_of = {rules.NEARLY_VERBATIM: "high", rules.TOO_THIN: "high", rules.MINORITY: "medium"}
    assert found["false_consensus_risk"] == risk_of.get(found["reasons"][0], "low")
    assert result(*outputs) == found


@given(OUTPUTS)
def test_the_rules_agree_with_a_direct_reading_of_them(outputs: list[str]) -> None:
    """The contract's section once more, with fractions and without a thought for speed."""

    def similarity(a: int, b: int) -> Fraction:
        left, right = tokens(outputs[a]), tokens(outputs[b])
        if not left | right:
            return Fraction(outputs[a].strip().casefold() == outputs[b].strip().casefold())
        return Fraction(len(left & right), len(left | right))

    groups: list[list[int]] = []
    for index in range(len(outputs)):
        for group in groups:
            if similarity(group[0], index) >= Fraction(55, 100):
                group.append(index)
                break
        else:
            groups.append([index])
    winner = max(groups, key=len)
    agreement = Fraction(len(winner), len(outputs))
    pairs = [similarity(a, b) for a, b in combinations(winner, 2)]
    mean = sum(pairs, Fraction(0)) / len(pairs) if pairs else Fraction(1)
    outside = [index for index in range(len(outputs)) if index not in winner]
    if agreement >= Fraction(8, 10) and mean >= Fraction(9, 10):
        reason = rules.NEARLY_VERBATIM
    elif agreement >= Fraction(8, 10) and len(tokens(outputs[winner[0]])) < 4:
        reason = rules.TOO_THIN
    elif agreement >= Fraction(6, 10) and any(similarity(winner[0], i) < Fraction(35, 100) for i in outside):
        reason = rules.MINORITY
    elif agreement < Fraction(6, 10):
        reason = rules.NO_MAJORITY
    else:
        reason = rules.AGREES
    found = consensus([Answer(output) for output in outputs])
    assert [list(cluster.members) for cluster in found.clusters] == groups
    assert (list(found.winner.members), found.reason) == (winner, reason)


def test_a_single_answer_is_no_consensus() -> None:
    with pytest.raises(ValueError, match="two"):
        consensus([Answer("x")])
