"""Summaries of snapshots: the operation and its counts of files, rows and bytes. Spec: Optional Snapshot Summary Fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError
from icefloe.manifest import DataFileContent
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC

if TYPE_CHECKING:
    from icefloe.manifest import DataFile
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema

ADDED_DATA_FILES = "added-data-files"
ADDED_DELETE_FILES = "added-delete-files"
ADDED_EQUALITY_DELETES = "added-equality-deletes"
ADDED_EQUALITY_DELETE_FILES = "added-equality-delete-files"
ADDED_FILE_SIZE = "added-files-size"
ADDED_POSITION_DELETES = "added-position-deletes"
ADDED_POSITION_DELETE_FILES = "added-position-delete-files"
ADDED_RECORDS = "added-records"
DELETED_DATA_FILES = "deleted-data-files"
DELETED_RECORDS = "deleted-records"
REMOVED_DELETE_FILES = "removed-delete-files"
REMOVED_EQUALITY_DELETES = "removed-equality-deletes"
REMOVED_EQUALITY_DELETE_FILES = "removed-equality-delete-files"
REMOVED_FILE_SIZE = "removed-files-size"
REMOVED_POSITION_DELETES = "removed-position-deletes"
REMOVED_POSITION_DELETE_FILES = "removed-position-delete-files"
TOTAL_DATA_FILES = "total-data-files"
TOTAL_DELETE_FILES = "total-delete-files"
TOTAL_EQUALITY_DELETES = "total-equality-deletes"
TOTAL_FILE_SIZE = "total-files-size"
TOTAL_POSITION_DELETES = "total-position-deletes"
TOTAL_RECORDS = "total-records"
CHANGED_PARTITION_COUNT_PROP = "changed-partition-count"
CHANGED_PARTITION_PREFIX = "partitions."
PARTITION_SUMMARY_PROP = "partition-summaries-included"
OPERATION = "operation"


class Operation(str, Enum):
    """The operation of a commit."""

    APPEND = "append"
    REPLACE = "replace"
    OVERWRITE = "overwrite"
    DELETE = "delete"

    def __repr__(self) -> str:
        return f"Operation.{self.name}"

    __str__ = __repr__


class Summary(Mapping[str, str]):
    """The operation of a commit and its counts as text. A missing key has the value None.

    >>> summary = Summary(Operation.APPEND, **{"added-records": "3"})
    >>> summary["added-records"], summary["deleted-records"], summary.get("deleted-records", "0")
    ('3', None, '0')
    """

    __slots__ = ("_properties", "operation")
    operation: Operation
    _properties: dict[str, str]

    def __init__(self, operation: Operation | str | None = None, **data: Any) -> None:
        # Some writers omit the operation; overwrite is the operation that assumes least.
        self.operation = Operation(operation) if operation is not None else Operation.OVERWRITE
        self._properties = {key: _text_of(value) for key, value in data.items()}

    @property
    def additional_properties(self) -> dict[str, str]:
        """All keys but the operation."""
        return dict(self._properties)

    def to_json_value(self) -> dict[str, str]:
        """Return the JSON object, its operation first."""
        return {"operation": self.operation.value, **self._properties}

    def __getitem__(self, key: str) -> Any:
        return self.operation if key.lower() == OPERATION else self._properties.get(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default if the key is missing."""
        value = self[key]
        return default if value is None else value

    def __contains__(self, key: object) -> bool:
        return key == OPERATION or key in self._properties

    def __iter__(self) -> Iterator[str]:
        yield OPERATION
        yield from self._properties

    def __len__(self) -> int:
        return 1 + len(self._properties)

    def __eq__(self, other: object) -> bool:
        return dict(self) == dict(other) if isinstance(other, Mapping) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        properties = f", **{self._properties!r}" if self._properties else ""
        return f"Summary({self.operation!r}{properties})"

    def __str__(self) -> str:
        return f"operation={self.operation!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _summary_from_json, (self.to_json_value(),)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            _summary_from_json,
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value.to_json_value()),
        )


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _summary_from_json(value: Any) -> Summary:
    if isinstance(value, Summary):
        return value
    if not isinstance(value, dict):
        raise ValidationError(f"summary: expected a JSON object, got {value!r}")
    for key, part in value.items():
        if not isinstance(part, str):
            raise ValidationError(f"summary: expected text as `{key}`, got {part!r}")
    rest = {key: part for key, part in value.items() if key != "operation"}
    return Summary(value.get("operation"), **rest)


class UpdateMetrics:
    """Counts of the files, rows and bytes that a snapshot adds and removes, by kind of file."""

    def __init__(self) -> None:
        self.added_file_size = 0
        self.removed_file_size = 0
        self.added_data_files = 0
        self.removed_data_files = 0
        self.added_eq_delete_files = 0
        self.removed_eq_delete_files = 0
        self.added_pos_delete_files = 0
        self.removed_pos_delete_files = 0
        self.added_delete_files = 0
        self.removed_delete_files = 0
        self.added_records = 0
        self.deleted_records = 0
        self.added_pos_deletes = 0
        self.removed_pos_deletes = 0
        self.added_eq_deletes = 0
        self.removed_eq_deletes = 0

    def add_file(self, data_file: DataFile) -> None:
        """Count an added file."""
        self.added_file_size += data_file.file_size_in_bytes
        if data_file.content is DataFileContent.DATA:
            self.added_data_files += 1
            self.added_records += data_file.record_count
            return
        self.added_delete_files += 1
        if data_file.content is DataFileContent.POSITION_DELETES:
            self.added_pos_delete_files += 1
            self.added_pos_deletes += data_file.record_count
        else:
            self.added_eq_delete_files += 1
            self.added_eq_deletes += data_file.record_count

    def remove_file(self, data_file: DataFile) -> None:
        """Count a removed file."""
        self.removed_file_size += data_file.file_size_in_bytes
        if data_file.content is DataFileContent.DATA:
            self.removed_data_files += 1
            self.deleted_records += data_file.record_count
            return
        self.removed_delete_files += 1
        if data_file.content is DataFileContent.POSITION_DELETES:
            self.removed_pos_delete_files += 1
            self.removed_pos_deletes += data_file.record_count
        else:
            self.removed_eq_delete_files += 1
            self.removed_eq_deletes += data_file.record_count

    def to_dict(self) -> dict[str, str]:
        """Return the counts above zero by their summary keys."""
        properties: dict[str, str] = {}
        for attribute, key in _KEYS.items():
            set_when_positive(properties, getattr(self, attribute), key)
        return properties


_KEYS = {
    "added_file_size": ADDED_FILE_SIZE,
    "removed_file_size": REMOVED_FILE_SIZE,
    "added_data_files": ADDED_DATA_FILES,
    "removed_data_files": DELETED_DATA_FILES,
    "added_eq_delete_files": ADDED_EQUALITY_DELETE_FILES,
    "removed_eq_delete_files": REMOVED_EQUALITY_DELETE_FILES,
    "added_pos_delete_files": ADDED_POSITION_DELETE_FILES,
    "removed_pos_delete_files": REMOVED_POSITION_DELETE_FILES,
    "added_delete_files": ADDED_DELETE_FILES,
    "removed_delete_files": REMOVED_DELETE_FILES,
    "added_records": ADDED_RECORDS,
    "deleted_records": DELETED_RECORDS,
    "added_pos_deletes": ADDED_POSITION_DELETES,
    "removed_pos_deletes": REMOVED_POSITION_DELETES,
    "added_eq_deletes": ADDED_EQUALITY_DELETES,
    "removed_eq_deletes": REMOVED_EQUALITY_DELETES,
}


class SnapshotSummaryCollector:
    """Counts of a snapshot, in total and by partition.

    Args:
        partition_summary_limit: Most partitions whose counts the summary lists one by one.

    >>> from icefloe.manifest import DataFile
    >>> from icefloe.schema import Schema
    >>> collector = SnapshotSummaryCollector()
    >>> file = DataFile.from_args(file_path="a", file_format="parquet", record_count=3, file_size_in_bytes=9)
    >>> collector.add_file(file, Schema())
    >>> collector.build()
    {'added-files-size': '9', 'added-data-files': '1', 'added-records': '3'}
    """

    def __init__(self, partition_summary_limit: int = 0) -> None:
        self.metrics = UpdateMetrics()
        self.partition_metrics: defaultdict[str, UpdateMetrics] = defaultdict(UpdateMetrics)
        self.max_changed_partitions_for_summaries = partition_summary_limit

    def set_partition_summary_limit(self, limit: int) -> None:
        """Set the most partitions whose counts the summary lists one by one."""
        self.max_changed_partitions_for_summaries = limit

    def add_file(
        self, data_file: DataFile, schema: Schema, partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC
    ) -> None:
        """Count an added file."""
        self.metrics.add_file(data_file)
        if len(data_file.partition) > 0:
            self.update_partition_metrics(partition_spec, data_file, True, schema)

    def remove_file(
        self, data_file: DataFile, schema: Schema, partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC
    ) -> None:
        """Count a removed file."""
        self.metrics.remove_file(data_file)
        if len(data_file.partition) > 0:
            self.update_partition_metrics(partition_spec, data_file, False, schema)

    def update_partition_metrics(
        self, partition_spec: PartitionSpec, file: DataFile, is_add_file: bool, schema: Schema
    ) -> None:
        """Count a file in its partition."""
        metrics = self.partition_metrics[partition_spec.partition_to_path(file.partition, schema)]
        if is_add_file:
            metrics.add_file(file)
        else:
            metrics.remove_file(file)

    def build(self) -> dict[str, str]:
        """Return the summary's keys and values without the operation."""
        properties = self.metrics.to_dict()
        changed = len(self.partition_metrics)
        set_when_positive(properties, changed, CHANGED_PARTITION_COUNT_PROP)
        if 0 < changed <= self.max_changed_partitions_for_summaries:
            properties[PARTITION_SUMMARY_PROP] = "true"
            for path, metrics in self.partition_metrics.items():
                counts = ",".join(f"{key}={value}" for key, value in metrics.to_dict().items())
                if counts != "":
                    properties[CHANGED_PARTITION_PREFIX + path] = counts
        return properties


def set_when_positive(properties: dict[str, str], num: int, property_name: str) -> None:
    """Set a property to a count if the count is above zero."""
    if num > 0:
        properties[property_name] = str(num)


# The keys of the counts that change each total. Spec: Optional Snapshot Summary Fields.
_TOTALS = {
    "total-data-files": ("added-data-files", "deleted-data-files"),
    "total-delete-files": ("added-delete-files", "removed-delete-files"),
    "total-records": ("added-records", "deleted-records"),
    "total-files-size": ("added-files-size", "removed-files-size"),
    "total-position-deletes": ("added-position-deletes", "removed-position-deletes"),
    "total-equality-deletes": ("added-equality-deletes", "removed-equality-deletes"),
}


def update_snapshot_summaries(summary: Summary, previous_summary: Mapping[str, str] | None = None) -> Summary:
    """Return a summary with totals: the parent's totals plus added and minus removed counts.

    Without a parent, totals start from 0. A total is omitted if the parent's is missing or malformed, or if it would be negative.
    """
    properties = summary.additional_properties
    for total, (added, removed) in _TOTALS.items():
        known = "0" if previous_summary is None else previous_summary.get(total)
        try:
            value = int(known or "") + int(properties.get(added, "0")) - int(properties.get(removed, "0"))
        except ValueError:
            continue
        if value >= 0:
            properties[total] = str(value)
    return Summary(summary.operation, **properties)
