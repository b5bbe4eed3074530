"""Random histories of concurrent transactions with faults have the final rows of a serial order of their transactions."""

from __future__ import annotations

import pytest

from tests.simulator import tally
from tests.simulator.checks import violation_in
from tests.simulator.generator import random_history
from tests.simulator.interpreter import run
from tests.simulator.shrink import report


def test_histories_of_concurrent_transactions_keep_their_isolation(history_seeds, record_property):
    done = tally.Tally(history_seeds.start)
    try:
        for seed in history_seeds:
            history = random_history(seed)
            outcome = run(history)
            done.add(history, outcome)
            if violation_in(history, outcome) is not None:
                pytest.fail(report(history))
    finally:
        record_property(tally.PROPERTY, done.as_json())
    assert 3 * done.committed >= done.transactions
    assert 4 * done.faults >= done.histories
