"""A table and a model of it that are changed together; the model is rows in memory, by field id."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pyarrow as pa
from icefloe.catalog import Catalog
from icefloe.schema import Schema, assign_fresh_type_ids
from icefloe.table import Table
from icefloe.transforms import parse_transform
from icefloe.types import NestedField, PrimitiveType, type_from_text
from icefloe.types.arrow import storage_schema

from tests.exact_rows import text
from tests.property.key_files import key_files
from tests.property.random_filter import random_filter
from tests.property.random_schema import (
    PROMOTED,
    TRANSFORMS,
    leaves,
    named,
    random_type,
    random_value,
    structs,
)

NAMES = ["a", "b", "c d", "É", "e-f", "G", "id", "_1"]
MODES = ["copy-on-write", "merge-on-read"]
# A key is compared by its bits, a filter by its number: floats are left to the tests of that.
KEY_TYPES = {
    "boolean",
    "int",
    "long",
    "date",
    "time",
    "timestamp",
    "timestamptz",
    "string",
    "uuid",
    "fixed[3]",
    "binary",
}


class TableModel:
    """A random table."""

    formats: tuple[str, ...] = ("parquet", "parquet", "avro")

    def __init__(self, catalog: Catalog, rng: Random) -> None:
        self.rng = rng
        self.rows: list[dict[int, Any]] = []
        self.history: list[tuple[int, list[str], list[tuple[str, ...]]]] = []
        self.numbers = itertools.count()
        self.log: list[str] = []
        names = rng.sample(NAMES, rng.randint(2, 5))
        ids = itertools.count(100)
        types = [assign_fresh_type_ids(random_type(rng), lambda: next(ids)) for _ in names]
        fields = [
            NestedField(n, name, kind, required=rng.random() < 0.15)
            for n, (name, kind) in enumerate(zip(names, types, strict=True), 1)
        ]
        fields.append(NestedField(99, "key", type_from_text(rng.choice(["int", "long", "string", "date"]))))
        properties = {"format-version": rng.choice(["1", "2", "2"]), "write.format.default": rng.choice(self.formats)}
        self.table: Table = catalog.create_table("db.t", Schema(*fields), properties=properties)
        self.seen = {each.field_id for each in self.schema.fields}

    @property
    def schema(self) -> Schema:
        return self.table.schema()

    @property
    def struct(self) -> Any:
        return self.schema.as_struct()

    def weighted(self) -> dict[Any, int]:
        """The changes of a step, and how often each is drawn."""
        return {
            self.append: 5, self.delete: 4, self.overwrite: 2, self.delete_keys: 2, self.add_column: 2, self.drop_column: 1,
            self.rename_column: 2, self.promote_column: 2, self.move_column: 1, self.relax_column: 1, self.partition: 2,
            self.unpartition: 1, self.sort: 1, self.upgrade: 1,
        }  # fmt: skip

    def step(self) -> None:
        """Change the table in a random way, the model likewise."""
        weighted = self.weighted()
        change = self.rng.choices(list(weighted), list(weighted.values()))[0]
        before = None if self.table.current_snapshot() is None else self.table.current_snapshot().snapshot_id
        self.log.append(f"{change.__name__} {change() or ''}")
        snapshot = self.table.current_snapshot()
        if snapshot is not None and snapshot.snapshot_id != before:
            self.remember(snapshot.snapshot_id, self.rows)

    def remember(self, snapshot_id: int, rows: list[dict[int, Any]]) -> None:
        """Record the rows of a new snapshot."""
        self.history.append((snapshot_id, self.names(), self.expected(rows=rows)))

    # ---- what is expected

    def names(self) -> list[str]:
        return [each.name for each in self.schema.fields]

    def expected(
        self, condition: Any = None, names: list[str] | None = None, rows: list[dict[int, Any]] | None = None
    ) -> list[tuple[str, ...]]:
        """The rows of a filter as text, in order, of some columns or of all; of the rows of main if `rows` is not given."""
        fields = [self.schema.find_field(name) for name in (self.names() if names is None else names)]
        kept = [row for row in (self.rows if rows is None else rows) if condition is None or condition.holds(row)]
        return sorted(tuple(text(named(row.get(f.field_id), f.field_type)) for f in fields) for row in kept)

    def arrow(self, rows: list[dict[int, Any]]) -> pa.Table:
        return pa.Table.from_pylist(
            [named(row, self.struct) for row in rows], schema=storage_schema(self.schema.as_arrow())
        )

    # ---- changes of rows

    def new_rows(self) -> list[dict[int, Any]]:
        return [random_value(self.rng, self.struct, required=True) for _ in range(self.rng.randint(1, 12))]

    def append(self) -> str:
        rows = self.new_rows()
        self.table.append(self.arrow(rows))
        self.rows += rows
        return f"{len(rows)} rows"

    def choose_mode(self) -> str:
        mode = self.rng.choice(MODES if self.table.format_version > 1 else MODES[:1])
        granularity = self.rng.choice(["file", "partition"])
        with self.table.transaction() as change:
            change.set_properties({"write.delete.mode": mode, "write.delete.granularity": granularity})
        return mode

    def delete(self) -> str:
        mode, condition = self.choose_mode(), random_filter(self.rng, self.struct)
        self.table.delete(condition.expression())
        self.rows = [row for row in self.rows if not condition.holds(row)]
        return f"{mode} {condition}"

    def overwrite(self) -> str:
        condition, rows = random_filter(self.rng, self.struct), self.new_rows()
        self.table.overwrite(self.arrow(rows), condition.expression())
        self.rows = [row for row in self.rows if not condition.holds(row)] + rows
        return f"{condition}, {len(rows)} rows"

    def delete_keys(self) -> str:
        """Delete by the equality of some columns, with values that are there, nulls among them."""
        free = [spec.spec_id for spec in self.table.specs().values() if not spec.fields]
        fields = [each for each in self.schema.fields if str(each.field_type) in KEY_TYPES]
        if self.table.format_version < 2 or not (free and fields and self.rows):
            return "none"
        chosen = self.rng.sample(fields, min(len(fields), self.rng.randint(1, 2)))
        keys = [
            {f.field_id: row.get(f.field_id) for f in chosen}
            for row in self.rng.sample(self.rows, min(3, len(self.rows)))
        ]
        schema = Schema(*(NestedField(f.field_id, f.name, f.field_type) for f in chosen))
        data = pa.Table.from_pylist([named(key, schema.as_struct()) for key in keys], schema=schema.as_arrow())
        files = key_files(self.table, schema, data, spec_id=free[0], partition=(), number=next(self.numbers))
        self.table.new_row_delta().add_deletes(files).commit()
        deleted = {tuple(key.values()) for key in keys}
        self.rows = [row for row in self.rows if tuple(row.get(f.field_id) for f in chosen) not in deleted]
        return f"{[f.name for f in chosen]} {keys}"

    # ---- changes of columns

    def add_column(self) -> str | None:
        path, struct = self.rng.choice(structs(self.struct))
        free = sorted(set(NAMES) - {each.name for each in struct.fields})
        if not free:
            return None
        name, kind = self.rng.choice(free), random_type(self.rng)
        with self.table.update_schema() as update:
            update.add_column((*path, name), kind)
        found = self.schema.find_field(".".join((*path, name))).field_id
        assert found not in self.seen, "an id is used again"
        self.seen.add(found)
        return f"{path} {name} {kind}"

    def sources(self) -> set[int]:
        return {field.source_id for field in self.table.spec().fields}

    def drop_column(self) -> str | None:
        path, struct = self.rng.choice(structs(self.struct))
        kept = self.sources() | {field.source_id for field in self.table.sort_order().fields}
        free = [f for f in struct.fields if f.name != "key" and not kept & set(ids_within(f))]
        if len(struct.fields) < 2 or not free:
            return None
        name = self.rng.choice(free).name
        with self.table.update_schema() as update:
            update.delete_column((*path, name))
        return f"{path} {name}"

    def rename_column(self) -> str | None:
        path, struct = self.rng.choice(structs(self.struct))
        taken = {each.name for each in struct.fields} | {field.name for field in self.table.spec().fields}
        free = sorted(set(NAMES) - taken)
        fields = [each.name for each in struct.fields if each.name != "key"]
        if not free or not fields:
            return None
        old, new = self.rng.choice(fields), self.rng.choice(free)
        with self.table.update_schema() as update:
            update.rename_column((*path, old), new)
        return f"{path} {old} to {new}"

    def promote_column(self) -> str | None:
        fields = [(names, str(kind)) for names, _, kind in leaves(self.struct) if str(kind) in PROMOTED]
        if not fields:
            return None
        path, kind = self.rng.choice(fields)
        with self.table.update_schema() as update:
            update.update_column(path, field_type=type_from_text(PROMOTED[kind]))
        return f"{path} {kind}"

    def move_column(self) -> str:
        path, struct = self.rng.choice(structs(self.struct))
        name = self.rng.choice(struct.fields).name
        with self.table.update_schema() as update:
            update.move_first((*path, name))
        return f"{path} {name}"

    def relax_column(self) -> str | None:
        required = [each.name for each in self.schema.fields if each.required]
        if not required:
            return None
        name = self.rng.choice(required)
        with self.table.update_schema() as update:
            update.make_column_optional(name)
        return name

    # ---- changes of the layout

    def partition(self) -> str | None:
        found = []
        for names, ids, kind in leaves(self.struct):
            usable = [each for each in TRANSFORMS if parse_transform(each).can_transform(kind)]
            found += [(names, each) for each in usable if ids[-1] not in self.sources()]
        if not found or len(self.table.spec().fields) > 4:
            return None
        names, transform = self.rng.choice(found)
        with self.table.update_spec() as update:
            update.add_field(".".join(names), parse_transform(transform), f"part {next(self.numbers)}")
        return f"{names} {transform}"

    def unpartition(self) -> str | None:
        fields = [each for each in self.table.spec().fields if str(each.transform) != "void"]
        if not fields:
            return None
        name = self.rng.choice(fields).name
        with self.table.update_spec() as update:
            update.remove_field(name)
        return name

    def sort(self) -> str:
        names, _, _ = self.rng.choice(leaves(self.struct))
        with self.table.update_sort_order() as update:
            update.asc(".".join(names), parse_transform("identity"))
        return str(names)

    def upgrade(self) -> None:
        if self.table.format_version == 1:
            with self.table.transaction() as change:
                change.upgrade_table_version(2)


def ids_within(field: NestedField) -> list[int]:
    """The ids of a field and of the fields of structs inside it."""
    if isinstance(field.field_type, PrimitiveType) or not hasattr(field.field_type, "fields"):
        return [field.field_id]
    return [field.field_id, *(each for child in field.field_type.fields for each in ids_within(child))]
