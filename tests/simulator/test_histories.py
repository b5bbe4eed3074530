"""Histories of concurrent transactions: the final rows are those of a serial order of the committed transactions."""

from __future__ import annotations

from tests.simulator.generator import random_history
from tests.simulator.interpreter import run
from tests.simulator.model import serial_outcomes


def test_histories_of_concurrent_transactions_are_serialisable(history_seeds):
    committed = attempted = 0
    for seed in history_seeds:
        history = random_history(seed)
        outcome = run(history)
        expected = serial_outcomes(history, outcome.committed, outcome.before)
        assert outcome.state in expected.values(), f"{history}\n{outcome}\nserial orders: {expected}"
        assert not outcome.orphans, f"{history}\n{outcome}"
        committed += len(outcome.committed)
        attempted += len(history.transactions)
    assert 2 * committed >= attempted
