"""Statistics files of snapshots, set and removed."""

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table import StaticTable
from icefloe.table.statistics import BlobMetadata, PartitionStatisticsFile, StatisticsFile


def statistics(snapshot_id, path="s3://lake/s.puffin"):
    blob = BlobMetadata(
        type="apache-datasketches-theta-v1",
        snapshot_id=snapshot_id,
        sequence_number=1,
        fields=[1],
        properties={"ndv": "6"},
    )
    return StatisticsFile(
        snapshot_id=snapshot_id,
        statistics_path=path,
        file_size_in_bytes=100,
        file_footer_size_in_bytes=20,
        blob_metadata=[blob],
    )


def test_statistics_files_round_trip(new_table):
    table = new_table()
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    partitions = PartitionStatisticsFile(
        snapshot_id=second, statistics_path="s3://lake/p.parquet", file_size_in_bytes=7
    )
    with table.update_statistics() as update:
        update.set_statistics(statistics(first)).set_statistics(statistics(second)).set_partition_statistics(partitions)
    read = StaticTable.from_metadata(table.metadata_location).metadata
    assert list(read.statistics) == [statistics(first), statistics(second)]
    assert list(read.partition_statistics) == [partitions]
    with table.update_statistics() as update:
        update.set_statistics(statistics(first, "s3://lake/new.puffin")).remove_statistics(second)
        update.remove_partition_statistics(second)
    read = StaticTable.from_metadata(table.metadata_location).metadata
    assert list(read.statistics) == [statistics(first, "s3://lake/new.puffin")]
    assert list(read.partition_statistics) == []


def test_statistics_of_the_transactions_own_snapshot_are_set_with_it(new_table, rows):
    table = new_table()
    with table.transaction() as transaction:
        transaction.append(rows((7, "x", 1.0)))
        transaction.update_statistics().set_statistics(
            statistics(transaction.table_metadata.current_snapshot_id)
        ).commit()
    assert table.metadata.statistics[0].snapshot_id == table.current_snapshot().snapshot_id


def test_statistics_are_set_after_a_concurrent_commit(catalog, new_table, rows):
    table = new_table()
    update = table.update_statistics().set_statistics(statistics(table.current_snapshot().snapshot_id))
    catalog.load_table("db.t").append(rows((7, "x", 1.0)))
    update.commit()
    assert len(table.refresh().metadata.statistics) == 1
    assert table.scan().count() == 7


def test_statistics_of_unknown_snapshots_are_refused(new_table):
    table = new_table()
    with pytest.raises(ValidationError, match="no such snapshot"):
        table.update_statistics().set_statistics(statistics(5))
    with pytest.raises(ValidationError, match="no such snapshot"):
        table.update_statistics().set_partition_statistics(
            PartitionStatisticsFile(snapshot_id=5, statistics_path="p", file_size_in_bytes=7)
        )
    with pytest.raises(ValidationError, match="it has none"):
        table.update_statistics().remove_statistics(table.current_snapshot().snapshot_id).commit()
