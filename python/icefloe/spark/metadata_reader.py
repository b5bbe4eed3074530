"""Metadata tables of ``spark.read.format("icefloe").load("db.events.files")``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, InputPartition

from icefloe.catalog import load_catalog
from icefloe.spark.metadata_tables import METADATA_TABLES, spark_schema
from icefloe.spark.table_options import SPEED_OPTIONS, TABLE_OPTIONS, VERSION_OPTIONS, TableOptions, check_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from icefloe.table.inspect import MetadataScan

_LEAST_PARTS = 3
_MARK = "#"
_OPTIONS = (*TABLE_OPTIONS, *VERSION_OPTIONS, *SPEED_OPTIONS, "columns", "filter", "case-sensitive")


def metadata_scan(options: TableOptions) -> MetadataScan | None:
    """Return the scan of a metadata table that options name; None if they name a table.

    ``db.events.files`` is the metadata table ``files`` of ``db.events`` unless the catalog has a table of that name. A location is
    followed by ``#files``. The options of a version, ``columns`` and ``filter`` apply, the filter to the metadata table.

    Raises:
        ValidationError: An option does not apply to metadata tables, or has a value that is not accepted.
    """
    named = _named(options)
    if named is None:
        return None
    table, name = named
    check_options("a read of a metadata table", options.others, _OPTIONS)
    others = {key: value for key, value in options.others.items() if key not in ("columns", "filter", "path", "table")}
    base = replace(options, table=table, others=others)
    snapshot_id = base.scan().snapshot_id if any(key in others for key in VERSION_OPTIONS) else None
    case_sensitive = options.flag("case-sensitive", "true")
    scan = base.load().inspect.scan(name, snapshot_id, case_sensitive=case_sensitive)
    if "columns" in options.others:
        scan = scan.select(*[one.strip() for one in options.others["columns"].split(",")])
    return scan.filter(options.others["filter"]) if "filter" in options.others else scan


def _named(options: TableOptions) -> tuple[str, str] | None:
    """Return the table and the name of its metadata table; None for a table."""
    if options.is_location():
        location, _, name = options.table.rpartition(_MARK)
        return (location, name) if location and name in METADATA_TABLES else None
    above, _, name = options.table.rpartition(".")
    if name not in METADATA_TABLES or len(options.table.split(".")) < _LEAST_PARTS:
        return None
    exists = load_catalog(options.catalog, **options.catalog_properties).table_exists(options.table)
    return None if exists else (above, name)


class MetadataReader(DataSourceReader):
    """The reader of a metadata table, in one task.

    Args:
        options: Options of the read.
        columns: The columns to return.
    """

    def __init__(self, options: TableOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        """Return one task: manifests are read several at once by the threads of a process."""
        return [InputPartition(0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        scan = metadata_scan(self._options)
        if scan is None:
            return
        for batch in scan.to_arrow_batch_reader():
            selected = batch.select(list(self._columns))
            yield selected.cast(spark_schema(selected.schema))
