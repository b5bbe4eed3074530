"""Names and texts in MariaDB: columns of other engines compare without case, accents and spaces at the end."""

from __future__ import annotations

import pyarrow as pa
import pytest
from icefloe.exceptions import NoSuchTableError, StorageError, TableAlreadyExistsError

SCHEMA = pa.schema([("id", pa.int64())])
# The tables as Java's JDBC catalog creates them, which leaves the collation to the database.
CREATE_TABLES = """
create table iceberg_tables (
    catalog_name varchar(255) not null, table_namespace varchar(255) not null, table_name varchar(255) not null,
    metadata_location varchar(1000), previous_metadata_location varchar(1000),
    primary key (catalog_name, table_namespace, table_name)
)
"""
CREATE_PROPERTIES = """
create table iceberg_namespace_properties (
    catalog_name varchar(255) not null, namespace varchar(255) not null, property_key varchar(255),
    property_value varchar(1000), primary key (catalog_name, namespace, property_key)
)
"""
OF_JAVA = (CREATE_TABLES, CREATE_PROPERTIES)
COLLATIONS = ("latin1_swedish_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci")


@pytest.fixture(params=COLLATIONS)
def catalog_of_java(request, execute, open_catalog, mariadb_database):
    """A catalog in tables whose columns do not distinguish case."""
    collation = request.param
    charset = collation.split("_")[0]
    execute(f"alter database {mariadb_database} character set {charset} collate {collation}", *OF_JAVA)
    made = open_catalog()
    made.create_namespace("db")
    return made


def test_name_in_another_case_is_not_the_table(catalog_of_java):
    table = catalog_of_java.create_table("db.t", SCHEMA)
    for other in ("db.T", "db.t ", "DB.t"):
        assert not catalog_of_java.table_exists(other)
        with pytest.raises(NoSuchTableError):
            catalog_of_java.drop_table(other)
        with pytest.raises(NoSuchTableError):
            catalog_of_java.rename_table(other, "db.u")
    table.append(pa.table({"id": [1]}))
    assert catalog_of_java.load_table("db.t").scan().count() == 1


def test_name_that_differs_in_case_alone_is_refused_and_changes_nothing(catalog_of_java):
    catalog_of_java.create_table("db.t", SCHEMA)
    with pytest.raises(TableAlreadyExistsError, match=r"db\.T.*does not distinguish"):
        catalog_of_java.create_table("db.T", SCHEMA)
    assert catalog_of_java.list_tables("db") == [("db", "t")]


def test_namespaces_that_differ_in_case_are_listed_apart(catalog_of_java, execute):
    execute("insert into iceberg_tables values ('cat', 'DB', 'a', '/x', null), ('cat', 'db', 'b', '/x', null)")
    assert catalog_of_java.list_namespaces() == [("DB",), ("db",)]
    assert catalog_of_java.list_tables("DB") == [("DB", "a")]
    assert catalog_of_java.list_tables("db") == [("db", "b")]


def test_character_outside_of_the_columns_is_refused(execute, open_catalog, mariadb_database):
    execute(f"alter database {mariadb_database} character set latin1 collate latin1_bin", *OF_JAVA)
    catalog = open_catalog()
    catalog.create_namespace("täble")
    assert catalog.namespace_exists("täble")
    with pytest.raises(StorageError, match="Illegal mix of collations"):
        catalog.create_namespace("表格")
    assert catalog.list_namespaces() == [("täble",)]


def test_new_columns_distinguish_all_names(catalog):
    names = ["t", "T", "t ", "tä", "ta", "表"]
    for name in names:
        catalog.create_table(("db", name), SCHEMA)
    assert catalog.list_tables("db") == sorted(("db", name) for name in names)


def test_server_without_strict_mode_does_not_truncate(execute, open_catalog):
    execute("set global sql_mode = ''")
    try:
        catalog = open_catalog()
        catalog.create_namespace("db")
        with pytest.raises(StorageError, match="nothing has changed: Data too long for column 'property_value'"):
            catalog.update_namespace_properties("db", updates={"comment": "x" * 1001})
        with pytest.raises(StorageError, match="nothing has changed: Data too long for column 'metadata_location'"):
            catalog.create_table(
                "db.t", SCHEMA, location=f"{catalog.properties['warehouse']}/{'/'.join(['n' * 200] * 5)}"
            )
        assert catalog.load_namespace_properties("db") == {}
        assert catalog.list_tables("db") == []
    finally:
        execute("set global sql_mode = default")


def test_commit_finds_its_row_by_the_primary_key(catalog, execute):
    from icefloe.catalog.sql.layout import exactly, tables
    from sqlalchemy import select

    for number in range(20):
        catalog.create_table(f"db.t{number}", SCHEMA)
    key = (
        exactly(tables.c[name], value)
        for name, value in (("catalog_name", "cat"), ("table_namespace", "db"), ("table_name", "t7"))
    )
    statement = select(tables).where(*key).compile(catalog.engine, compile_kwargs={"literal_binds": True})
    (plan,) = execute(f"explain {statement}")
    assert "const" in plan
    assert "PRIMARY" in plan
