import json
from pathlib import Path

import pytest

from tests.eval.__main__ import main
from tests.eval.judge_sets import evaluate
from tests.eval.measures import auc, share


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([True, False], [0.9, 0.1], 1.0),
        ([True, False], [0.1, 0.9], 0.0),
        ([True, False], [0.5, 0.5], 0.5),
        # Pairs: (.8 > .6) 1, (.8 > .2) 1, (.6 = .6) .5, (.6 > .2) 1: 3.5 of 4.
        ([True, True, False, False], [0.8, 0.6, 0.6, 0.2], 0.875),
        # Pairs: (.3 < .4) 0, (.3 > .1) 1, (.3 = .3) .5: 1.5 of 3.
        ([False, True, False, False], [0.4, 0.3, 0.1, 0.3], 0.5),
        ([True, True], [0.1, 0.2], None),
        ([], [], None),
    ],
)
def test_auc_by_hand(labels: list[bool], scores: list[float], expected: float | None) -> None:
    assert auc(labels, scores) == expected


def test_share() -> None:
    assert share([True, False, False, True]) == 0.5
    assert share([]) is None


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def row(output: str, label: str, *evidence: str) -> dict[str, object]:
    return {"id": output, "task": "", "agent_output": output, "evidence": evidence, "label": label}


def test_a_set_with_evidence(tmp_path: Path) -> None:
    fact = "The crew size was 4."
    rows = [
        row("The crew size was 4.", "supported", fact),
        row("The crew size was 5.", "unsupported", fact),
        row("The crew size was 4 in Oslo.", "unsupported", fact),
        row("The crew size was 6.", "supported", fact),
    ]
    write(tmp_path / "facts.jsonl", rows)
    ticks = iter([0.0, 0.001, 1.0, 1.002, 2.0, 2.003, 3.0, 3.004])
    found = evaluate(tmp_path / "facts.jsonl", lambda: next(ticks))
    assert found["ms"] == pytest.approx(2.5)
    assert {key: found[key] for key in ("set", "n", "accuracy", "pass", "retry", "fail", "base")} == {
        "set": "facts",
        "n": 4,
        "accuracy": 0.75,
        "pass": 0.25,
        "retry": 0.25,
        "fail": 0.5,
        "base": 0.5,
    }
    assert (found["p_sup_pass"], found["p_unsup_fail"]) == (1.0, 0.5)


def test_gold_answers_are_alternatives_of_one_criterion(tmp_path: Path) -> None:
    rows = [
        row("It is in Cherry Hill.", "supported", "Trenton", "Cherry Hill"),
        row("It is in Oslo.", "unsupported", "Trenton", "Cherry Hill"),
    ]
    write(tmp_path / "evouna_x.jsonl", rows)
    assert evaluate(tmp_path / "evouna_x.jsonl")["accuracy"] == 1.0


def test_without_evidence_only_a_fail_tells(tmp_path: Path) -> None:
    write(tmp_path / "sums.jsonl", [row("2 + 2 = 4", "supported"), row("2 + 2 = 5", "unsupported")])
    assert evaluate(tmp_path / "sums.jsonl")["accuracy"] == 1.0


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "facts.jsonl", [row("The crew size was 4.", "supported", "The crew size was 4.")])
    write(tmp_path / "other_kind.jsonl", [])
    target = tmp_path / "out.json"
    assert main([str(tmp_path), "--json", str(target)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["set", "n", "auc", "accuracy"]
    assert lines[1].split()[:4] == ["facts", "1", "-", "1.000"]
    written = json.loads(target.read_text(encoding="utf-8"))
    assert [found["set"] for found in written] == ["facts", "other_kind"]
    assert {"set", "n", "auc", "accuracy", "p_sup_pass", "p_unsup_fail", "ms"} <= written[0].keys()


def test_a_directory_without_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    assert "no .jsonl file" in capsys.readouterr().err
