"""Partition evolution: a new spec for new files; existing files keep their spec. Spec: Partition Evolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.update.actions import AddPartitionSpecUpdate, SetDefaultSpecUpdate, TableUpdate
from icefloe.table.update.builder import UpdatableTable, UpdateBuilder, UpdatesAndRequirements
from icefloe.table.update.requirements import AssertDefaultSpecId, AssertLastAssignedPartitionId
from icefloe.transforms import (
    BucketTransform,
    IdentityTransform,
    TimeTransform,
    Transform,
    TruncateTransform,
    UnknownTransform,
    VoidTransform,
    parse_transform,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata
    from icefloe.types import NestedField


class UpdateSpec(UpdateBuilder):
    """Changes of a table's partition spec.

    Names are those of the spec before the changes, so that two fields can swap their names. A field that the same changes add can be
    neither removed nor renamed, and a field is either removed or renamed.

    Args:
        transaction: The transaction that commits them.
        case_sensitive: Whether column names must match in case.

    Raises:
        ValidationError: The spec has a transform that icefloe does not know.
    """

    opener = "update_spec()"

    def __init__(self, transaction: UpdatableTable, case_sensitive: bool = True) -> None:
        super().__init__(transaction)
        self._metadata = transaction.table_metadata
        self._base = self._metadata.spec()
        self._case_sensitive = checked_flag("case_sensitive", case_sensitive)
        for field in self._base.fields:
            if isinstance(field.transform, UnknownTransform):
                raise ValidationError(
                    f"cannot change the partition spec: field {field.name!r} has the transform {field.transform}; expected transforms "
                    "of the specification"
                )
        self._by_name = {field.name: field for field in self._base.fields}
        self._by_transform = {_key(field): field for field in self._base.fields}
        self._added: list[PartitionField] = []
        self._removed: set[int] = set()
        self._new_names: dict[str, str] = {}
        self._last_id = self._metadata.last_partition_id

    def add_field(
        self, source_column_name: str, transform: str | Transform, partition_field_name: str | None = None
    ) -> Self:
        """Add a partition field.

        A field that the same changes removed returns to its position. A field of an earlier spec with the same column and transform is
        reused with its id and name.

        Args:
            source_column_name: Full name of the column.
            transform: The transform or its text, such as ``bucket[16]``.
            partition_field_name: The field's name; None derives a name such as ``id_bucket_16`` or ``ts_day``.

        Raises:
            ResolveError: The schema has no such column.
            ValidationError: The transform does not apply to the column, or the column has it already, or the name is in use.
        """
        source = self._metadata.schema().find_field(source_column_name, self._case_sensitive)
        made = _applicable(parse_transform(transform), source_column_name, source)
        if partition_field_name is not None:
            _check_name(partition_field_name)
        existing = self._by_transform.get((source.field_id, str(made)))
        if existing is not None and existing.field_id in self._removed:
            self._removed.discard(existing.field_id)
            if partition_field_name in {None, existing.name}:
                return self
            return self.rename_field(existing.name, str(partition_field_name))
        self._check_not_partitioned(source.field_id, made)
        field = self._earlier_field(source.field_id, made, partition_field_name)
        if field is None:
            field = self._new_field(source, made, partition_field_name)
        elif field.field_id in {one.field_id for one in self._base.fields}:
            # A void field that format version 1 left behind: the reused field takes its id.
            self._removed.add(field.field_id)
        self._append(field)
        return self

    def _new_field(self, source: NestedField, transform: Transform, name: str | None) -> PartitionField:
        if name is None:
            column = self._metadata.schema().find_column_name(source.field_id) or source.name
            name = default_name(column, transform)
        return PartitionField(source.field_id, self._last_id + 1, transform, name)

    def _append(self, field: PartitionField) -> None:
        """Add a field whose name is checked and freed of void fields."""
        PartitionSpec(field).check_names(self._metadata.schema())
        self._free_name(field.name)
        self._last_id = max(self._last_id, field.field_id)
        self._added.append(field)

    def add_identity(self, source_column_name: str) -> Self:
        """Add the values of a column as a partition field."""
        return self.add_field(source_column_name, IdentityTransform())

    def remove_field(self, name: str) -> Self:
        """Remove a partition field; format version 1 replaces it by a field with the void transform, which later versions remove.

        Raises:
            ValidationError: The spec has no such field, or the same changes add or rename the field.
        """
        field = self._field(name, "remove")
        if name in self._new_names:
            raise ValidationError(
                f"cannot remove partition field {name!r}: the same changes rename it to {self._new_names[name]!r}; expected one of both"
            )
        self._removed.add(field.field_id)
        return self

    def rename_field(self, name: str, new_name: str) -> Self:
        """Rename a partition field.

        Raises:
            ValidationError: The spec has no such field, or the same changes add or remove the field.
        """
        _check_name(new_name)
        field = self._field(name, "rename")
        if field.field_id in self._removed:
            raise ValidationError(
                f"cannot rename partition field {name!r}: the same changes remove it; expected one of both"
            )
        present = self._by_name.get(new_name)
        if present is not None and isinstance(present.transform, VoidTransform):
            self.rename_field(new_name, _numbered_name(present))
        self._new_names[name] = new_name
        return self

    def _facts(self, metadata: TableMetadata) -> object:
        return metadata.default_spec_id, metadata.last_partition_id

    def _changes(self) -> UpdatesAndRequirements:
        fields = self._fields()
        if fields == self._base.fields:
            return (), ()
        new = PartitionSpec(*fields, spec_id=max(self._metadata.specs()) + 1)
        schema = self._metadata.schema()
        new.check_compatible(schema)
        new.check_names(schema)
        # A server of the Java reference refuses "the spec added last" if the table has an equal spec already.
        same = next((spec for spec in self._metadata.partition_specs if spec.compatible_with(new)), None)
        updates: tuple[TableUpdate, ...]
        if same is None:
            updates = (AddPartitionSpecUpdate(spec=new), SetDefaultSpecUpdate(spec_id=-1))
        elif same.spec_id != self._base.spec_id:
            updates = (SetDefaultSpecUpdate(spec_id=same.spec_id),)
        else:
            return (), ()
        requirements = (
            AssertDefaultSpecId(default_spec_id=self._base.spec_id),
            AssertLastAssignedPartitionId(last_assigned_partition_id=self._metadata.stated("last_partition_id")),
        )
        return updates, requirements

    def _fields(self) -> tuple[PartitionField, ...]:
        """Return the fields after the changes."""
        fields = []
        for field in self._base.fields:
            name = self._new_names.get(field.name, field.name)
            if field.field_id not in self._removed:
                fields.append(PartitionField(field.source_id, field.field_id, field.transform, name))
            elif self._metadata.format_version == 1:
                fields.append(PartitionField(field.source_id, field.field_id, VoidTransform(), name))
        return (*fields, *self._added)

    def _field(self, name: str, verb: str) -> PartitionField:
        """Return the field of a name of the spec before the changes.

        Raises:
            ValidationError: The spec has no such field, or the same changes add it.
        """
        if any(field.name == name for field in self._added):
            raise ValidationError(
                f"cannot {verb} partition field {name!r}: the same changes add it; expected a field of the table's spec"
            )
        field = self._by_name.get(name) if isinstance(name, str) else None
        if field is None:
            names = [one.name for one in self._base.fields if not isinstance(one.transform, VoidTransform)]
            raise ValidationError(
                f"no partition field is named {name!r}; "
                + (f"expected one of {', '.join(names)}" if names else "the table is unpartitioned")
            )
        return field

    def _earlier_field(self, source_id: int, transform: Transform, name: str | None) -> PartitionField | None:
        """Return the matching field of an earlier spec, or None; format version 1 does not reuse ids."""
        if self._metadata.format_version == 1:
            return None
        for spec in reversed(self._metadata.partition_specs):
            for field in spec.fields:
                if (field.source_id, field.transform) == (source_id, transform) and name in {None, field.name}:
                    return field
        return None

    def _check_not_partitioned(self, source_id: int, transform: Transform) -> None:
        """Raise ValidationError for a transform that a column has already, or for a second unit of time among the added fields."""
        existing = self._by_transform.get((source_id, str(transform)))
        if existing is None:
            alike = (source_id, transform.dedup_name)
            existing = next((one for one in self._added if (one.source_id, one.transform.dedup_name) == alike), None)
        if existing is not None:
            raise ValidationError(
                f"cannot add a partition field with transform {transform}: field {existing.name!r} already partitions the column by "
                f"{existing.transform}"
            )

    def _free_name(self, name: str) -> None:
        """Give a void or removed field of the spec another name if an added field takes its name.

        Raises:
            ValidationError: Another field has the name.
        """
        present = self._by_name.get(name)
        is_free = present is None or present.field_id in self._removed or isinstance(present.transform, VoidTransform)
        if not is_free or any(field.name == name for field in self._added):
            raise ValidationError(f"partition field name {name!r} is used twice; rename one of the fields")
        if present is not None and present.field_id in self._removed:
            self._new_names[name] = _numbered_name(present)
        elif present is not None:
            self.rename_field(name, _numbered_name(present))


def _applicable(transform: Transform, column: str, source: NestedField) -> Transform:
    """Return a transform, or raise ValidationError if it does not apply to a column."""
    if isinstance(transform, (UnknownTransform, VoidTransform)) or not transform.can_transform(source.field_type):
        raise ValidationError(
            f"transform {transform} does not apply to column {column!r} of type {source.field_type}; choose another transform"
        )
    return transform


def _key(field: PartitionField) -> tuple[int, str]:
    return field.source_id, str(field.transform)


def _numbered_name(field: PartitionField) -> str:
    return f"{field.name}_{field.field_id}"


def _check_name(name: object) -> None:
    if not isinstance(name, str) or name == "":
        raise ValidationError(f"partition field name: expected text, got {name!r}")


def default_name(column: str, transform: Transform) -> str:
    """Return the default name of a partition field.

    >>> default_name("id", BucketTransform(16))
    'id_bucket_16'
    """
    if isinstance(transform, BucketTransform):
        return f"{column}_bucket_{transform.num_buckets}"
    if isinstance(transform, TruncateTransform):
        return f"{column}_trunc_{transform.width}"
    return f"{column}_{transform}" if isinstance(transform, TimeTransform) else column
