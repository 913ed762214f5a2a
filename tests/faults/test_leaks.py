"""The checker of leaks sees one."""

import pytest

from tests.faults.leaks import ADMIN, JUDGE_BODY, assert_no_leak

KEY = "scr_fcf5F1uCUIMT5w8lJhTiCmCyqEQxja8CVcHg3I4yQs"


@pytest.mark.parametrize(
    "line",
    [KEY, f"Bearer {KEY[:20]}1", f"{{'Authorization': 'Bearer {ADMIN}'}}", "whsec_abc", "sk_test_a1", str(JUDGE_BODY)],
)
def test_a_leak_is_seen(line: str) -> None:
    with pytest.raises(AssertionError):
        assert_no_leak(["fine", line])


def test_a_prefix_and_prose_are_no_leak() -> None:
    assert_no_leak([KEY[:12], "The Authorization header must be of the form `Bearer scr_...`.", ""])
