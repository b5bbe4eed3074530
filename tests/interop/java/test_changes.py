"""Changes as Java's `create_changelog_view` reports them."""

from __future__ import annotations

import pytest

from tests.exact_rows import exact
from tests.interop.java.changelog_tables import RANGES, VIEWS, answers, cases, views_of_cases

pytestmark = pytest.mark.interop


@pytest.mark.parametrize(("case", "view", "span"), views_of_cases())
def test_changes_are_those_of_java(java, case, view, span):
    table = java.table(case)
    snapshots = [snapshot.snapshot_id for snapshot in table.snapshots()]
    first, last = (None if number is None else snapshots[number] for number in RANGES[span])
    scan = table.incremental_changelog_scan(
        from_snapshot_id_exclusive=first, to_snapshot_id_inclusive=last, **VIEWS[view][1]
    )
    found, expected = scan.to_arrow(), java.answer(answers(case), view + span)
    assert found.column_names == expected.column_names
    assert exact(found) == exact(expected)


@pytest.mark.parametrize("case", [case.name for case in cases()])
def test_net_changes_are_those_that_changes_add_up_to(java, case):
    table = java.table(case)
    net = table.incremental_changelog_scan(net_changes=True).to_arrow()
    assert exact(net.select(table.scan().to_arrow().column_names)) == exact(table.scan().to_arrow())
