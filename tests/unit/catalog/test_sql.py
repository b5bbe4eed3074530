"""The database layout that SQL catalogs share, and failures of the database."""

import sqlite3
import traceback

import pyarrow as pa
import pytest
from icefloe.catalog.sql import SqlCatalog
from icefloe.catalog.sql.database import Database
from icefloe.catalog.sql.layout import layout, layout_without_types, use_innodb
from icefloe.exceptions import NamespaceNotEmptyError, StorageError, TableAlreadyExistsError, ValidationError
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects.mysql import mariadb
from sqlalchemy.schema import CreateTable

SCHEMA = pa.schema([("id", pa.int64())])


def rows(path, query):
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


def test_row_has_both_locations_and_the_type(sql_catalog, tmp_path):
    sql_catalog.create_namespace("db")
    table = sql_catalog.create_table("db.t", SCHEMA)
    first = table.metadata_location
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    found = rows(tmp_path / "catalog.db", "select * from iceberg_tables")
    assert found == [("cat", "db", "t", table.metadata_location, first, "TABLE")]


def test_layout_without_types_is_read_and_written(tmp_path):
    path = tmp_path / "v0.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "create table iceberg_tables (catalog_name varchar(255), table_namespace varchar(255), table_name "
            "varchar(255), metadata_location varchar(1000), previous_metadata_location varchar(1000), "
            "primary key (catalog_name, table_namespace, table_name))"
        )
    catalog = SqlCatalog("cat", uri=f"sqlite:///{path}", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", SCHEMA)
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert catalog.load_table("db.t").properties["a"] == "1"
    assert catalog.list_tables("db") == [("db", "t")]


@pytest.mark.parametrize("dialect", [mysql.dialect(), mariadb.MariaDBDialect()], ids=["mysql", "mariadb"])
def test_tables_of_mysql_and_mariadb_have_transactions(dialect):
    for version in (layout, layout_without_types):
        use_innodb(version)
        for table in version.tables.values():
            assert "ENGINE=InnoDB" in str(CreateTable(table).compile(dialect=dialect))


def test_views_are_not_tables(sql_catalog, tmp_path):
    sql_catalog.create_namespace("db")
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute("insert into iceberg_tables values ('cat', 'db', 'v', '/x', null, 'VIEW')")
    assert sql_catalog.list_tables("db") == []
    assert not sql_catalog.table_exists("db.v")


def test_catalogs_of_one_database_are_separate(sql_catalog, tmp_path):
    sql_catalog.create_namespace("db")
    sql_catalog.create_table("db.t", SCHEMA)
    other = SqlCatalog("other", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    assert other.list_namespaces() == []
    assert not other.table_exists("db.t")


def test_wildcards_in_namespaces_match_literally(sql_catalog):
    sql_catalog.create_namespace("axb.c")
    assert not sql_catalog.namespace_exists("a_b")
    assert not sql_catalog.namespace_exists("a%")
    assert sql_catalog.namespace_exists("axb")


def test_namespaces_that_differ_in_case_are_separate(sql_catalog):
    sql_catalog.create_namespace("axb.c")
    assert not sql_catalog.namespace_exists("AXB")


def test_namespace_level_with_a_dot_is_refused(sql_catalog):
    with pytest.raises(ValidationError, match="pass a tuple with one element for each level"):
        sql_catalog.create_namespace(("a.b",))


def test_table_is_not_created_over_a_view(sql_catalog, tmp_path):
    sql_catalog.create_namespace("db")
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        connection.execute("insert into iceberg_tables values ('cat', 'db', 'v', '/x', null, 'VIEW')")
    with pytest.raises(TableAlreadyExistsError):
        sql_catalog.create_table("db.v", SCHEMA)
    with pytest.raises(NamespaceNotEmptyError, match="views"):
        sql_catalog.drop_namespace("db")


def test_namespace_exists_after_all_its_properties_are_removed(sql_catalog, tmp_path):
    sql_catalog.create_namespace("db", {"a": "1"})
    summary = sql_catalog.update_namespace_properties("db", removals={"a", "exists"})
    assert (summary.removed, summary.missing) == (["a"], ["exists"])
    assert rows(tmp_path / "catalog.db", "select property_key from iceberg_namespace_properties") == [("exists",)]


def test_no_sqlalchemy_exception_leaks(tmp_path):
    catalog = SqlCatalog("cat", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path))
    catalog.destroy_tables()
    with pytest.raises(StorageError, match="no such table"):
        catalog.list_namespaces()
    with pytest.raises(StorageError, match="unable to open"):
        SqlCatalog("cat", uri=f"sqlite:///{tmp_path}/missing/c.db")


def test_password_is_not_shown():
    assert "secret" not in repr(Database("postgresql://me:secret@host/db")._url)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "nonsense",
        "postgresql://me:p@ss:secret@host/db",
        "postgresql+none://me:secret@h/db",
        "nosuch://me:secret@h/db",
    ],
)
def test_invalid_url_is_refused_without_its_password(uri):
    with pytest.raises(ValidationError, match="database") as caught:
        SqlCatalog("cat", uri=uri)
    shown = "".join(traceback.format_exception(caught.value))
    assert "secret" not in shown.replace(repr(uri), "")


def test_url_that_turns_transactions_off_is_refused():
    with pytest.raises(ValidationError, match="autocommit"):
        SqlCatalog("cat", uri="postgresql+psycopg://me@host/db?autocommit=true")
