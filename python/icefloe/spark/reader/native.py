"""Scans of a plan's files by Spark's own Parquet reader.

It is the fastest reader in Spark and prunes columns, but it does not implement Iceberg. :func:`obstacle` returns the reason why it
would return wrong rows for a plan; :func:`native_frame` builds the scan.

A row is known to be deleted by the key of its file and its position (:mod:`icefloe.spark.reader.live_rows`). The key has the size of
the file instead of its path, because text keys make a scan half as slow again. A size identifies a file only if it is unique, so
files are divided into groups of unique sizes, each one relation. Files without deletes are in a relation of their own.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.schema import Schema
from icefloe.spark.reader.deleted_positions import deleted_positions
from icefloe.spark.reader.deletion_blocks import MAX_ROWS
from icefloe.spark.reader.live_rows import without_deleted
from icefloe.spark.reader.parquet_relation import parquet_relation
from icefloe.spark.reader.predicate_text import predicate_text
from icefloe.spark.reader.pruning import misread_fields, without_wrong_pruning
from icefloe.spark.reader.row_location import FILE, POSITION, file_keys, groups_of, located_rows
from icefloe.spark.types.to_spark import read_schema, schema_value
from icefloe.table.scan.plan import has_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from icefloe.spark.reader.row_group_parts import DividedFile
    from icefloe.types import NestedField

FIELD_ID_READ = "spark.sql.parquet.fieldId.read.enabled"
# The driver reads deleted positions and broadcasts at most 72 bytes for each.
_MAX_DELETES = 5_000_000
_MAX_GROUPS = 4
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_UNREADABLE = re.compile(r'"(uuid|time|timestamp_ns|timestamptz_ns|unknown|variant|geometry.*|geography.*)"')


@dataclass(frozen=True, kw_only=True)
class NativeScan:
    """The input of a scan by Spark's own reader.

    Args:
        files: The plan's files, whole.
        deletes: The plan's delete files.
        schema: Schema of the columns to read.
        schemas: All schemas of the table's metadata.
        name_mapped: The table has a name mapping, so files may have no field ids.
        field_ids: Spark's reader resolves columns by id in this session.
        io: Storage, to read position deletes and to check file sizes.
        divided: Files that are read in parts, each part by tasks of its own.
    """

    files: pa.RecordBatch
    deletes: pa.RecordBatch
    schema: Schema
    schemas: Sequence[Schema]
    name_mapped: bool
    field_ids: bool
    io: Any
    divided: tuple[DividedFile, ...] = ()

    @property
    def misread(self) -> frozenset[int]:
        """The ids of the fields by which Spark's reader would prune wrongly."""
        return misread_fields(self.schema, self.schemas)


def obstacle(scan: NativeScan, *, located: bool = False) -> str | None:
    """Return the reason why Spark's reader would return wrong rows; None if it returns the right ones.

    Args:
        scan: Input of the scan.
        located: The scan returns the file and position of each row as well.
    """
    return _schema_obstacle(scan) or _file_obstacle(scan) or _delete_obstacle(scan, located=located)


def unread_columns(scan: NativeScan, fields: Sequence[NestedField]) -> Iterator[NestedField]:
    """Yield the fields that a scan does not read, that Spark's reader would find, and by whose conditions it prunes rightly."""
    names = {field.name.lower() for field in scan.schema.fields}
    for field in fields:
        alone = replace(scan, schema=Schema(field))
        if field.name.lower() not in names and _schema_obstacle(alone) is None and not alone.misread:
            yield field


def native_frame(spark: Any, scan: NativeScan, *, condition: str | None = None, located: bool = False) -> DataFrame:
    """Return the live rows of a plan for which :func:`obstacle` returned None.

    Args:
        spark: Session.
        scan: Input of the scan.
        condition: SQL text of a condition that the rows meet; None for all rows. Spark evaluates it before it looks for deletes,
            unless it would prune wrongly by one of the columns.
        located: Add ``__icefloe_file`` (one of :func:`file_keys`) and ``__icefloe_pos``.
    """
    first = None if scan.misread else condition
    struct = read_schema(scan.schema, field_ids=True)
    keys, dirty = file_keys(scan.files), has_deletes(scan.files)
    everything = pa.array(np.zeros(len(keys), dtype=np.int64))
    parts: list[DataFrame] = []
    for group, paths in _grouped(scan.files, pc.invert(dirty), groups_of(keys) if located else everything):
        parts += _where(first, _relations(spark, scan, paths, group if located else None))
    if pc.any(dirty).as_py():
        remaining = without_deleted(spark, deleted_positions(scan.io, scan.files, scan.deletes, keys))
        for group, paths in _grouped(scan.files, dirty, groups_of(keys)):
            for relation in _where(first, _relations(spark, scan, paths, group)):
                rows = remaining(relation)
                parts.append(rows if located else rows.drop(FILE, POSITION))
    if not parts:
        empty = parquet_relation(spark, struct, [])
        no_positions = [F.lit(None).cast("long").alias(FILE), F.lit(None).cast("long").alias(POSITION)]
        return empty.select("*", *no_positions) if located else empty
    rows = functools.reduce(lambda left, right: left.union(right), parts)
    rows = without_wrong_pruning(rows, struct, scan.misread)
    return rows.where(condition) if condition is not None and first is None else rows


def _schema_obstacle(scan: NativeScan) -> str | None:
    if any(field.name.lower() == "_metadata" for field in scan.schema.fields):
        return "a column is called _metadata, as Spark's column of file metadata"
    if any("." in path[-1] for path, _, _ in _fields(schema_value(scan.schema), ())):
        return "a column has a dot in its name, which Spark's filters take for a struct field"
    text = scan.schema.model_dump_json()
    unreadable = _UNREADABLE.search(text)
    if unreadable is not None:
        return f"a column has type {unreadable[1]}, which Spark's Parquet reader does not read"
    if '"initial-default"' in text:
        return "a column has an initial default, which Spark's Parquet reader does not apply"
    if scan.name_mapped:
        return "the table has a name mapping, so files may have no field ids"
    if _lacks_schemas(scan.schemas):
        return "schemas were removed from the table's metadata, and their files may have other names of columns"
    if not scan.field_ids and not _names_identify_columns(scan):
        return f"columns were renamed or have names that Parquet changes: set {FIELD_ID_READ}=true so that Spark finds them by id"
    confused = _confused_name(scan)
    if confused is not None:
        return f"another column was called {confused}, and Spark takes the type of a file's column from the column of this name"
    unfound = _unfound_struct(scan)
    if unfound is not None:
        return f"Spark finds {unfound} by its name if it reads only some fields of it, and files have another name"
    return None


def _lacks_schemas(schemas: Sequence[Schema]) -> bool:
    """Return whether schemas were removed from a table's metadata: their ids count from 0."""
    ids = {one.schema_id for one in schemas}
    return ids != set(range(max(ids) + 1))


def _names_identify_columns(scan: NativeScan) -> bool:
    """Return whether in all schemas each name has one id and each id one name, so that names find the same columns as ids."""
    ids: dict[str, int] = {}
    names: dict[int, str] = {}
    for schema in [*scan.schemas, scan.schema]:
        for path, field_id, _ in _fields(schema_value(schema), ()):
            plain, name = all(map(_PLAIN_NAME.fullmatch, path)), ".".join(path)
            if (
                not plain
                or ids.setdefault(name.lower(), field_id) != field_id
                or names.setdefault(field_id, name) != name
            ):
                return False
    return True


def _confused_name(scan: NativeScan) -> str | None:
    """Return a name that columns of different types have, one of them to be read; None without such a name."""
    kinds: dict[str, dict[int, Any]] = {}
    for schema in [*scan.schemas, scan.schema]:
        for path, field_id, kind in _fields(schema_value(schema), ()):
            # Structs, lists and maps have ids within, which differ.
            shown = kind if isinstance(kind, str) else field_id
            kinds.setdefault(".".join(path).lower(), {})[field_id] = shown
    names = (".".join(path) for path, _, _ in _fields(schema_value(scan.schema), ()))
    return next((name for name in names if len(set(kinds[name.lower()].values())) > 1), None)


def _unfound_struct(scan: NativeScan) -> str | None:
    """Return the name of a column with a struct that files may have under another name; None without such a column."""
    for field in schema_value(scan.schema)["fields"]:
        names = {one.name for schema in scan.schemas for one in schema.fields if one.field_id == field["id"]}
        is_found = names <= {field["name"]} and _PLAIN_NAME.fullmatch(field["name"])
        if not is_found and any("fields" in kind for _, _, kind in _fields({"fields": [field]}, ())):
            return str(field["name"])
    return None


def _fields(iceberg_type: Any, outer: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int, Any]]:
    """Yield the path of names, the id and the type of every field at any depth."""
    if isinstance(iceberg_type, str):
        return
    for field in iceberg_type.get("fields", []):
        yield (*outer, field["name"]), field["id"], field["type"]
        yield from _fields(field["type"], (*outer, field["name"]))
    for inner in ("element", "key", "value"):
        if inner in iceberg_type:
            yield (*outer, inner), iceberg_type[f"{inner}-id"], iceberg_type[inner]
            yield from _fields(iceberg_type[inner], (*outer, inner))


def _file_obstacle(scan: NativeScan) -> str | None:
    formats = pc.unique(pc.utf8_upper(scan.files.column("file_format"))).to_pylist()
    others = [name for name in formats if name != "PARQUET"]
    if others:
        return f"some data files are {others[0]}"
    hidden = pc.match_substring_regex(scan.files.column("file_path"), r"/[._][^/]*$")
    if pc.any(hidden).as_py():
        return "the name of a file starts with '.' or '_', and Spark ignores such files"
    if pc.count_distinct(scan.files.column("file_path")).as_py() < scan.files.num_rows:
        return "the plan has a file twice, and Spark would read it once"
    return None


def _delete_obstacle(scan: NativeScan, *, located: bool) -> str | None:
    keys = file_keys(scan.files)
    dirty = has_deletes(scan.files)
    paired = scan.files if located else scan.files.filter(dirty)
    if paired.num_rows > 0 and len(pc.unique(groups_of(keys))) > _MAX_GROUPS:
        return f"too many files have the same size: more than {_MAX_GROUPS}"
    if not pc.any(dirty).as_py():
        return _size_obstacle(paired, scan.io)
    if pc.any(pc.not_equal(scan.deletes.column("content"), 1)).as_py():
        return "some delete files are equality deletes"
    if pc.any(pc.not_equal(pc.utf8_upper(scan.deletes.column("file_format")), "PARQUET")).as_py():
        return "some delete files are not Parquet"
    if pc.max(scan.files.column("record_count")).as_py() >= MAX_ROWS:
        return f"a file has {MAX_ROWS:,} rows or more"
    positions = pc.sum(scan.deletes.column("record_count")).as_py()
    if positions > _MAX_DELETES:
        return f"{positions:,} position deletes are too many to broadcast: the limit is {_MAX_DELETES:,}"
    return _size_obstacle(paired, scan.io)


def _size_obstacle(files: pa.RecordBatch, io: Any) -> str | None:
    """Return a reason if the size of a file differs from its manifest entry: the key of its rows would be wrong."""
    if files.num_rows == 0:
        return None
    paths = files.column("file_path")
    wrong = paths.filter(pc.not_equal(io.sizes(paths.to_pylist()), files.column("file_size_in_bytes")))
    return f"the size of {wrong[0]} differs from its manifest entry" if len(wrong) > 0 else None


def _grouped(files: pa.RecordBatch, mask: pa.Array, groups: pa.Array) -> Iterator[tuple[int, list[str]]]:
    """Yield each group of the masked files with the paths of its files."""
    for group in pc.unique(groups.filter(mask)).to_pylist():
        yield group, files.column("file_path").filter(pc.and_(mask, pc.equal(groups, group))).to_pylist()


def _relations(spark: Any, scan: NativeScan, paths: list[str], group: int | None) -> Iterator[DataFrame]:
    """Yield the rows of files: one relation, and one for each part of a divided file; with positions if their group is given."""
    located = (lambda rows: rows) if group is None else functools.partial(located_rows, group=group)
    divided = [file for file in scan.divided if file.path in paths]
    whole = [path for path in paths if all(path != file.path for file in divided)]
    if whole:
        yield located(parquet_relation(spark, read_schema(scan.schema, field_ids=True), whole))
    for file in divided:
        is_read = any(field.field_id == file.column.field_id for field in scan.schema.fields)
        schema = scan.schema if is_read else Schema(*scan.schema.fields, file.column)
        relation = parquet_relation(spark, read_schema(schema, field_ids=True), [file.path])
        for part in file.parts:
            rows = located(relation.where(predicate_text(part, schema_value(schema))))
            yield rows if is_read else rows.drop(file.column.name)


def _where(condition: str | None, frames: Iterator[DataFrame]) -> Iterator[DataFrame]:
    """Yield the rows of frames that meet a condition; all rows if it is None."""
    return frames if condition is None else (frame.where(condition) for frame in frames)
