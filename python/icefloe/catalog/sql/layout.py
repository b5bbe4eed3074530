"""The tables of a SQL catalog in its database, which JDBC and SQL catalogs of other engines share, and the comparison of their texts.

Version 1 of the layout has the column `iceberg_type`, which tells tables and views apart; version 0 has tables alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import BINARY, Column, MetaData, String, Table, cast
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType, TypeDecorator

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect
    from sqlalchemy.types import TypeEngine

V0, V1 = "V0", "V1"
TABLE_TYPE = "TABLE"
TYPE_COLUMN = "iceberg_type"
KEY_LENGTH = 255
VALUE_LENGTH = 1000
MYSQL_DIALECTS = ("mysql", "mariadb")


class ExactText(TypeDecorator[str]):
    """Text whose keys compare character by character.

    The default collations of MySQL and MariaDB ignore case, accents and spaces at the end.
    """

    impl = String
    cache_ok = True

    def __init__(self, length: int) -> None:
        super().__init__(length)
        self.length = length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of a column: in MySQL and MariaDB the collation without padding."""
        if dialect.name not in MYSQL_DIALECTS:
            return dialect.type_descriptor(String(self.length))
        from sqlalchemy.dialects import mysql

        collation = "utf8mb4_nopad_bin" if getattr(dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        exact = mysql.VARCHAR(self.length, charset="utf8mb4", collation=collation)
        return dialect.type_descriptor(exact)


class exact_bytes(FunctionElement[Any]):  # noqa: N801 - used as a function in statements
    """A text as a value that differs for different texts, in columns of any collation."""

    inherit_cache = True


class exactly(FunctionElement[Any]):  # noqa: N801 - used as a function in statements
    """A comparison of a column and a text, character by character.

    The type is not Boolean: MySQL would compare the result with 1 and use no index.
    """

    type = NullType()
    inherit_cache = True


@compiles(exact_bytes)
def _bytes_elsewhere(element: exact_bytes, compiler: Any, **options: Any) -> str:
    (text,) = element.clauses
    return str(compiler.process(text, **options))


@compiles(exact_bytes, *MYSQL_DIALECTS)
def _bytes_in_mysql(element: exact_bytes, compiler: Any, **options: Any) -> str:
    from sqlalchemy.dialects import mysql

    (text,) = element.clauses
    return str(compiler.process(cast(cast(text, mysql.CHAR(charset="utf8mb4")), BINARY), **options))


@compiles(exactly)
def _equal_elsewhere(element: exactly, compiler: Any, **options: Any) -> str:
    column, text = element.clauses
    return str(compiler.process(column == text, **options))


@compiles(exactly, *MYSQL_DIALECTS)
def _equal_in_mysql(element: exactly, compiler: Any, **options: Any) -> str:
    # Other engines create the columns with the database's collation. The first comparison serves the index, the second is exact.
    column, text = element.clauses
    both = (column == text) & (exact_bytes(column) == exact_bytes(text))
    return f"({compiler.process(both, **options)})"


layout = MetaData()
tables = Table(
    "iceberg_tables",
    layout,
    Column("catalog_name", ExactText(KEY_LENGTH), primary_key=True),
    Column("table_namespace", ExactText(KEY_LENGTH), primary_key=True),
    Column("table_name", ExactText(KEY_LENGTH), primary_key=True),
    Column("metadata_location", ExactText(VALUE_LENGTH)),
    Column("previous_metadata_location", ExactText(VALUE_LENGTH)),
    Column(TYPE_COLUMN, String(5)),
)
namespace_properties = Table(
    "iceberg_namespace_properties",
    layout,
    Column("catalog_name", ExactText(KEY_LENGTH), primary_key=True),
    Column("namespace", ExactText(KEY_LENGTH), primary_key=True),
    Column("property_key", ExactText(KEY_LENGTH), primary_key=True),
    Column("property_value", ExactText(VALUE_LENGTH)),
)


def _without_types() -> MetaData:
    metadata = MetaData()
    columns = [
        Column(column.name, column.type, primary_key=column.primary_key)
        for column in tables.columns
        if column.name != TYPE_COLUMN
    ]
    Table(tables.name, metadata, *columns)
    namespace_properties.to_metadata(metadata)
    return metadata


layout_without_types = _without_types()


def use_innodb(version: MetaData) -> None:
    """Have MySQL and MariaDB create the tables of a layout in InnoDB, which has transactions.

    As arguments of the tables the options would load the dialects of both for every database.
    """
    for table in version.tables.values():
        table.dialect_kwargs.update({f"{dialect}_engine": "InnoDB" for dialect in MYSQL_DIALECTS})
