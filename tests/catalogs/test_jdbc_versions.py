"""Java's JDBC catalog and icefloe in one database, in both versions of its layout: each commits after the other."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    CommitFailedException,
    NamespaceNotEmptyError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from sqlalchemy import inspect

from tests.catalogs.java_gateway import java_raises

pytestmark = pytest.mark.interop

SCHEMA = pa.schema([("id", pa.int64())])
VERSIONS = ("V0", "V1")
CREATORS = ("java", "icefloe")


@dataclass
class SharedDatabase:
    """A database for catalogs of Java and of icefloe, and files of rows that Java can append."""

    java: object
    jdbc: str
    uri: str
    warehouse: str

    def of_java(self, **properties):
        return self.java.catalog("jdbc.JdbcCatalog", "lake", uri=self.jdbc, warehouse=self.warehouse, **properties)

    def of_icefloe(self, **properties):
        return load_catalog("lake", type="sql", uri=self.uri, warehouse=self.warehouse, **properties)

    def rows_file(self, catalog, number):
        """Return a Parquet file with one row, whose table is dropped."""
        table = catalog.create_table(f"db.rows{number}", SCHEMA)
        table.append(pa.table({"id": [number]}))
        (file,) = table.inspect.files()["file_path"].to_pylist()
        catalog.drop_table(f"db.rows{number}")
        return file


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request, java_iceberg, tmp_path):
    warehouse = str(tmp_path / "warehouse")
    if request.param == "sqlite":
        file = tmp_path / "catalog.db"
        yield SharedDatabase(java_iceberg, f"jdbc:sqlite:{file}?busy_timeout=30000", f"sqlite:///{file}", warehouse)
        return
    server, name = request.getfixturevalue("postgres"), request.getfixturevalue("database")
    jdbc = f"jdbc:postgresql://127.0.0.1:{server.port}/{name}?user=postgres"
    yield SharedDatabase(java_iceberg, jdbc, server.url("psycopg", database=name), warehouse)


def columns(catalog):
    return [column["name"] for column in inspect(catalog.engine).get_columns("iceberg_tables")]


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("creator", CREATORS)
def test_java_and_icefloe_commit_in_turn(shared, java_iceberg, version, creator):
    settings = {"jdbc.schema-version": version}
    if creator == "icefloe":
        shared.of_icefloe(**settings).close()
    java = shared.of_java(jdbc__schema_version=version)
    with shared.of_icefloe() as ours:
        assert ("iceberg_type" in columns(ours)) is (version == "V1")
        java.createNamespace(java_iceberg.namespace("db"), java_iceberg.map({"owner": "java"}))
        assert ours.load_namespace_properties("db") == {"owner": "java"}
        ours.create_namespace("more", {"owner": "icefloe"})
        assert java.loadNamespaceMetadata(java_iceberg.namespace("more")).get("owner") == "icefloe"

        theirs = java.createTable(java_iceberg.identifier("db.theirs"), java_iceberg.schema())
        ours.load_table("db.theirs").append(pa.table({"id": [1]}))
        java_iceberg.append(theirs, shared.rows_file(ours, 2), 1)
        table = ours.load_table("db.theirs")
        table.append(pa.table({"id": [3]}))
        theirs.refresh()
        assert ids(table) == [1, 2, 3]
        assert theirs.currentSnapshot().snapshotId() == table.current_snapshot().snapshot_id

        mine = ours.create_table("db.mine", SCHEMA)
        mine.append(pa.table({"id": [1]}))
        java_iceberg.append(java.loadTable(java_iceberg.identifier("db.mine")), shared.rows_file(ours, 2), 1)
        mine.refresh().append(pa.table({"id": [3]}))
        assert ids(ours.load_table("db.mine")) == [1, 2, 3]

        java.renameTable(java_iceberg.identifier("db.mine"), java_iceberg.identifier("more.mine"))
        ours.rename_table("db.theirs", "more.theirs")
        assert ours.list_tables("more") == [("more", "mine"), ("more", "theirs")]
        assert sorted(str(name) for name in java.listTables(java_iceberg.namespace("more"))) == [
            "more.mine",
            "more.theirs",
        ]
        assert java.dropTable(java_iceberg.identifier("more.theirs"), False)
        ours.drop_table("more.mine")
        ours.drop_namespace("more")
        assert not java.namespaceExists(java_iceberg.namespace("more"))
        assert java.dropNamespace(java_iceberg.namespace("db"))
        assert ours.list_namespaces() == []
    java.close()


def test_commit_on_an_old_version_conflicts_in_both_directions(shared, java_iceberg):
    java = shared.of_java()
    with shared.of_icefloe() as ours:
        ours.create_namespace("db")
        mine = ours.create_table("db.t", SCHEMA, properties={"commit.retry.num-retries": "0"})
        theirs = java.loadTable(java_iceberg.identifier("db.t"))
        old = theirs.operations().current()
        java_iceberg.append(theirs, shared.rows_file(ours, 1), 1)
        with pytest.raises(CommitFailedException):
            mine.append(pa.table({"id": [9]}))
        mine.refresh().append(pa.table({"id": [2]}))
        current = theirs.operations().current()
        with java_raises("CommitFailedException"):
            theirs.operations().commit(current, old)
        assert ids(ours.load_table("db.t")) == [1, 2]
    java.close()


def test_views_of_java_are_left_alone(shared, java_iceberg):
    java = shared.of_java(jdbc__schema_version="V1")
    with shared.of_icefloe() as ours:
        ours.create_namespace("db")
        ours.create_table("db.t", SCHEMA)
        create_view(java, java_iceberg, "db.v")
        assert ours.list_tables("db") == [("db", "t")]
        assert not ours.table_exists("db.v")
        for refused in (ours.load_table, ours.drop_table, ours.purge_table):
            with pytest.raises(NoSuchTableError):
                refused("db.v")
        with pytest.raises(NoSuchTableError):
            ours.rename_table("db.v", "db.w")
        with pytest.raises(TableAlreadyExistsError):
            ours.create_table("db.v", SCHEMA)
        with pytest.raises(TableAlreadyExistsError):
            ours.rename_table("db.t", "db.v")
        with pytest.raises(TableAlreadyExistsError):
            ours.register_table("db.v", ours.load_table("db.t").metadata_location, overwrite=True)
        ours.drop_table("db.t")
        with pytest.raises(NamespaceNotEmptyError):
            ours.drop_namespace("db")
    assert java.loadView(java_iceberg.identifier("db.v")).sqlFor("spark").sql() == "select 1 as id"
    java.close()


def test_view_that_java_creates_after_an_upgrade_is_left_alone_by_an_open_client(shared, java_iceberg):
    shared.of_icefloe(**{"jdbc.schema-version": "V0"}).close()
    with shared.of_icefloe() as ours:
        ours.create_namespace("db")
        ours.create_table("db.t", SCHEMA)
        java = shared.of_java(jdbc__schema_version="V1")
        create_view(java, java_iceberg, "db.v")
        assert ours.list_tables("db") == [("db", "t")]
        with pytest.raises(NoSuchTableError):
            ours.drop_table("db.v")
        ours.create_table("db.u", SCHEMA).append(pa.table({"id": [1]}))
        assert [str(name) for name in java.listTables(java_iceberg.namespace("db"))] == ["db.t", "db.u"]
        assert java.viewExists(java_iceberg.identifier("db.v"))
        java.close()


def test_schema_version_upgrades_existing_tables(shared, java_iceberg):
    before = shared.of_java()
    before.createNamespace(java_iceberg.namespace("db"), java_iceberg.map({}))
    theirs = before.createTable(java_iceberg.identifier("db.t"), java_iceberg.schema())
    with shared.of_icefloe(**{"jdbc.schema-version": "V0"}) as ours:
        assert "iceberg_type" not in columns(ours)
    with shared.of_icefloe(**{"jdbc.schema-version": "v1"}) as ours:
        assert "iceberg_type" in columns(ours)
        ours.load_table("db.t").append(pa.table({"id": [1]}))
        # A client of Java that was opened before the upgrade continues.
        theirs.refresh()
        java_iceberg.append(theirs, shared.rows_file(ours, 2), 1)
        assert ids(ours.load_table("db.t")) == [1, 2]
        after = shared.of_java()
        create_view(after, java_iceberg, "db.v")
        assert ours.list_tables("db") == [("db", "t")]
        after.close()
    before.close()


def test_unknown_schema_version_is_refused(tmp_path):
    with pytest.raises(ValidationError, match=r"'jdbc.schema-version': expected V0 or V1, got 'V2'"):
        load_catalog("lake", type="jdbc", uri=f"sqlite:///{tmp_path}/catalog.db", **{"jdbc.schema-version": "V2"})


def create_view(java, library, name):
    builder = java.buildView(library.identifier(name)).withSchema(library.schema())
    builder.withQuery("spark", "select 1 as id").withDefaultNamespace(library.namespace("db")).create()
