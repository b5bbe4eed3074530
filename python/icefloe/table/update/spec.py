"""Partition evolution: a new spec for new files; existing files keep their spec. Spec: Partition Evolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec, validate_partition_name
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


class UpdateSpec(UpdateBuilder):
    """Changes of a table's partition spec.

    Args:
        transaction: The transaction that commits them.
        case_sensitive: Whether column names must match in case.
    """

    def __init__(self, transaction: UpdatableTable, case_sensitive: bool = True) -> None:
        super().__init__(transaction)
        self._metadata = transaction.table_metadata
        self._base = self._metadata.spec()
        self._case_sensitive = case_sensitive
        self._fields: list[PartitionField] = list(self._base.fields)
        self._last_id = self._metadata.last_partition_id
        self._added: set[int] = set()

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
        """
        schema = self._metadata.schema()
        source = schema.find_field(source_column_name, self._case_sensitive)
        made = parse_transform(transform)
        if isinstance(made, (UnknownTransform, VoidTransform)) or not made.can_transform(source.field_type):
            raise ValidationError(
                f"transform {made} does not apply to column {source_column_name!r} of type {source.field_type}; "
                "choose another transform"
            )
        removed = self._removed_field(source.field_id, made)
        if removed is not None:
            return self._restore(removed, removed.name if partition_field_name is None else partition_field_name)
        self._check_not_partitioned(source.field_id, made)
        field = self._earlier_field(source.field_id, made, partition_field_name)
        if field is None:
            self._last_id += 1
            column = schema.find_column_name(source.field_id) or source.name
            name = default_name(column, made) if partition_field_name is None else partition_field_name
            field = PartitionField(source.field_id, self._last_id, made, name)
        self._added.add(field.field_id)
        self._free_name(field.name)
        validate_partition_name(field.name, made, source.field_id, schema, {each.name for each in self._fields})
        self._fields.append(field)
        return self

    def add_identity(self, source_column_name: str) -> Self:
        """Add the values of a column as a partition field."""
        return self.add_field(source_column_name, IdentityTransform())

    def remove_field(self, name: str) -> Self:
        """Remove a partition field; format version 1 replaces it by a field with the void transform, which later versions remove."""
        replaces = self._metadata.format_version == 1
        field = self._find(name, with_void=not replaces)
        position = self._fields.index(field)
        if replaces and field.field_id not in self._added:
            self._fields[position] = PartitionField(field.source_id, field.field_id, VoidTransform(), field.name)
        else:
            del self._fields[position]
        return self

    def rename_field(self, name: str, new_name: str) -> Self:
        """Rename a partition field."""
        field = self._find(name)
        self._free_name(new_name)
        others = {each.name for each in self._fields if each is not field}
        validate_partition_name(new_name, field.transform, field.source_id, self._metadata.schema(), others)
        self._fields[self._fields.index(field)] = PartitionField(
            field.source_id, field.field_id, field.transform, new_name
        )
        return self

    def _changes(self) -> UpdatesAndRequirements:
        if tuple(self._fields) == self._base.fields:
            return (), ()
        new = PartitionSpec(*self._fields, spec_id=max(self._metadata.specs()) + 1)
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

    def _find(self, name: str, *, with_void: bool = False) -> PartitionField:
        for field in self._fields:
            if field.name == name and (with_void or not isinstance(field.transform, VoidTransform)):
                return field
        if any(field.name == name for field in self._fields):
            raise ValidationError(f"cannot change partition field {name!r}: it has been removed")
        names = [field.name for field in self._fields if not isinstance(field.transform, VoidTransform)]
        raise ValidationError(
            f"no partition field is named {name!r}; "
            + (f"expected one of {', '.join(names)}" if names else "the table is unpartitioned")
        )

    def _earlier_field(self, source_id: int, transform: Transform, name: str | None) -> PartitionField | None:
        """Return the matching field of an earlier spec, or None; format version 1 does not reuse ids."""
        if self._metadata.format_version == 1:
            return None
        for spec in reversed(self._metadata.partition_specs):
            for field in spec.fields:
                if (field.source_id, field.transform) == (source_id, transform) and name in {None, field.name}:
                    return field
        return None

    def _removed_field(self, source_id: int, transform: Transform) -> PartitionField | None:
        """Return the matching field of the current spec if these changes have removed it, else None."""
        present = {(field.field_id, field.transform) for field in self._fields}
        for field in self._base.fields:
            if (field.source_id, field.transform) == (source_id, transform):
                return None if (field.field_id, field.transform) in present else field
        return None

    def _restore(self, removed: PartitionField, name: str) -> Self:
        """Put a removed field of the current spec back at its position."""
        after = {field.field_id for field in self._base.fields[self._base.fields.index(removed) :]} | self._added
        self._fields = [field for field in self._fields if field.field_id != removed.field_id]
        self._free_name(name)
        names = {field.name for field in self._fields}
        validate_partition_name(name, removed.transform, removed.source_id, self._metadata.schema(), names)
        position = sum(field.field_id not in after for field in self._fields)
        self._fields.insert(position, PartitionField(removed.source_id, removed.field_id, removed.transform, name))
        return self

    def _check_not_partitioned(self, source_id: int, transform: Transform) -> None:
        """Raise ValidationError for a transform that a column has already, or for a second unit of time among the added fields."""
        for field in self._fields:
            if field.source_id == source_id and (
                field.transform == transform
                or (field.field_id in self._added and field.transform.dedup_name == transform.dedup_name)
            ):
                raise ValidationError(
                    f"cannot add a partition field with transform {transform}: field {field.name!r} already partitions the column by "
                    f"{field.transform}"
                )

    def _free_name(self, name: str) -> None:
        """Rename a removed field of format version 1 that has a name which is needed now."""
        for position, field in enumerate(self._fields):
            if field.name == name and isinstance(field.transform, VoidTransform):
                moved = f"{field.name}_{field.field_id}"
                self._fields[position] = PartitionField(field.source_id, field.field_id, field.transform, moved)


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
