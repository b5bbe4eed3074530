"""Random histories of concurrent transactions with faults have the final rows of a serial order of their transactions."""

from __future__ import annotations

import pytest

from tests.simulator.checks import violation_in
from tests.simulator.generator import random_history
from tests.simulator.interpreter import run
from tests.simulator.shrink import report


def test_histories_of_concurrent_transactions_keep_their_isolation(history_seeds):
    committed = attempted = fired = 0
    for seed in history_seeds:
        history = random_history(seed)
        outcome = run(history)
        violation = violation_in(history, outcome)
        if violation is not None:
            pytest.fail(report(history))
        committed += len(outcome.committed)
        attempted += len(history.transactions)
        fired += outcome.fired
    assert 3 * committed >= attempted
    assert 4 * fired >= len(history_seeds)
