"""The requirements of a commit, in the JSON form of the REST catalog protocol.

``validate`` raises CommitFailedException if a requirement does not hold. The commit may be retried on a newer base then.
"""

from __future__ import annotations

import functools
import uuid
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictInt, StrictStr, TypeAdapter
from pydantic import ValidationError as PydanticError

from icefloe.exceptions import CommitFailedException, ValidationError
from icefloe.partitioning import PartitionSpec
from icefloe.table.refs import SnapshotRefType
from icefloe.typedef import JsonModel, explain

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata


class TableRequirement(JsonModel):
    """The base class of requirements."""

    type: str
    is_sent: ClassVar[bool] = True
    """Whether the REST protocol has the requirement; a client checks the others itself before it commits."""

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override]  # pydantic's deprecated classmethod
        """Raise CommitFailedException unless the table meets the requirement; None stands for an absent table."""
        if base_metadata is None:
            raise CommitFailedException(f"Requirement failed: current table metadata is missing ({self.type})")
        self._check(base_metadata)

    def _check(self, metadata: TableMetadata) -> None:
        raise NotImplementedError

    def _expect(self, what: str, expected: Any, found: Any) -> None:
        if expected != found:
            raise CommitFailedException(
                f"Requirement failed: {what} has changed: expected {expected}, found {found} ({self.type})"
            )

    def _expect_stated(self, metadata: TableMetadata, name: str, what: str, expected: int | None) -> None:
        """Expect an attribute of the metadata, as it was repaired or as the file states it: both name the same version."""
        if expected != metadata.stated(name):
            self._expect(what, expected, getattr(metadata, name))


class AssertCreate(TableRequirement):
    """The table does not exist."""

    type: Literal["assert-create"] = "assert-create"

    def validate(self, base_metadata: TableMetadata | None) -> None:  # type: ignore[override]  # pydantic's deprecated classmethod
        """Raise CommitFailedException if the table exists."""
        if base_metadata is not None:
            raise CommitFailedException("Table already exists (assert-create)")


class AssertTableUUID(TableRequirement):
    """The table has a UUID: it was not dropped and created again."""

    type: Literal["assert-table-uuid"] = "assert-table-uuid"
    uuid: uuid.UUID

    def _check(self, metadata: TableMetadata) -> None:
        if self.uuid != metadata.table_uuid:
            raise CommitFailedException(
                f"Table UUID does not match: {self.uuid} != {metadata.table_uuid} ({self.type})"
            )


class AssertRefSnapshotId(TableRequirement):
    """A branch or tag refers to a snapshot, or with None does not exist."""

    type: Literal["assert-ref-snapshot-id"] = "assert-ref-snapshot-id"
    ref: StrictStr
    snapshot_id: StrictInt | None = None

    def _check(self, metadata: TableMetadata) -> None:
        ref = metadata.refs.get(self.ref)
        if ref is None:
            if self.snapshot_id is not None:
                raise CommitFailedException(
                    f"Requirement failed: branch or tag {self.ref} is missing, expected {self.snapshot_id} ({self.type})"
                )
            return
        kind = "tag" if ref.snapshot_ref_type is SnapshotRefType.TAG else "branch"
        if self.snapshot_id is None:
            raise CommitFailedException(f"Requirement failed: {kind} {self.ref} was created concurrently ({self.type})")
        if self.snapshot_id != ref.snapshot_id:
            raise CommitFailedException(
                f"Requirement failed: {kind} {self.ref} has changed: expected id {self.snapshot_id}, found {ref.snapshot_id} ({self.type})"
            )

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the JSON object, with an explicit null for an absent ref."""
        return {**super().model_dump(**options), "snapshot-id": self.snapshot_id}

    def model_dump_json(self, **options: Any) -> str:
        """Return the JSON text, with an explicit null for an absent ref."""
        return super().model_dump_json(**{**options, "exclude_none": False})


class AssertOnlyRefs(TableRequirement):
    """The table has no branch and no tag besides the given ones."""

    type: Literal["assert-only-refs"] = "assert-only-refs"
    is_sent: ClassVar[bool] = False
    refs: list[StrictStr]

    def _check(self, metadata: TableMetadata) -> None:
        others = sorted(set(metadata.refs) - set(self.refs))
        if others:
            raise CommitFailedException(
                f"Requirement failed: branch or tag {others[0]} was created concurrently ({self.type})"
            )


class AssertSnapshotExists(TableRequirement):
    """A snapshot that no ref needs has not expired."""

    type: Literal["assert-snapshot-exists"] = "assert-snapshot-exists"
    is_sent: ClassVar[bool] = False
    snapshot_id: StrictInt

    def _check(self, metadata: TableMetadata) -> None:
        if self.snapshot_id not in metadata.snapshots.positions():
            raise CommitFailedException(
                f"Requirement failed: snapshot {self.snapshot_id} was removed concurrently ({self.type})"
            )


class AssertPartitionSpecExists(TableRequirement):
    """A partition spec that new files have was not removed, and its id was not given to another spec."""

    type: Literal["assert-partition-spec-exists"] = "assert-partition-spec-exists"
    is_sent: ClassVar[bool] = False
    spec: PartitionSpec

    def _check(self, metadata: TableMetadata) -> None:
        if metadata.specs().get(self.spec.spec_id) != self.spec:
            raise CommitFailedException(
                f"Requirement failed: partition spec {self.spec.spec_id} was removed concurrently ({self.type})"
            )


class AssertPartitionSpecs(TableRequirement):
    """No partition spec was added or removed, so that specs of the commit get the ids that its files have."""

    type: Literal["assert-partition-specs"] = "assert-partition-specs"
    is_sent: ClassVar[bool] = False
    specs: tuple[PartitionSpec, ...]

    def _check(self, metadata: TableMetadata) -> None:
        if metadata.specs() != {spec.spec_id: spec for spec in self.specs}:
            raise CommitFailedException(
                f"Requirement failed: partition specs were added or removed concurrently ({self.type})"
            )


class AssertLastAssignedFieldId(TableRequirement):
    """No column has been added."""

    type: Literal["assert-last-assigned-field-id"] = "assert-last-assigned-field-id"
    last_assigned_field_id: StrictInt

    def _check(self, metadata: TableMetadata) -> None:
        self._expect_stated(metadata, "last_column_id", "last assigned field id", self.last_assigned_field_id)


class AssertCurrentSchemaId(TableRequirement):
    """The current schema has not changed."""

    type: Literal["assert-current-schema-id"] = "assert-current-schema-id"
    current_schema_id: StrictInt

    def _check(self, metadata: TableMetadata) -> None:
        self._expect("current schema id", self.current_schema_id, metadata.current_schema_id)


class AssertLastAssignedPartitionId(TableRequirement):
    """No partition field has been added."""

    type: Literal["assert-last-assigned-partition-id"] = "assert-last-assigned-partition-id"
    last_assigned_partition_id: StrictInt | None

    def _check(self, metadata: TableMetadata) -> None:
        self._expect_stated(
            metadata, "last_partition_id", "last assigned partition id", self.last_assigned_partition_id
        )


class AssertDefaultSpecId(TableRequirement):
    """The default partition spec has not changed."""

    type: Literal["assert-default-spec-id"] = "assert-default-spec-id"
    default_spec_id: StrictInt

    def _check(self, metadata: TableMetadata) -> None:
        self._expect("default spec id", self.default_spec_id, metadata.default_spec_id)


class AssertDefaultSortOrderId(TableRequirement):
    """The default sort order has not changed."""

    type: Literal["assert-default-sort-order-id"] = "assert-default-sort-order-id"
    default_sort_order_id: StrictInt

    def _check(self, metadata: TableMetadata) -> None:
        self._expect_stated(metadata, "default_sort_order_id", "default sort order id", self.default_sort_order_id)


@functools.cache
def _adapter() -> TypeAdapter[TableRequirement]:
    """Return the reader of every requirement; building it takes a tenth of the time of an import."""
    return TypeAdapter(
        Annotated[
            AssertCreate
            | AssertTableUUID
            | AssertRefSnapshotId
            | AssertLastAssignedFieldId
            | AssertCurrentSchemaId
            | AssertLastAssignedPartitionId
            | AssertDefaultSpecId
            | AssertDefaultSortOrderId,
            Field(discriminator="type"),
        ]
    )


def requirement_from_json(value: dict[str, Any]) -> TableRequirement:
    """Return the requirement of a JSON object of the REST protocol."""
    try:
        return _adapter().validate_python(value)
    except PydanticError as error:
        raise ValidationError(explain("table requirement", error)) from error
