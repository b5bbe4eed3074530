"""Faults at every system call on files, of Rust, Python and SQLite alike: errors, torn writes and kills of the process."""

import pytest

from tests.simulator.mutants import POWER_CUT_MUTANTS


def test_operations_with_a_failing_system_call_report_what_happened(sweep_disk, catalog_kind, operations):
    assert sweep_disk("errors", "system calls", catalog_kind, operations) == []


def test_operations_killed_at_a_system_call_take_effect_whole_or_not_at_all(sweep_disk, catalog_kind, operations):
    assert sweep_disk("kills", "kills at system calls", catalog_kind, operations) == []


def test_operations_survive_power_cuts(sweep_disk, catalog_kind, operations):
    assert sweep_disk("power", "power cuts", catalog_kind, operations) == []


@pytest.mark.parametrize("mutant", POWER_CUT_MUTANTS)
def test_power_cuts_find_a_mutant(sweep_disk, monkeypatch, mutant):
    kind, operation = POWER_CUT_MUTANTS[mutant].found_by
    monkeypatch.setenv("POWER_CUT_MUTANT", mutant)
    assert sweep_disk("power", None, kind, [operation]) != []
