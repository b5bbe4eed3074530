"""Faults at every system call on files, of Rust, Python and SQLite alike: errors, torn writes and kills of the process."""


def test_operations_with_a_failing_system_call_report_what_happened(sweep_disk, catalog_kind, operations):
    assert sweep_disk("errors", "system calls", catalog_kind, operations) == []


def test_operations_killed_at_a_system_call_take_effect_whole_or_not_at_all(sweep_disk, catalog_kind, operations):
    assert sweep_disk("kills", "kills at system calls", catalog_kind, operations) == []


def test_operations_survive_power_cuts(sweep_disk, catalog_kind, operations):
    assert sweep_disk("power", "power cuts", catalog_kind, operations) == []
