"""The metadata tables of a table."""

from icefloe.table.inspect.inspect_table import ALWAYS_TRUE, InspectTable
from icefloe.table.inspect.metadata_scan import MetadataScan
from icefloe.table.inspect.schemas import METADATA_TABLES, OF_ONE_SNAPSHOT, metadata_table_schema

__all__ = [
    "ALWAYS_TRUE",
    "METADATA_TABLES",
    "OF_ONE_SNAPSHOT",
    "InspectTable",
    "MetadataScan",
    "metadata_table_schema",
]
