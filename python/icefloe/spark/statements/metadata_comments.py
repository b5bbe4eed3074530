"""The comments of the columns of metadata tables, in the words of the Java runtime."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType

_METRICS = {"readable_metrics": "Column metrics in readable form"}
_OF_FILES = {
    "content": "Contents of the file: 0=data, 1=position deletes, 2=equality deletes",
    "file_path": "Location URI with FS scheme",
    "file_format": "File format name: avro, orc, or parquet",
    "spec_id": "Partition spec ID",
    "partition": "Partition data tuple, schema based on the partition spec",
    "record_count": "Number of records in the file",
    "file_size_in_bytes": "Total file size in bytes",
    "column_sizes": "Map of column id to total size on disk",
    "value_counts": "Map of column id to total count, including null and NaN",
    "null_value_counts": "Map of column id to null value count",
    "nan_value_counts": "Map of column id to number of NaN values in the column",
    "lower_bounds": "Map of column id to lower bound",
    "upper_bounds": "Map of column id to upper bound",
    "key_metadata": "Encryption key metadata blob",
    "split_offsets": "Splittable offsets",
    "equality_ids": "Equality comparison field IDs",
    "sort_order_id": "Sort order ID",
    "first_row_id": "The first row ID assigned to the first row in the data file",
    "referenced_data_file": "Fully qualified location (URI with FS scheme) of a data file that all deletes reference",
    "content_offset": "The offset in the file where the content starts",
    "content_size_in_bytes": "The length of referenced content stored in the file",
    **_METRICS,
}
_OF_PARTITIONS = {
    "record_count": "Count of records in data files",
    "file_count": "Count of data files",
    "total_data_file_size_in_bytes": "Total size in bytes of data files",
    "position_delete_record_count": "Count of records in position delete files",
    "position_delete_file_count": "Count of position delete files",
    "equality_delete_record_count": "Count of records in equality delete files",
    "equality_delete_file_count": "Count of equality delete files",
    "last_updated_at": "Commit time of snapshot that last updated this partition",
    "last_updated_snapshot_id": "Id of snapshot that last updated this partition",
}
_OF_POSITION_DELETES = {
    "file_path": "Path of a file in which a deleted row is stored",
    "pos": "Ordinal position of a deleted row in the data file",
    "row": "Deleted row values",
    "partition": "Partition that position delete row belongs to",
    "spec_id": "Spec ID used to track the file containing a row",
    "delete_file_path": "Path of the file in which a row is stored",
}
_COMMENTS: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ("files", "data_files", "delete_files", "all_files", "all_data_files", "all_delete_files"), _OF_FILES
    ),
    **dict.fromkeys(("entries", "all_entries"), _METRICS),
    "partitions": _OF_PARTITIONS,
    "position_deletes": _OF_POSITION_DELETES,
}


def commented(struct: StructType, name: str) -> StructType:
    """Return the columns of a metadata table with their comments; the columns of some tables have none.

    Args:
        struct: Columns of the metadata table.
        name: Name of the metadata table.
    """
    comments = _COMMENTS.get(name, {})
    return StructType(
        [
            StructField(one.name, one.dataType, one.nullable, {"comment": comments[one.name]})
            if one.name in comments
            else one
            for one in struct.fields
        ]
    )
