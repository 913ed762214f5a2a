"""Similarity, effective number of agents, near-copies, repeated agents: figures worked out by hand."""

from api.core.consensus import Answer
from api.core.signals.agents import repeated_agents
from api.core.signals.copies import copies
from api.core.signals.overlap import effective_agents, matrix, pairs, rounded

WORDS = "alpha bravo charlie delta echo foxtrot"


def test_similarities_are_the_jaccard_of_the_tokens() -> None:
    outputs = [f"{WORDS} golf", f"{WORDS} hotel", "lima mike", "4", "4 ", "5"]
    similar = pairs(outputs)
    assert matrix(6, similar) == [
        [1, 0.75, 0, 0, 0, 0],
        [0.75, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ]


def test_four_decimals_halves_up() -> None:
    assert [rounded(1, 3), rounded(2, 3), rounded(1, 20_000), rounded(1, 20_001), rounded(1, 1)] == [
        0.3333,
        0.6667,
        0.0001,
        0,
        1,
    ]


def test_effective_agents() -> None:
    same, apart = pairs(["alpha bravo"] * 4), pairs(["alpha", "bravo", "charlie"])
    assert effective_agents(4, same) == 1
    assert effective_agents(3, apart) == 3
    # Mean similarity of (1, 0, 0) is 1/3: 3 / (1 + 2/3) = 1.8.
    assert effective_agents(3, pairs(["alpha bravo", "alpha bravo", "charlie"])) == 1.8


def test_copies_by_shingles_of_five_words() -> None:
    long = "one two three four five six seven eight nine ten"
    # Changing the last word of ten changes one shingle of six (5/6); changing the fifth changes five.
    outputs = [long, long.replace("ten", "TEN!"), long.replace("ten", "zero"), long.replace("five", "zero")]
    assert copies(outputs, "abcd") == [
        {"agent_ids": ["a", "b"], "answers": [0, 1], "containment": 1},
        {"agent_ids": ["a", "c"], "answers": [0, 2], "containment": 0.8333},
        {"agent_ids": ["b", "c"], "answers": [1, 2], "containment": 0.8333},
    ]


def test_a_copy_inside_a_longer_answer_counts_and_a_short_answer_never_does() -> None:
    quoted = "the crew size was four and they knew it"
    assert [pair["answers"] for pair in copies([quoted, f"As we all know, {quoted}, said the chief."], "ab")] == [
        [0, 1]
    ]
    assert copies(["The size was 4.", "The size was 4."], "ab") == []
    assert copies(["The crew size was 4."] * 2, "ab") == [
        {"agent_ids": ["a", "b"], "answers": [0, 1], "containment": 1}
    ]
    assert [pair["answers"] for pair in copies(["乗組員は四人です", "乗組員は四人です。"], "ab")] == [[0, 1]]


def test_repeated_agents_are_those_that_the_caller_named_twice() -> None:
    answers = [Answer("x", "b"), Answer("y", "a"), Answer("z", "b"), Answer("x"), Answer("y"), Answer("x", "answer-4")]
    assert repeated_agents(answers) == [{"agent_id": "b", "answers": [0, 2]}]
