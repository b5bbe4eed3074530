"""Schema evolution: adding, dropping, renaming, widening and moving columns. Field ids stay the same, so no file is rewritten.

Spec: Schema Evolution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.arguments import checked_flag
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, ValidationError
from icefloe.schema import Schema, assign_fresh_type_ids, child_fields, promote
from icefloe.table.update import column_names, schema_edit
from icefloe.table.update.actions import AddSchemaUpdate, SetCurrentSchemaUpdate, TableUpdate
from icefloe.table.update.builder import UpdatableTable, UpdateBuilder, UpdatesAndRequirements
from icefloe.table.update.requirements import AssertCurrentSchemaId, AssertLastAssignedFieldId
from icefloe.transforms import VoidTransform
from icefloe.types import (
    DecimalType,
    DoubleType,
    IcebergType,
    LongType,
    MapType,
    NestedField,
    StructType,
    type_from_json,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

    from icefloe.table.metadata import TableMetadata

Path = str | tuple[str, ...]


class UpdateSchema(UpdateBuilder):
    """Changes of a table's schema, applied in order.

    A name refers to the column that had it before the changes, so that two columns can swap their names, and else to a column that the
    changes added or renamed. `set_identifier_fields` takes names after the changes.

    Args:
        transaction: The transaction that commits them.
        allow_incompatible_changes: Whether required columns may be added and optional columns made required.
        case_sensitive: Whether names must match in case.
    """

    opener = "update_schema()"

    def __init__(
        self, transaction: UpdatableTable, allow_incompatible_changes: bool = False, case_sensitive: bool = True
    ) -> None:
        super().__init__(transaction)
        metadata = transaction.table_metadata
        self._base = metadata.schema()
        self._schema = self._base
        self._base_last_column_id = metadata.last_column_id
        self._stated_last_column_id = metadata.stated("last_column_id")
        self._last_column_id = metadata.last_column_id
        self._allow_incompatible_changes = checked_flag("allow_incompatible_changes", allow_incompatible_changes)
        self._case_sensitive = checked_flag("case_sensitive", case_sensitive)

    def case_sensitive(self, case_sensitive: bool) -> Self:
        """Set whether names must match in case."""
        self._case_sensitive = checked_flag("case_sensitive", case_sensitive)
        return self

    def add_column(
        self,
        path: Path,
        field_type: IcebergType | str,
        doc: str | None = None,
        required: bool = False,
        default_value: Any = None,
    ) -> Self:
        """Add a column at the end of its struct, under a new id.

        Args:
            path: The column's name; a tuple of names for a field inside a struct, a list or a map.
            field_type: The column's type; nested fields get new ids.
            doc: The column's comment.
            required: Whether nulls are rejected. Existing rows have no value, so this needs `allow_incompatible_changes`.
            default_value: Not supported: default values need format version 3.
        """
        if default_value is not None:
            raise FeatureUnsupportedError(
                f"cannot add column {path!r} with a default value: default values need format version 3, which icefloe does not write"
            )
        if isinstance(path, str) and "." in path:
            raise ValidationError(f"Cannot add column with ambiguous name: {path}, provide a tuple instead")
        *around, name = schema_edit.levels_of(path)
        if required and not self._allow_incompatible_changes:
            raise ValidationError(
                f"Incompatible change: cannot add required column: {name}; existing rows have no value for it, so pass "
                "allow_incompatible_changes=True to update_schema() if the table is empty"
            )
        owner_id = self._struct_for(tuple(around))
        if self._struct(owner_id).field_by_name(name, self._case_sensitive) is not None:
            raise ValidationError(f"Cannot add column, name already exists: {'.'.join((*around, name))}")
        kind = field_type if isinstance(field_type, IcebergType) else type_from_json(field_type)
        field_id = self._next_id()
        field = NestedField(field_id, name, assign_fresh_type_ids(kind, self._next_id), required, doc)
        return self._edit(lambda struct: schema_edit.edit_fields(struct, owner_id, lambda fields: (*fields, field)))

    def delete_column(self, path: Path) -> Self:
        """Drop a column; its values stay in the files but are not read any more."""
        field = self._find(path)
        if field.field_id in self._schema.identifier_field_ids:
            raise ValidationError(
                f"cannot drop column {field.name!r}: it is an identifier field; call set_identifier_fields() without it first"
            )
        inside = {
            child for child in self._schema.field_ids if field.field_id in schema_edit.ancestors(self._schema, child)
        }
        if inside & set(self._schema.identifier_field_ids):
            raise ValidationError(
                f"cannot drop column {field.name!r}: it contains an identifier field; call set_identifier_fields() without that "
                "field first"
            )
        owner_id = self._owner(field)
        return self._edit(
            lambda struct: schema_edit.edit_fields(
                struct, owner_id, lambda fields: tuple(each for each in fields if each.field_id != field.field_id)
            )
        )

    def rename_column(self, path_from: Path, new_name: str) -> Self:
        """Give a column another name, within its struct."""
        field = self._find(path_from)
        self._owner(field)
        schema_edit.levels_of((new_name,))
        return self._replace(field.with_(name=new_name))

    def update_column(
        self,
        path: Path,
        field_type: IcebergType | str | None = None,
        required: bool | None = None,
        doc: str | None = None,
    ) -> Self:
        """Change a column's type, nullability or comment; None leaves it unchanged.

        A type can be widened only: int to long, float to double, and a decimal to a higher precision of the same scale.
        """
        field = self._find(path)
        if schema_edit.is_map_key(self._schema, field.field_id):
            raise ValidationError(f"Cannot alter map keys: {field.name}; add a column with another map")
        if field_type is not None:
            kind = field_type if isinstance(field_type, IcebergType) else type_from_json(field_type)
            if kind != field.field_type:
                field = field.with_(field_type=_widened(field, kind))
        if required is not None and required != field.required:
            if required and not self._allow_incompatible_changes:
                raise ValidationError(
                    f"Cannot change column nullability: {field.name}: optional -> required; existing rows may have no "
                    "value for it, so pass allow_incompatible_changes=True to update_schema() if none is null"
                )
            if not required and field.field_id in self._schema.identifier_field_ids:
                raise ValidationError(
                    f"cannot make column {field.name!r} optional: it is an identifier field; call set_identifier_fields() without "
                    "it first"
                )
            field = field.with_(required=required)
        return self._replace(field if doc is None else field.with_(doc=doc))

    def make_column_optional(self, path: Path) -> Self:
        """Allow nulls in a column."""
        return self.update_column(path, required=False)

    def set_default_value(self, path: Path, default_value: Any) -> Self:
        """Raise FeatureUnsupportedError: default values need format version 3."""
        raise FeatureUnsupportedError(
            f"cannot set default value {default_value!r} of column {path!r}: default values need format version 3, which icefloe does "
            "not write"
        )

    def set_identifier_fields(self, *fields: str) -> Self:
        """Set the columns that together identify a row; without arguments the schema has none."""
        ids = sorted({self._find_renamed(name).field_id for name in fields})
        self._schema = Schema(fields=self._schema.fields, schema_id=self._schema.schema_id, identifier_field_ids=ids)
        return self

    def move_first(self, path: Path) -> Self:
        """Move a column to the start of its struct."""
        return self._move(path, lambda _others: 0)

    def move_before(self, path: Path, before_path: Path) -> Self:
        """Move a column before another column of its struct."""
        other = self._sibling(path, before_path)
        return self._move(path, lambda ids: ids.index(other))

    def move_after(self, path: Path, after_name: Path) -> Self:
        """Move a column after another column of its struct."""
        other = self._sibling(path, after_name)
        return self._move(path, lambda ids: ids.index(other) + 1)

    def union_by_name(self, new_schema: Schema | pa.Schema) -> Self:
        """Add the columns of another schema that are missing here, and adopt its wider types and optional columns.

        Columns are matched by name. No column is dropped or narrowed. Added columns are optional.
        """
        if not isinstance(new_schema, Schema):
            from icefloe.io.pyarrow import pyarrow_to_schema

            new_schema = pyarrow_to_schema(new_schema)
        self._union((), new_schema.as_struct(), self._schema.as_struct())
        return self

    def _union(self, path: tuple[str, ...], new: IcebergType, old: IcebergType) -> None:
        if type(new) is not type(old):
            raise _narrowing(".".join(path), old, new)
        for field in child_fields(new):
            here = (*path, field.name)
            present = _child_by_name(old, field.name, case_sensitive=self._case_sensitive)
            if present is None:
                self.add_column(here, field.field_type, field.doc)
                continue
            here = (*path, present.name)
            if not field.field_type.is_primitive or not present.field_type.is_primitive:
                self._union(here, field.field_type, present.field_type)
            elif field.field_type != present.field_type and not _reads_as(field.field_type, present.field_type):
                self.update_column(here, field.field_type)
            if present.required and not field.required and not schema_edit.is_map_key(self._schema, present.field_id):
                self.make_column_optional(here)
            if field.doc is not None and field.doc != present.doc:
                self.update_column(here, doc=field.doc)

    def _facts(self, metadata: TableMetadata) -> object:
        return metadata.current_schema_id, metadata.last_column_id

    def _changes(self) -> UpdatesAndRequirements:
        self._schema = self._checked()
        if self._schema == self._base:
            return (), ()
        metadata = self._transaction.table_metadata
        self._check_sources(metadata)
        requirements = (AssertCurrentSchemaId(current_schema_id=self._base.schema_id),)
        same = next((schema for schema in metadata.schemas if schema == self._schema), None)
        updates: tuple[TableUpdate, ...]
        if same is not None:
            updates = (SetCurrentSchemaUpdate(schema_id=same.schema_id),)
        else:
            added = AddSchemaUpdate(schema_=self._schema, last_column_id=self._last_column_id)
            updates = (added, SetCurrentSchemaUpdate(schema_id=-1))
        follow = column_names.property_updates(metadata.properties, self._base, self._schema)
        if self._last_column_id != self._base_last_column_id:
            assigned = AssertLastAssignedFieldId(last_assigned_field_id=self._stated_last_column_id)
            return (*updates, *follow), (*requirements, assigned)
        return (*updates, *follow), requirements

    def _check_sources(self, metadata: TableMetadata) -> None:
        """Raise ValidationError if the changes drop a column that the partition spec or the sort order uses."""
        dropped = self._base.field_ids - self._schema.field_ids
        for field in metadata.spec().fields:
            if field.source_id in dropped and not isinstance(field.transform, VoidTransform):
                raise ValidationError(
                    f"cannot drop column {self._base.find_column_name(field.source_id)!r}: partition field {field.name} is computed "
                    f"from it; call update_spec().remove_field({field.name!r}) first"
                )
        for key in metadata.sort_order().fields:
            if key.source_id in dropped:
                raise ValidationError(
                    f"cannot drop column {self._base.find_column_name(key.source_id)!r}: the sort order uses it; replace the order "
                    "with update_sort_order() first"
                )

    def _next_id(self) -> int:
        self._last_column_id += 1
        return self._last_column_id

    def _find(self, path: Path) -> NestedField:
        """Return a field by the name that it had before the changes, else by its name after the changes so far."""
        name = ".".join(schema_edit.levels_of(path))
        earlier = _field_or_none(self._base, name, self._case_sensitive)
        if earlier is not None and earlier.field_id in self._schema.field_ids:
            return self._schema.find_field(earlier.field_id)
        return self._schema.find_field(name, self._case_sensitive)

    def _find_renamed(self, name: str) -> NestedField:
        """Return a field by its name after the changes so far, else by the name that it had before them."""
        found = _field_or_none(self._schema, name, self._case_sensitive)
        return found if found is not None else self._find(name)

    def _struct_for(self, path: tuple[str, ...]) -> int:
        """Return the id of the field whose struct takes new fields, through lists and map values; -1 for the schema itself."""
        if not path:
            return schema_edit.ROOT
        field = self._find(path)
        while not isinstance(field.field_type, StructType):
            children = child_fields(field.field_type)
            if not children:
                raise ValidationError(
                    f"Cannot add column to non-struct type: {field.name}; expected a struct, got {field.field_type}"
                )
            field = children[-1]
        return field.field_id

    def _struct(self, owner_id: int) -> StructType:
        """Return the struct of a field after the changes so far; -1 stands for the schema itself."""
        kind = self._schema.as_struct() if owner_id == schema_edit.ROOT else self._schema.find_type(owner_id)
        assert isinstance(kind, StructType), "fields are added to structs only"
        return kind

    def _owner(self, field: NestedField) -> int:
        owner_id = schema_edit.owner_of(self._schema, field.field_id)
        if owner_id != schema_edit.ROOT and not self._schema.find_type(owner_id).is_struct:
            kind = "map" if isinstance(self._schema.find_type(owner_id), MapType) else "list"
            raise ValidationError(f"cannot drop, rename or move the {field.name} of a {kind}")
        return owner_id

    def _sibling(self, path: Path, other: Path) -> int:
        mine, theirs = self._find(path), self._find(other)
        if mine.field_id == theirs.field_id:
            raise ValidationError(f"Cannot move {mine.name} before itself or after itself")
        if self._owner(mine) != self._owner(theirs):
            raise ValidationError(
                f"Cannot move field {mine.name} to a different struct: expected another column of its struct, got {theirs.name}"
            )
        return theirs.field_id

    def _move(self, path: Path, position: Any) -> Self:
        field = self._find(path)
        owner_id = self._owner(field)

        def moved(fields: tuple[NestedField, ...]) -> tuple[NestedField, ...]:
            others = [each for each in fields if each.field_id != field.field_id]
            others.insert(position([each.field_id for each in others]), field)
            return tuple(others)

        return self._edit(lambda struct: schema_edit.edit_fields(struct, owner_id, moved))

    def _replace(self, field: NestedField) -> Self:
        return self._edit(lambda struct: schema_edit.replace_field(struct, field))

    def _edit(self, change: Any) -> Self:
        # Checked with the last change: between the two renames of a swap, two columns have the same name.
        self._schema = Schema.model_construct(
            fields=change(self._schema.as_struct()).fields,
            schema_id=self._schema.schema_id,
            identifier_field_ids=self._schema.identifier_field_ids,
        )
        return self

    def _checked(self) -> Schema:
        return Schema(
            fields=self._schema.fields,
            schema_id=self._schema.schema_id,
            identifier_field_ids=self._schema.identifier_field_ids,
        )


def _widened(field: NestedField, kind: IcebergType) -> IcebergType:
    """Return the wider type of a column; raise ValidationError if the specification does not allow the promotion."""
    if not field.field_type.is_primitive or not isinstance(kind, (LongType, DoubleType, DecimalType)):
        raise _narrowing(field.name, field.field_type, kind)
    try:
        return promote(field.field_type, kind)
    except ResolveError as error:
        raise _narrowing(field.name, field.field_type, kind) from error


def _narrowing(name: str, old: IcebergType, new: IcebergType) -> ValidationError:
    return ValidationError(
        f"Cannot change column type: {name}: {old} -> {new}; "
        "expected int to long, float to double, or a decimal to a higher precision of the same scale"
    )


def _field_or_none(schema: Schema, name: str, case_sensitive: bool) -> NestedField | None:
    try:
        return schema.find_field(name, case_sensitive)
    except ResolveError:
        return None


def _reads_as(file_type: IcebergType, read_type: IcebergType) -> bool:
    """Return whether values of one type can be read as another type."""
    try:
        promote(file_type, read_type)
    except ResolveError:
        return False
    return True


def _child_by_name(kind: IcebergType, name: str, *, case_sensitive: bool) -> NestedField | None:
    if isinstance(kind, StructType):
        return kind.field_by_name(name, case_sensitive)
    return next((field for field in child_fields(kind) if field.name == name), None)
