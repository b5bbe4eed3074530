"""Tables of two appends, and changes of them that other changes build on."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from icefloe.catalog import Catalog
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table import Table
from icefloe.table.statistics import BlobMetadata, PartitionStatisticsFile, StatisticsFile

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string())])
BY_PART = PartitionSpec(PartitionField(2, 1000, "identity", "part"))
MERGE_ON_READ = {f"write.{verb}.mode": "merge-on-read" for verb in ("delete", "update", "merge")}
MERGE_EARLY = {"commit.manifest.min-count-to-merge": "2"}
VERSION_1 = {"format-version": "1"}

Change = Callable[[Catalog, str], object]


def rows(*pairs: tuple[int, str]) -> pa.Table:
    ids, parts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "part": pa.array(parts, pa.string())})


START = rows((1, "a"), (2, "b"), (3, "a"), (4, "b"))


def started(
    catalog: Catalog, name: str, properties: dict[str, str] | None = None, spec: PartitionSpec = BY_PART
) -> Table:
    """A table of two appends."""
    table = catalog.create_table(name, SCHEMA, partition_spec=spec, properties=properties or {})
    table.append(START)
    table.append(rows((5, "c"), (6, "a")))
    return table


def written(table: Table, data: pa.Table) -> pa.RecordBatch:
    """New data files of a table that are not committed."""
    return table.transaction().target().writer.data_files(data)


def unpartitioned() -> PartitionSpec:
    return PartitionSpec()


def on(change: Callable[[Table], object], **properties: str) -> Change:
    """A change of a table of two appends."""
    keys = {key.replace("__", ".").replace("_", "-"): value for key, value in properties.items()}
    return lambda catalog, name: change(started(catalog, name, keys))


def with_properties(change: Callable[[Table], object], properties: dict[str, str]) -> Change:
    return lambda catalog, name: change(started(catalog, name, properties))


def staged(table: Table, wap_id: str) -> int:
    before = {snapshot.snapshot_id for snapshot in table.snapshots()}
    table.append(rows((7, "staged")), {"wap.id": wap_id}, branch=None)
    (new,) = [each.snapshot_id for each in table.snapshots() if each.snapshot_id not in before]
    return new


def branched(table: Table) -> None:
    first = table.snapshots()[0].snapshot_id
    manage = (
        table.manage_snapshots().create_branch(first, "side", 100_000, 1_000_000, 2).create_tag(first, "kept", 10**9)
    )
    manage.commit()
    table.append(rows((7, "side")), branch="side")
    table.delete("id = 1", branch="side")
    table.manage_snapshots().set_min_snapshots_to_keep("side", 5).set_max_ref_age_ms("kept", 10**8).commit()


def with_statistics(table: Table) -> None:
    snapshot = table.current_snapshot()
    common = {"snapshot_id": snapshot.snapshot_id, "file_size_in_bytes": 100}
    blob = BlobMetadata(
        type="apache-datasketches-theta-v1",
        snapshot_id=snapshot.snapshot_id,
        sequence_number=snapshot.sequence_number,
        fields=[1],
        properties={"ndv": "6"},
    )
    file = StatisticsFile(
        **common, statistics_path=f"{table.location()}/s.puffin", file_footer_size_in_bytes=20, blob_metadata=[blob]
    )
    partitions = PartitionStatisticsFile(**common, statistics_path=f"{table.location()}/p.parquet")
    table.update_statistics().set_statistics(file).set_partition_statistics(partitions).commit()
