"""Histories of writers and maintenance that once violated a rule, in the order in which they did and in others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulator.checks import violation_of
from tests.simulator.found_maintenance import FOUND

SCHEDULES = 4
"""The random schedules of each history."""


@pytest.mark.parametrize("name", FOUND)
def test_history_of_maintenance_keeps_rows_and_files(name):
    assert violation_of(FOUND[name]) is None
    for seed in range(SCHEDULES):
        assert violation_of(replace(FOUND[name], seed=seed, schedule=None)) is None
