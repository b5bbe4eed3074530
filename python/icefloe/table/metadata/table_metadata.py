"""Table metadata: one immutable value for each version of a table. Spec: Table Metadata."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer, PrivateAttr, StrictStr, model_validator
from pydantic_core import to_json

from icefloe.exceptions import ValidationError
from icefloe.partitioning import INITIAL_PARTITION_SPEC_ID, PARTITION_FIELD_ID_START, PartitionSpec
from icefloe.schema import INITIAL_SCHEMA_ID, Schema
from icefloe.table.environment import SYSTEM
from icefloe.table.metadata.deviations import conventional_json
from icefloe.table.metadata.entries import Entries, MetadataLog, SnapshotLog, Snapshots
from icefloe.table.properties.definitions import ISOLATION_LEVELS, NAME_MAPPING
from icefloe.table.refs import MAIN_BRANCH, SnapshotRef
from icefloe.table.snapshots import INITIAL_SEQUENCE_NUMBER, NO_SNAPSHOT_ID, IsolationLevel, Operation, Snapshot
from icefloe.table.sorting import UNSORTED_SORT_ORDER, UNSORTED_SORT_ORDER_ID, SortOrder
from icefloe.table.statistics import PartitionStatisticsFile, StatisticsFile
from icefloe.typedef import JsonInt, JsonLong, JsonModel
from icefloe.types import NestedField, StructType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from icefloe.table.name_mapping import NameMapping

Properties = dict[StrictStr, StrictStr]


def _snapshot_id_or_none(value: Any) -> Any:
    return None if value == NO_SNAPSHOT_ID else value


CurrentSnapshotId = Annotated[
    "JsonLong | None",
    BeforeValidator(_snapshot_id_or_none),
    PlainSerializer(lambda value: NO_SNAPSHOT_ID if value is None else value),
]


class TableMetadata(JsonModel):
    """The content of a metadata file: read from one, created by :func:`new_table_metadata`, or the result of updates.

    Attributes are the keys of the file with underscores. Snapshots and log entries are parsed on first access.
    """

    format_version: int
    table_uuid: uuid.UUID | None = None
    location: StrictStr
    last_sequence_number: JsonLong = INITIAL_SEQUENCE_NUMBER
    last_updated_ms: JsonLong
    last_column_id: JsonInt
    current_schema_id: JsonInt = INITIAL_SCHEMA_ID
    schemas: tuple[Schema, ...]
    default_spec_id: JsonInt = INITIAL_PARTITION_SPEC_ID
    partition_specs: tuple[PartitionSpec, ...]
    last_partition_id: JsonInt = PARTITION_FIELD_ID_START - 1
    default_sort_order_id: JsonInt = UNSORTED_SORT_ORDER_ID
    sort_orders: tuple[SortOrder, ...] = (UNSORTED_SORT_ORDER,)
    properties: Properties = Field(default_factory=dict)
    current_snapshot_id: CurrentSnapshotId = None
    next_row_id: JsonLong | None = None
    refs: dict[str, SnapshotRef] = Field(default_factory=dict)
    snapshots: Snapshots = Field(default_factory=Snapshots)
    statistics: tuple[StatisticsFile, ...] = ()
    partition_statistics: tuple[PartitionStatisticsFile, ...] = ()
    snapshot_log: SnapshotLog = Field(default_factory=SnapshotLog)
    metadata_log: MetadataLog = Field(default_factory=MetadataLog)
    encryption_keys: tuple[dict[str, Any], ...] = ()

    _required: ClassVar[tuple[str, ...]] = ()
    _stated: dict[str, int] = PrivateAttr(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Bring the keys into the specification's layout, and raise ValidationError if a required key is missing."""
        if not isinstance(data, dict):
            return data
        version = cls.model_fields["format_version"].default
        data = cls._upgrade_layout(conventional_json(data, version, []))
        missing = [key for key in cls._required if key not in data]
        if missing:
            raise ValidationError(f"missing: {', '.join(f'`{key}`' for key in missing)}")
        if isinstance(data.get("location"), str):
            data["location"] = data["location"].rstrip("/")
        return data

    @classmethod
    def _upgrade_layout(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the data with the keys of format version 2."""
        return data

    def with_(self, **changes: Any) -> Self:
        """Return this metadata with some attributes replaced, without validation; all others are shared."""
        made = self.model_copy(update=changes)
        if self._stated:
            kept = {name: value for name, value in self._stated.items() if name not in changes}
            made._stated = kept  # noqa: SLF001 - a new value of this class
        return made

    def __eq__(self, other: object) -> bool:
        """Compare the attributes. Metadata is equal to itself written and read again, with no repair left."""
        return super().__eq__(other.with_repaired(self._stated)) if isinstance(other, TableMetadata) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # the properties are a dict

    @property
    def repaired(self) -> dict[str, int]:
        """The values that the metadata file states for attributes that were repaired when it was read."""
        return dict(self._stated)

    def with_repaired(self, stated: dict[str, int]) -> Self:
        """Return this metadata with other values of `repaired`; an empty dict if the metadata file has the repaired values."""
        if stated == self._stated:
            return self
        made = self.with_()
        made._stated = dict(stated)  # noqa: SLF001 - a new value of this class
        return made

    def stated(self, name: str) -> int:
        """Return a counter or an id as the metadata file states it: catalog servers compare requirements with it, not with a repaired value."""
        found: int = self._stated.get(name, getattr(self, name))
        return found

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return the JSON object of a metadata file, in the reference writer's key order.

        Absent values are omitted: some readers refuse a null of any key but ``current-snapshot-id``. Spec: Appendix C.
        """
        return {
            key: value.json_values() if isinstance(value, Entries) else value
            for key, value in self._json_values().items()
        }

    def model_dump_json(self, **_: Any) -> str:
        """Return the text of a metadata file."""
        return self.json_bytes().decode()

    def json_bytes(self) -> bytes:
        """Return the text of a metadata file in UTF-8."""
        return b"".join(self.json_pieces())

    def json_pieces(self) -> list[bytes]:
        """Return the text of `json_bytes` in pieces, without a copy of the texts of snapshots and log entries."""
        pieces: list[bytes] = []
        for key, value in self._json_values().items():
            pieces.append(b'%b"%b":' % (b"," if pieces else b"{", key.encode()))
            pieces += [b"[", *value.json_pieces(), b"]"] if isinstance(value, Entries) else [to_json(value)]
        return [*pieces, b"}"]

    def _json_values(self) -> dict[str, Any]:
        value: dict[str, Any] = {"format-version": self.format_version}
        if self.table_uuid is not None:
            value["table-uuid"] = str(self.table_uuid)
        value["location"] = self.location
        if self.format_version > 1:
            value["last-sequence-number"] = self.last_sequence_number
        value["last-updated-ms"] = self.last_updated_ms
        value["last-column-id"] = self.last_column_id
        if self.format_version == 1:
            value["schema"] = self.schema().model_dump()
        value["current-schema-id"] = self.current_schema_id
        value["schemas"] = [schema.model_dump() for schema in self.schemas]
        if self.format_version == 1:
            value["partition-spec"] = self.spec().model_dump()["fields"]
        value["default-spec-id"] = self.default_spec_id
        value["partition-specs"] = [spec.model_dump(mode="json") for spec in self.partition_specs]
        value["last-partition-id"] = self.last_partition_id
        value["default-sort-order-id"] = self.default_sort_order_id
        value["sort-orders"] = [order.model_dump(mode="json") for order in self.sort_orders]
        value["properties"] = self.properties
        return {**value, **self._history_json()}

    def _history_json(self) -> dict[str, Any]:
        current = self.current_snapshot_id
        value: dict[str, Any] = {
            "current-snapshot-id": NO_SNAPSHOT_ID if current is None and self.format_version < 3 else current
        }
        if self.next_row_id is not None:
            value["next-row-id"] = self.next_row_id
        value["refs"] = {name: ref.model_dump(mode="json") for name, ref in self.refs.items()}
        value["snapshots"] = self.snapshots
        value["statistics"] = [file.model_dump() for file in self.statistics]
        value["partition-statistics"] = [file.model_dump() for file in self.partition_statistics]
        if self.encryption_keys:
            value["encryption-keys"] = list(self.encryption_keys)
        value["snapshot-log"] = self.snapshot_log
        value["metadata-log"] = self.metadata_log
        return value

    def schema(self) -> Schema:  # type: ignore[override]  # pydantic's deprecated classmethod of this name
        """Return the current schema."""
        found = self.schema_by_id(self.current_schema_id)
        assert found is not None
        return found

    def schema_by_id(self, schema_id: int) -> Schema | None:
        """Return the schema of an id, or None."""
        return next((schema for schema in self.schemas if schema.schema_id == schema_id), None)

    def spec(self) -> PartitionSpec:
        """Return the partition spec of new files."""
        return self.specs()[self.default_spec_id]

    def specs(self) -> dict[int, PartitionSpec]:
        """Return all specs by id."""
        return {spec.spec_id: spec for spec in self.partition_specs}

    def specs_struct(self, spec_ids: Iterable[int] | None = None) -> StructType:
        """Return the struct of all partition fields of some specs, or of all specs, each optional."""
        wanted = None if spec_ids is None else set(spec_ids)
        fields: dict[int, NestedField] = {}
        for spec in sorted(self.partition_specs, key=lambda spec: spec.spec_id, reverse=True):
            if wanted is None or spec.spec_id in wanted:
                for field in spec.partition_type(self.schema()).fields:
                    fields.setdefault(field.field_id, field)
        return StructType(*(fields[field_id] for field_id in sorted(fields)))

    def sort_order(self) -> SortOrder:
        """Return the sort order of new files."""
        return self.sort_order_by_id(self.default_sort_order_id) or UNSORTED_SORT_ORDER

    def sort_order_by_id(self, sort_order_id: int) -> SortOrder | None:
        """Return the sort order of an id, or None."""
        return next((order for order in self.sort_orders if order.order_id == sort_order_id), None)

    def name_mapping(self) -> NameMapping | None:
        """Return the table's name mapping for files without field ids, or None."""
        text = NAME_MAPPING.of(self.properties)
        if text is None:
            return None
        from icefloe.table.name_mapping import parse_mapping_from_json

        return parse_mapping_from_json(text)

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return the snapshot of an id, or None."""
        return self.snapshots.by_id(snapshot_id)

    def snapshot_by_name(self, name: str | None) -> Snapshot | None:
        """Return the snapshot of a branch or tag, or None if it does not exist; the name None stands for main."""
        ref = self.refs.get(MAIN_BRANCH if name is None else name)
        return None if ref is None else self.snapshot_by_id(ref.snapshot_id)

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, or None if the table has none."""
        return None if self.current_snapshot_id is None else self.snapshot_by_id(self.current_snapshot_id)

    def new_snapshot_id(self) -> int:
        """Return a random id that no snapshot of the table has."""
        while True:
            candidate = SYSTEM.new_snapshot_id()
            if candidate not in self.snapshots.positions():
                return candidate

    def next_sequence_number(self) -> int:
        """Return the sequence number of the next snapshot; always 0 in format version 1."""
        return self.last_sequence_number + 1 if self.format_version > 1 else INITIAL_SEQUENCE_NUMBER

    def isolation_level(self, operation: Operation) -> IsolationLevel:
        """Return the isolation level of deletes, or of updates for any other operation."""
        name = "delete" if operation is Operation.DELETE else "update"
        return IsolationLevel(ISOLATION_LEVELS[name].of(self.properties))
