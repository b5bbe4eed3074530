"""CACHE TABLE and UNCACHE TABLE of attached tables, whose rows queries of the session then read from Spark's cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import StorageLevel

from icefloe.exceptions import FeatureUnsupportedError, NoSuchTableError, ValidationError
from icefloe.spark.lexer import Cursor
from icefloe.spark.reader.read import default_version, read
from icefloe.spark.session import session_key
from icefloe.spark.statements.statement import run
from icefloe.spark.statements.table_clauses import properties_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.statements.references import Reference
    from icefloe.spark.statements.statement import Statement
    from icefloe.table import Table
    from icefloe.typedef import Identifier

_STORAGE_LEVEL = "storageLevel"
_DEFAULT_LEVEL = "MEMORY_AND_DISK_DESER"


@dataclass(frozen=True)
class CachedTable:
    """The rows of a version of a table that Spark caches.

    Args:
        frame: The rows.
        version: The snapshot that the rows are of, and the schema of the table.
        level: Where Spark keeps the rows.
    """

    frame: DataFrame
    version: tuple[Any, ...]
    level: StorageLevel


def cache_attached_table(statement: Statement, reference: Reference, cursor: Cursor, *, lazy: bool) -> None:
    """Have Spark cache the rows of a table, at once or when a query first reads them.

    Args:
        statement: The statement under way.
        reference: The table.
        cursor: The words after the name: OPTIONS, or nothing.
        lazy: Wait for the first query.

    Raises:
        FeatureUnsupportedError: A version or a metadata table is named.
        ValidationError: An option is none of Spark's.
    """
    level = _level(cursor)
    cursor.finish()
    if reference.metadata_table is not None or reference.version:
        raise FeatureUnsupportedError(
            f"CACHE TABLE: expected a table, such as {reference.dotted}, got a version or metadata table of it: CACHE TABLE name AS SELECT ... "
            "caches its rows"
        )
    made = _cached(statement.spark, reference.table, level)
    known = reference.lake.cached.get(_key(statement.spark, reference))
    if known is not None and known.version == made.version and _is_cached(known):
        return
    _replace(statement.spark, reference, made)
    if not lazy:
        made.frame.count()


def uncache_table(statement: Statement, text: str) -> None:
    """Run ``UNCACHE TABLE [IF EXISTS] name``; a table that is not cached stays as it is.

    Raises:
        NoSuchTableError: The table does not exist, and there is no IF EXISTS.
    """
    cursor = Cursor(text)
    cursor.expect("UNCACHE", "TABLE")
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.names()
    cursor.finish()
    try:
        reference = statement.references.resolve(name)
    except NoSuchTableError:
        if not if_exists:
            raise
        return
    known = reference.lake.cached.pop(_key(statement.spark, reference), None)
    if known is not None:
        known.frame.unpersist()


def clear_cache(statement: Statement, text: str) -> None:
    """Run CLEAR CACHE: Spark's, of which the rows of attached tables are a part."""
    run(statement, text)
    for lake in statement.lakes.values():
        lake.cached.clear()


def cached_rows(spark: Any, reference: Reference) -> DataFrame | None:
    """Return the cached rows of the version of a table that the session reads; None if the table is not cached.

    Rows of another version are released, and Spark caches the new ones as the query reads them. A commit makes another version the
    current one, and so does a change of ``spark.wap.branch`` to a branch with another snapshot.
    """
    key = _key(spark, reference)
    known = reference.lake.cached.get(key)
    if known is None:
        return None
    if not _is_cached(known):
        del reference.lake.cached[key]
        return None
    if known.version != _version(spark, reference.table):
        known = _cached(spark, reference.table, known.level)
        _replace(spark, reference, known)
    # Spark releases the rows of a DataFrame of which a view is dropped, and a query has each of its DataFrames as a view.
    return known.frame.where("true")


def _level(cursor: Cursor) -> StorageLevel:
    options = properties_of(cursor) if cursor.accept("OPTIONS") else {}
    named = {key.lower(): value for key, value in options.items()}
    name = named.pop(_STORAGE_LEVEL.lower(), _DEFAULT_LEVEL)
    level = getattr(StorageLevel, name.upper(), None)
    if named or not isinstance(level, StorageLevel):
        got = next(iter(named), name)
        raise ValidationError(
            f"CACHE TABLE, OPTIONS: expected '{_STORAGE_LEVEL}' with a level of Spark such as MEMORY_AND_DISK, got {got}"
        )
    return level


def _cached(spark: Any, table: Table, level: StorageLevel) -> CachedTable:
    return CachedTable(read(table, spark=spark), _version(spark, table), level)


def _replace(spark: Any, reference: Reference, made: CachedTable) -> None:
    key = _key(spark, reference)
    known = reference.lake.cached.get(key)
    if known is not None:
        known.frame.unpersist()
    made.frame.persist(made.level)
    reference.lake.cached[key] = made


def _key(spark: Any, reference: Reference) -> tuple[str, Identifier]:
    """Return the key of cached rows: statements of a session cannot read a DataFrame of another one."""
    return session_key(spark), reference.identifier


def _version(spark: Any, table: Table) -> tuple[Any, ...]:
    """Return the version that statements of the session read: that of the branch in its setting, else the current one."""
    metadata = table.metadata
    branch = default_version(spark, table)["branch"]
    snapshot_id = metadata.current_snapshot_id if branch is None else metadata.refs[branch].snapshot_id
    return (metadata.table_uuid, snapshot_id, metadata.current_schema_id)


def _is_cached(known: CachedTable) -> bool:
    """Return whether Spark has the rows in its cache, which CLEAR CACHE empties."""
    level = known.frame.storageLevel
    return level.useMemory or level.useDisk
