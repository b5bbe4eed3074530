"""Changes as Java's `create_changelog_view` tells them."""

from __future__ import annotations

import pytest

from tests.exact_rows import exact
from tests.interop.java.changelog_tables import VIEWS, answers, cases

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("case", [case.name for case in cases()])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("since", [False, True])
def test_changes_are_those_of_java(java, case, view, since):
    table = java.table(case)
    start = table.snapshots()[1].snapshot_id if since else None
    found = table.incremental_changelog_scan(from_snapshot_id_exclusive=start, **VIEWS[view][1]).to_arrow()
    expected = java.answer(answers(case), f"{view}_since" if since else view)
    assert found.column_names == expected.column_names
    # Java lays what is left to the snapshot that wrote the row last, we to the one that inserted it.
    columns = [
        name for name in found.column_names if view != "net" or name not in ("_change_ordinal", "_commit_snapshot_id")
    ]
    assert exact(found.select(columns)) == exact(expected.select(columns))


@pytest.mark.parametrize("case", [case.name for case in cases()])
def test_net_changes_are_those_that_changes_add_up_to(java, case):
    table = java.table(case)
    net = table.incremental_changelog_scan(net_changes=True).to_arrow()
    assert exact(net.select(table.scan().to_arrow().column_names)) == exact(table.scan().to_arrow())
