"""The definition that new data files follow: a table's, with the changes of a transaction and of write options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.writer.options import flag, number, with_options
from icefloe.table.properties.definitions import DISTRIBUTION_MODE, FANOUT, ROW_LEVEL_DISTRIBUTION_MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.sorting import SortOrder


@dataclass(frozen=True, kw_only=True)
class WriteLayout:
    """Schema, partition spec, sort order and properties of new data files.

    Args:
        schema: Schema.
        spec: Partition spec.
        sort_order: Order of the rows.
        location: Location of the table.
        properties: Table properties.
        distributed: Rows are shuffled and sorted as the properties say; without it Spark's partitions are written unchanged.
        fanout: A task keeps a file open for each partition instead of sorting its rows by partition.
    """

    schema: Schema
    spec: PartitionSpec
    sort_order: SortOrder
    location: str
    properties: dict[str, str]
    distributed: bool = True
    fanout: bool = False

    @staticmethod
    def of(metadata: TableMetadata, options: Mapping[str, str] | None = None) -> WriteLayout:
        """Return the layout of a table's new files.

        Args:
            metadata: The table, with the changes of a transaction.
            options: Checked write options.

        Raises:
            ValidationError: The table has no partition spec of the id ``output-spec-id``.
        """
        given = options or {}
        properties = with_options(metadata.properties, given)
        return WriteLayout(
            schema=metadata.schema(),
            spec=_spec(metadata, number(given, "output-spec-id")),
            sort_order=metadata.sort_order(),
            location=metadata.location,
            properties=properties,
            distributed=flag(given, "use-table-distribution-and-ordering"),
            fanout=flag(given, "fanout-enabled") if "fanout-enabled" in given else FANOUT.of(properties),
        )

    @staticmethod
    def of_operation(metadata: TableMetadata, operation: str) -> WriteLayout:
        """Return the layout of the rows that a ``delete``, ``update`` or ``merge`` writes.

        Without a mode of its own, a delete or update clusters rows by table partition, or by data file in an unpartitioned table, and a merge
        clusters them by table partition, as in the Java runtime. A merge into an unpartitioned table distributes rows as a write does.
        """
        layout = WriteLayout.of(metadata)
        mode = ROW_LEVEL_DISTRIBUTION_MODES[operation].of(metadata.properties)
        if mode is None and (operation != "merge" or layout.is_partitioned):
            mode = "hash"
        return layout if mode is None else WriteLayout.of(metadata, {"distribution-mode": mode})

    @property
    def is_partitioned(self) -> bool:
        """Whether the partition spec has a field that is not void."""
        return any(str(field.transform) != "void" for field in self.spec.fields)

    def mode(self) -> str:
        """Return the distribution mode: ``none``, ``hash`` or ``range``."""
        if not self.distributed:
            return "none"
        chosen = DISTRIBUTION_MODE.of(self.properties)
        if chosen is not None:
            return chosen
        if self.is_partitioned:
            return "hash"
        return "range" if self.sort_order.fields else "none"


def _spec(metadata: TableMetadata, spec_id: int | None) -> PartitionSpec:
    if spec_id is None:
        return metadata.spec()
    known = {spec.spec_id: spec for spec in metadata.partition_specs}
    if spec_id not in known:
        raise ValidationError(
            f"option output-spec-id: the table has no such partition spec; expected one of {sorted(known)}, got {spec_id}"
        )
    return known[spec_id]
