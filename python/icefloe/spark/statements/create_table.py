"""CREATE, REPLACE and DROP TABLE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import (
    FeatureUnsupportedError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.spark.lexer import Cursor
from icefloe.spark.session import current_user
from icefloe.spark.statements.column_definition import struct_of
from icefloe.spark.statements.default_collation import COLLATION, collation_named
from icefloe.spark.statements.query import frame_of_query
from icefloe.spark.statements.spark_write import spark_write
from icefloe.spark.statements.table_clauses import check_not_reserved, properties_of
from icefloe.spark.types.conform import quoted
from icefloe.spark.types.from_spark import schema_from_spark
from icefloe.spark.types.nullability import nullable
from icefloe.spark.writer.commit import ExecutorFiles, add_rows_of_replaced_table
from icefloe.spark.writer.partition_text import partition_spec
from icefloe.spark.writer.wap import SnapshotDestination
from icefloe.spark.writer.write import write_files
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.properties.definitions import WRITE_FORMAT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from icefloe.spark.statements.attached import AttachedCatalog
    from icefloe.spark.statements.statement import Statement
    from icefloe.typedef import Identifier

_FORMATS = ("icefloe", "iceberg")
_FILE_FORMATS = ("parquet", "orc", "avro")
_RESERVED = {
    "location": "the clause LOCATION",
    "provider": "the clause USING",
    "owner": "no owner, which is the user who runs the statement",
    "external": "CREATE EXTERNAL TABLE",
    "collation": "the clause DEFAULT COLLATION",
    "sort-order": "ALTER TABLE ... WRITE ORDERED BY after the creation",
    "identifier-fields": "ALTER TABLE ... SET IDENTIFIER FIELDS after the creation",
}
"""Properties of Spark that are no properties of a table, and the clause or statement that sets each."""


@dataclass
class Definition:
    """The clauses of CREATE TABLE.

    Args:
        name: Parts of the name.
        replace: The table is replaced.
        create: The table is created if it does not exist.
        if_not_exists: A table that exists is left as it is.
        columns: Texts of the columns; None without columns.
        partitioning: Items of PARTITIONED BY.
        buckets: Partition field of CLUSTERED BY; None without it.
        location: LOCATION.
        file_format: The file format that USING names; None if it names the table format.
        properties: TBLPROPERTIES, OPTIONS and COMMENT.
        collation: The name after DEFAULT COLLATION.
        query: Text of the query after AS.
    """

    name: tuple[str, ...] = ()
    replace: bool = False
    create: bool = True
    if_not_exists: bool = False
    columns: list[str] | None = None
    partitioning: list[str] = field(default_factory=list)
    buckets: str | None = None
    file_format: str | None = None
    location: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    collation: str | None = None
    query: str | None = None


def create_table(statement: Statement, text: str) -> None:
    """Run CREATE TABLE, CREATE OR REPLACE TABLE or REPLACE TABLE; with AS, definition and rows are one commit."""
    cursor = Cursor(text)
    name = _named(cursor).name
    if cursor.at("LIKE"):
        raise FeatureUnsupportedError(
            "CREATE TABLE: LIKE is not supported; expected CREATE TABLE ... AS SELECT * FROM table WHERE false, which has the columns of the "
            "table, got LIKE"
        )
    if statement.references.is_of_spark(name):
        spark_write(statement, cursor, "CREATE TABLE").commit()
        return
    made = parsed_definition(text)
    lake, identifier = statement.references.locate(made.name)
    if made.if_not_exists and lake.catalog.table_exists(identifier):
        return
    frame = None if made.query is None else frame_of_query(statement, made.query)
    struct = struct_of(made.columns, "CREATE TABLE") if made.columns is not None else _nullable(frame)
    _check_names(statement, struct)
    schema = schema_from_spark(struct)
    spec = partition_spec(schema, made.partitioning, case_sensitive=statement.case_sensitive())
    properties = {**_properties_of_spark(statement, made), **made.properties}
    definition: dict[str, Any] = {"location": made.location, "partition_spec": spec, "properties": properties}
    if frame is None:
        make = lake.catalog.create_table
        if made.replace:
            make = lake.catalog.create_or_replace_table if made.create else lake.catalog.replace_table
        try:
            make(identifier, schema, **definition)
        except TableAlreadyExistsError:
            if not made.if_not_exists:
                raise
    else:
        _create_with_rows(lake, identifier, made, frame, (schema, definition))
    lake.follow_tables(identifier)


def drop_table(statement: Statement, text: str) -> None:
    """Run DROP TABLE; with PURGE, the files are deleted as well."""
    cursor = Cursor(text)
    cursor.expect("DROP", "TABLE")
    if_exists = cursor.accept("IF", "EXISTS")
    lake, identifier = statement.references.locate(cursor.names())
    purge = cursor.accept("PURGE")
    cursor.finish()
    try:
        (lake.catalog.purge_table if purge else lake.catalog.drop_table)(identifier)
    except NoSuchTableError:
        if not if_exists:
            raise
    lake.follow_tables(identifier)


def _properties_of_spark(statement: Statement, made: Definition) -> dict[str, str]:
    """Return the properties that Spark gives a new table: its owner, who runs the statement, and its default collation."""
    owner = current_user(statement.spark)
    if made.collation is None:
        return {"owner": owner}
    return {"owner": owner, COLLATION: collation_named(statement, made.collation)}


def parsed_definition(text: str) -> Definition:
    """Return the clauses of a CREATE or REPLACE TABLE statement.

    Raises:
        ValidationError: The statement has another clause, or a clause twice.
        FeatureUnsupportedError: A clause has no meaning for Iceberg tables.
    """
    cursor = Cursor(text)
    made = _named(cursor)
    following = cursor.peek()
    if following is not None and following.is_keyword("("):
        made.columns = cursor.items()
        if not made.columns:
            raise cursor.error("a column in the parentheses before")
    given: set[str] = set()
    while (word := cursor.peek()) is not None:
        if word.text.upper() in given:
            raise ValidationError(f"CREATE TABLE: {word.text.upper()} is given twice; expected each clause once")
        given.add(word.text.upper())
        _clause(cursor, made)
    _take_typed_partitions(made)
    _take_buckets_and_format(made)
    if made.columns is None and made.query is None:
        raise ValidationError(f"CREATE TABLE {'.'.join(made.name)}: expected columns or AS with a query, got neither")
    if made.columns is not None and made.query is not None:
        raise ValidationError(
            f"CREATE TABLE {'.'.join(made.name)}: expected columns or a query, got both: a query gives the columns"
        )
    return made


def _named(cursor: Cursor) -> Definition:
    """Return the definition up to the name of the table."""
    made = Definition()
    if cursor.accept("CREATE"):
        made.replace = cursor.accept("OR", "REPLACE")
        # Every table of a catalog has a location of its own.
        cursor.accept("EXTERNAL")
        cursor.expect("TABLE")
    else:
        cursor.expect("REPLACE", "TABLE")
        made.replace, made.create = True, False
    made.if_not_exists = not made.replace and cursor.accept("IF", "NOT", "EXISTS")
    made.name = cursor.names()
    return made


def _clause(cursor: Cursor, made: Definition) -> None:
    if cursor.accept("USING"):
        _take_format(cursor, made)
    elif cursor.accept("PARTITIONED", "BY"):
        made.partitioning = cursor.items()
    elif cursor.accept("CLUSTERED", "BY"):
        made.buckets = _buckets(cursor)
    elif cursor.accept("OPTIONS"):
        options = properties_of(cursor)
        check_not_reserved(options, _RESERVED, "OPTIONS")
        # The Java runtime stores an option under both keys.
        made.properties |= {**options, **{f"option.{key}": value for key, value in options.items()}}
    elif cursor.accept("TBLPROPERTIES"):
        properties = properties_of(cursor)
        check_not_reserved(properties, _RESERVED, "TBLPROPERTIES")
        made.properties.update(properties)
    elif cursor.accept("DEFAULT", "COLLATION"):
        made.collation = ".".join(cursor.names())
    elif cursor.accept("COMMENT"):
        made.properties["comment"] = cursor.string()
    elif cursor.accept("LOCATION"):
        made.location = cursor.string()
    elif cursor.accept("AS") or cursor.at("SELECT", "WITH", "FROM"):
        made.query = cursor.rest()
    else:
        raise _unknown_clause(cursor)


def _take_buckets_and_format(made: Definition) -> None:
    """Make a partition field of CLUSTERED BY, and a property of the file format after USING."""
    if made.buckets is not None:
        made.partitioning.append(made.buckets)
    if made.file_format is None:
        return
    given = made.properties.get(WRITE_FORMAT.name, made.file_format)
    if given.lower() != made.file_format:
        raise ValidationError(
            f"USING: expected the file format of the property {WRITE_FORMAT.name}, {given}, got {made.file_format}: leave one out"
        )
    made.properties[WRITE_FORMAT.name] = made.file_format


def _unknown_clause(cursor: Cursor) -> Exception:
    """Return the error for the clause that follows."""
    word = cursor.peek()
    if word is not None and word.is_keyword("CLUSTER", "SORTED", "STORED", "ROW", "SKEWED"):
        return FeatureUnsupportedError(
            f"CREATE TABLE: {word.text.upper()} is not supported; expected TBLPROPERTIES, PARTITIONED BY and, after the creation, "
            f"ALTER TABLE ... WRITE ORDERED BY, got {word.text.upper()}"
        )
    return cursor.error(
        "USING, PARTITIONED BY, CLUSTERED BY, COMMENT, LOCATION, DEFAULT COLLATION, OPTIONS, TBLPROPERTIES or AS"
    )


def _take_format(cursor: Cursor, made: Definition) -> None:
    """Read the name after USING: that of the table format, or of the file format of the table's data files."""
    name = cursor.name().lower()
    if name in _FILE_FORMATS:
        made.file_format = name
    elif name not in _FORMATS:
        raise ValidationError(f"USING: expected {', '.join(_FORMATS)}, {', '.join(_FILE_FORMATS)}, got {name}")


def _buckets(cursor: Cursor) -> str:
    """Return the partition field of `CLUSTERED BY (column) INTO n BUCKETS`, which follows."""
    columns = cursor.items()
    if cursor.at("SORTED"):
        raise FeatureUnsupportedError(
            "CREATE TABLE: SORTED BY is not supported; expected CLUSTERED BY without it, got SORTED BY: run ALTER TABLE ... WRITE ORDERED BY "
            "after the creation"
        )
    cursor.expect("INTO")
    number = cursor.number()
    cursor.expect("BUCKETS")
    if len(columns) != 1:
        raise ValidationError(
            f"CLUSTERED BY: expected one column, got {', '.join(columns)}: PARTITIONED BY takes a bucket for each column"
        )
    return f"bucket({number}, {columns[0]})"


def _take_typed_partitions(made: Definition) -> None:
    """Make columns of the items of PARTITIONED BY that have a type, which is Hive's form: the last columns of the table.

    Raises:
        ValidationError: Only some of the items have a type, or a query gives the columns.
    """
    cursors = [Cursor(item) for item in made.partitioning]
    names = [cursor.names() for cursor in cursors]
    typed = [cursor.peek() is not None and not cursor.at("(", "[") for cursor in cursors]
    if not any(typed):
        return
    if not all(typed) or made.query is not None:
        got = "both" if made.query is None else "columns with types beside a query: the query gives the types"
        raise ValidationError(f"PARTITIONED BY: expected columns with types, or columns and transforms, got {got}")
    made.columns = [*(made.columns or []), *made.partitioning]
    made.partitioning = [".".join(quoted(part) for part in parts) for parts in names]


def _nullable(frame: DataFrame | None) -> StructType:
    """Return the schema of a query for a new table: as in Spark, no column or field is required."""
    if frame is None:
        raise ValidationError("CREATE TABLE: expected columns or a query, got neither")
    struct: StructType = nullable(frame.schema)
    return struct


def _check_names(statement: Statement, struct: Any) -> None:
    """Check that a query can distinguish the columns of a new table."""
    fold = str if statement.case_sensitive() else str.lower
    names = [fold(name) for name in struct.names]
    repeated = [name for name, folded in zip(struct.names, names, strict=True) if names.count(folded) > 1]
    if repeated:
        raise ValidationError(
            f"CREATE TABLE: expected each column once, got {' and '.join(repeated)}: rename one of them"
        )


def _create_with_rows(
    lake: AttachedCatalog,
    identifier: Identifier,
    made: Definition,
    frame: DataFrame,
    definition: tuple[object, Any],
) -> None:
    schema, others = definition
    catalog = lake.catalog
    start: Any = catalog.create_table_transaction
    if made.replace:
        start = catalog.create_or_replace_table_transaction if made.create else catalog.replace_table_transaction
    with start(identifier, schema, **others) as transaction:
        files = write_files(frame, transaction)
        if made.replace:
            add_rows_of_replaced_table(transaction, files, SnapshotDestination(branch=MAIN, snapshot_properties={}))
        elif files is not None:
            transaction.adopt(ExecutorFiles(transaction.io, files))
            transaction.new_append().append(files).commit()
