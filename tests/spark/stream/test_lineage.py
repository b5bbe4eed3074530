"""Snapshots that a stream has not read: checkpoints of tables whose history changed."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError

from tests.spark.stream.conftest import expire, ids_of, numbered
from tests.spark.stream.engine import Query


def test_start_snapshot_id_must_be_in_the_history_of_the_table(table, options):
    starting = {**options, "start-snapshot-id": "7"}
    with pytest.raises(ValidationError, match=r"has no such snapshot in its history.*got the current snapshot none"):
        Query(starting).batch()
    for start in range(0, 6, 2):
        table.append(numbered(start, start + 2))
    first, second, third = ids_of(table)
    expire(table, first, second)
    with pytest.raises(
        ValidationError, match=rf"the snapshots after {first}, .* pass the id of this snapshot or of a later"
    ):
        Query({**options, "start-snapshot-id": str(first)}).batch()
    assert Query({**options, "start-snapshot-id": str(second)}).ids() == [[4, 5]]
    assert Query({**options, "start-snapshot-id": str(third)}).ids() == []


def test_checkpoint_older_than_the_oldest_snapshot_is_refused(table, options):
    table.append(numbered(0, 2))
    query = Query(options)
    query.batch()
    for start in (2, 4, 6):
        table.append(numbered(start, start + 2))
    expire(table, ids_of(table)[0])
    consumed = Query(query.options)
    consumed.offset = query.offset
    assert consumed.ids() == [[2, 3, 4, 5, 6, 7]]  # the expired snapshot was read whole
    expire(table, *ids_of(table)[:2])
    with pytest.raises(ValidationError, match=r"were expired before the stream read them.*new checkpoint location"):
        query.batch()


def test_rolled_back_table_is_refused(table, options):
    table.append(numbered(0, 2))
    table.append(numbered(2, 4))
    query = Query(options)
    query.batch()
    table.manage_snapshots().rollback_to_snapshot(ids_of(table)[0]).commit()
    with pytest.raises(ValidationError, match="was rolled back or its history replaced"):
        query.batch()
    table.append(numbered(4, 6))
    with pytest.raises(ValidationError, match="was rolled back or its history replaced"):
        query.batch()


def test_micro_batch_planned_while_the_table_was_rolled_back_is_refused(table, options):
    """Spark before 4.2 records the end of a micro-batch without a check; an empty micro-batch would end before the rows that were read."""
    table.append(numbered(0, 2))
    table.append(numbered(2, 4))
    first, second = ids_of(table)
    query = Query(options)
    query.batch()
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    query.restart()
    end = query.reader.latestOffset()
    with pytest.raises(ValidationError, match="was rolled back or its history replaced"):
        query.rows(query.offset, end)
    table.manage_snapshots().set_current_snapshot(second).commit()
    for more in ({}, {"stream-from": "latest"}):
        query.restart(**more)
        query.reader.latestOffset()  # the trigger availableNow asks for the newest offset first
        with pytest.raises(
            ValidationError, match=rf"was rolled back; expected an end .* and start-snapshot-id={second}"
        ):
            query.rows(query.offset, end)


@pytest.mark.parametrize("kept", [0, 1])
def test_available_now_ends_when_the_table_is_rolled_back(table, options, kept):
    for start in range(0, 8, 2):
        table.append(numbered(start, start + 2))
    snapshots = ids_of(table)
    query = Query({**options, "streaming-max-files-per-micro-batch": "1"})
    query.reader.prepareForTriggerAvailableNow()
    assert sorted(row["id"] for row in query.batch()) == [0, 1]
    table.manage_snapshots().rollback_to_snapshot(snapshots[kept]).commit()
    assert query.batch() is None
    query.restart()
    table.append(numbered(8, 10))
    assert query.ids() == [[2, 3], [8, 9]][1 - kept :]


def test_available_now_reports_snapshots_that_expire_before_their_batch(table, options):
    for start in range(0, 8, 2):
        table.append(numbered(start, start + 2))
    query = Query({**options, "streaming-max-files-per-micro-batch": "1"})
    query.reader.prepareForTriggerAvailableNow()
    assert sorted(row["id"] for row in query.batch()) == [0, 1]
    table.append(numbered(8, 10))
    expire(table, *ids_of(table)[:-1])
    with pytest.raises(ValidationError, match="were expired before the stream read them"):
        query.batch()


def test_dropped_and_created_table_is_refused(catalog, table, options):
    table.append(numbered(0, 2))
    query = Query(options)
    query.batch()
    catalog.drop_table(table.name())
    catalog.create_table(table.name(), table.schema()).append(numbered(0, 2))
    with pytest.raises(ValidationError, match="dropped and created again"):
        query.batch()
    query.restart()
    with pytest.raises(ValidationError, match=r"checkpoint: .* was dropped and created again; .*new checkpoint"):
        query.batch()


def test_first_micro_batch_of_a_latest_stream_is_repeated_after_a_crash(table, options):
    table.append(numbered(0, 4))
    query = Query({**options, "stream-from": "latest"})
    _, end = query.next_end()
    table.append(numbered(4, 6))
    query.restart()
    assert query.rows(query.reader.initialOffset(), end) == []
    query.offset = end
    assert query.ids() == [[4, 5]]
