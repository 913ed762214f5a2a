"""The alert document: its fields, its times, and nothing else."""

import pytest

from api.core.alerts import Alert, Measured, alert_document
from api.core.drift import Span, Tally
from tests.core.test_drift import NOON

WINDOW = Measured(Tally(40, 18), Span(NOON - 82_800, NOON + 3_600))
BASELINE = Measured(Tally(1_200, 60), Span(NOON - 743 * 3_600, NOON - 82_800))


@pytest.mark.promise("alerts.shape")
def test_the_document_of_a_window() -> None:
    alert = Alert("alr_1", "key_1", "", "fail_rate", "window", WINDOW, BASELINE, NOON + 5)
    assert alert_document(alert) == {
        "id": "alr_1",
        "type": "drift.alert",
        "key_id": "key_1",
        "agent_id": "",
        "metric": "fail_rate",
        "trigger": "window",
        "window": {"calls": 40, "rate": 0.45, "from": "2026-11-29T13:00:00Z", "to": "2026-11-30T13:00:00Z"},
        "baseline": {"calls": 1_200, "rate": 0.05, "from": "2026-10-30T13:00:00Z", "to": "2026-11-29T13:00:00Z"},
        "created_at": "2026-11-30T12:00:05Z",
        "alg": "HMAC-SHA256",
    }


@pytest.mark.promise("alerts.shape")
def test_the_document_of_a_new_version_names_both_versions() -> None:
    risk = Measured(Tally(20, 9), Span(NOON - 60, NOON))
    alert = Alert("alr_1", "key_1", "a", "false_consensus_risk", "new_version", risk, BASELINE, NOON, "2", "")
    document = alert_document(alert)
    assert (document["version"], document["previous_version"]) == ("2", "")
    # 9 halves over 20 calls are 4.5 / 20; 60 halves over 1,200 calls are 30 / 1,200.
    assert document["window"] == {
        "calls": 20,
        "rate": 0.225,
        "from": "2026-11-30T11:59:00Z",
        "to": "2026-11-30T12:00:00Z",
    }
    assert document["baseline"]["rate"] == 0.025
