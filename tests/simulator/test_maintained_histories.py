"""Random histories of writers and maintenance keep the rows of a serial order, every file that is in use and every ref."""

from __future__ import annotations

import pytest

from tests.simulator import tally
from tests.simulator.checks import violation_in
from tests.simulator.interpreter import run
from tests.simulator.maintained_histories import maintained_history
from tests.simulator.shrink import report


def test_maintenance_beside_writers_keeps_rows_files_and_refs(maintained_seeds, record_property):
    done = tally.Tally(maintained_seeds.start)
    try:
        for seed in maintained_seeds:
            history = maintained_history(seed)
            outcome = run(history)
            done.add(history, outcome)
            if violation_in(history, outcome) is not None:
                pytest.fail(report(history))
    finally:
        record_property(tally.PROPERTY, done.as_json())
    assert 3 * done.committed >= done.transactions
