"""Streams of tables that Java wrote, beside the changes that Java reports of them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.table.snapshots import Operation

from tests.exact_rows import exact
from tests.interop.java.changelog_tables import answers, cases
from tests.spark.stream.engine import Query

pytestmark = pytest.mark.interop

CASES = [case.name for case in cases()]
SKIPPING = {"streaming-skip-delete-snapshots": "true", "streaming-skip-overwrite-snapshots": "true"}


def stream(java, case, **options):
    """Return the rows of all micro-batches of a stream from the beginning, and the number of micro-batches."""
    given = {key.replace("_", "-"): value for key, value in options.items()}
    query = Query({"path": str(java.folder / "warehouse" / "db" / case), **given})
    found, batches = [], 0
    while True:
        start, end = query.next_end()
        if start == end:
            return pa.concat_tables(found), batches
        found += query.rows(start, end)
        query.offset, batches = end, batches + 1


@pytest.mark.parametrize("case", CASES)
def test_changes_of_a_stream_are_those_of_java(java, case):
    java.check(case)
    expected = java.answer(answers(case), "all")
    found, batches = stream(java, case, changes="true")
    assert batches == 1
    assert exact(found) == exact(expected)
    one_by_one, batches = stream(java, case, changes="true", streaming_max_rows_per_micro_batch="1")
    assert batches > 1
    columns = [name for name in expected.column_names if name != "_change_ordinal"]
    assert exact(one_by_one.select(columns)) == exact(expected.select(columns))


@pytest.mark.parametrize("case", CASES)
def test_appended_rows_of_a_stream_are_those_of_java(java, case):
    appends = [one.snapshot_id for one in java.table(case).snapshots() if one.operation == Operation.APPEND]
    changes = java.answer(answers(case), "all")
    expected = changes.filter(pc.is_in(changes["_commit_snapshot_id"], pa.array(appends))).select(range(4))
    found, _ = stream(java, case, **SKIPPING, streaming_max_files_per_micro_batch="1")
    assert exact(found.select(expected.column_names)) == exact(expected)
