from dataclasses import replace

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.commit.retry import RetryPolicy
from icefloe.table.environment import SYSTEM


def waits_of(policy, seconds_per_try=0.0):
    """The waits of a policy on a clock of its own, without jitter."""
    now, waits = [0.0], []

    def sleep(seconds):
        waits.append(seconds)
        now[0] += seconds

    outside = replace(SYSTEM, sleep=sleep, monotonic=lambda: now[0], uniform=lambda low, high: low)
    for _ in policy.attempts(outside):
        now[0] += seconds_per_try
    return waits


def test_waits_double_up_to_the_longest():
    policy = RetryPolicy(retries=6, min_wait_ms=100, max_wait_ms=1000)
    assert waits_of(policy) == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_no_retry_starts_after_the_total_timeout():
    assert len(waits_of(RetryPolicy(retries=10, min_wait_ms=1000, total_timeout_ms=2500), 1.0)) == 1


def test_jitter_adds_a_tenth_at_most():
    waits = []
    outside = replace(SYSTEM, sleep=waits.append, uniform=lambda low, high: high)
    list(RetryPolicy(retries=1, min_wait_ms=100).attempts(outside))
    assert waits == [pytest.approx(0.11)]


def test_policy_is_read_from_table_properties():
    policy = RetryPolicy.of_commits({"commit.retry.num-retries": "1", "commit.retry.min-wait-ms": "7"})
    assert (policy.retries, policy.min_wait_ms, policy.max_wait_ms) == (1, 7, 60_000)
    assert RetryPolicy.of_status_checks({}).retries == 3


def test_invalid_property_is_in_the_error():
    with pytest.raises(
        ValidationError, match=r"commit\.retry\.num-retries: expected a whole number, 0 or above, got 'many'"
    ):
        RetryPolicy.of_commits({"commit.retry.num-retries": "many"})


def test_ids_are_positive_63_bit_numbers():
    assert all(0 < SYSTEM.new_snapshot_id() < 2**63 for _ in range(1000))
