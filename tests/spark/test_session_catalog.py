"""The entries of attached tables in Spark's own catalog."""

from __future__ import annotations

import warnings
from pathlib import Path

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ForbiddenError, IcebergError, NoSuchNamespaceError, StorageError

from tests.spark.gateway_calls import recorded_calls

CALLS_OF_A_TABLE = 12


@pytest.fixture
def attached_calls(spark, tmp_path):
    """Return a function that attaches a catalog with a number of tables, and returns the number of calls into the JVM."""

    def attach(tables: int) -> int:
        folder = tmp_path / f"lake{tables}"
        folder.mkdir()
        catalog = load_catalog("many", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
        catalog.create_namespace("db")
        for number in range(tables):
            schema = pa.schema([(f"column_{number}", pa.int64())])
            catalog.create_table(f"db.t{number}", schema).append(pa.table({f"column_{number}": [number]}))
        with recorded_calls() as calls:
            lake = icefloe.spark.attach(spark, catalog, "many")
        try:
            for name in lake.tables().values():
                number = int(name.rsplit("t", 1)[1])
                assert spark.sql(f"SELECT * FROM {name}").collect() == [(number,)]
        finally:
            icefloe.spark.detach(spark, "many")
        return len(calls)

    return attach


def test_attach_takes_few_calls_for_each_table(attached_calls):
    attached_calls(1)
    assert attached_calls(5) - attached_calls(2) <= 3 * CALLS_OF_A_TABLE


def test_attach_warns_of_a_table_that_spark_cannot_show(spark, tmp_path):
    catalog = load_catalog("timed", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    catalog.create_table("db.hours", pa.schema([("hour", pa.time64("us"))]))
    with pytest.warns(UserWarning, match="attach: db.hours is left out of timed_db: ") as found:
        lake = icefloe.spark.attach(spark, catalog, "timed")
    icefloe.spark.detach(spark, "timed")
    assert lake.tables() == {}
    assert [warning.filename for warning in found] == [__file__]


@pytest.mark.parametrize(
    ("damage", "reason"), [(Path.unlink, "no such file"), (lambda path: path.write_text("{"), "is not JSON")]
)
def test_attach_warns_of_a_table_without_readable_metadata(spark, tmp_path, damage, reason):
    catalog = load_catalog("torn", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64())])
    broken, _ = (catalog.create_table(f"db.{name}", schema) for name in ("broken", "whole"))
    damage(Path(broken.metadata_location.removeprefix("file:")))
    with pytest.warns(UserWarning, match=f"attach: db.broken is left out of torn_db: .*{reason}"):
        lake = icefloe.spark.attach(spark, catalog, "torn")
    assert lake.tables() == {"db.whole": "torn_db.whole"}
    with pytest.raises(IcebergError, match=reason):
        icefloe.spark.sql(spark, "SELECT * FROM torn.db.broken")
    icefloe.spark.detach(spark, "torn")


SCHEMA = pa.schema([("id", pa.int64())])


@pytest.fixture
def five(tmp_path):
    """A catalog of five tables `db.t0` to `db.t4`."""
    catalog = load_catalog("five", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    for number in range(5):
        catalog.create_table(f"db.t{number}", SCHEMA)
    return catalog


@pytest.fixture
def loads(five, monkeypatch):
    """A list of the names of the tables of `five` that are loaded, and a set of names whose load is refused."""
    load, names, refused = five.load_table, [], set()

    def recorded(identifier):
        name = identifier if isinstance(identifier, str) else ".".join(identifier)
        names.append(name)
        if name in refused:
            raise ForbiddenError(f"{name}: no grant")
        return load(identifier)

    monkeypatch.setattr(five, "load_table", recorded)
    return names, refused


@pytest.fixture
def attached(spark, five, loads):
    lake = icefloe.spark.attach(spark, five, "five")
    loads[0].clear()
    yield lake
    icefloe.spark.detach(spark, "five")


CHANGES = {
    "ALTER TABLE five.db.t1 CREATE TAG first": ["db.t1", "db.t1"],
    "ALTER TABLE five.db.t1 ADD COLUMN name string": ["db.t1", "db.t1"],
    "ALTER TABLE five.db.t1 RENAME TO moved": ["db.t1", "db.moved"],
    "CREATE TABLE five.db.made (id bigint)": ["db.made"],
    "DROP TABLE five.db.t1": [],
    "CREATE NAMESPACE five.other": [],
    "REFRESH TABLE five.db.t1": ["db.t1", "db.t1"],
    "SELECT * FROM five.db.t1": ["db.t1"],
}


@pytest.mark.parametrize("statement", CHANGES)
def test_a_statement_loads_the_tables_alone_that_it_changes(spark, five, attached, loads, statement):
    five.load_table("db.t1").append(pa.table({"id": [1]}))
    loads[0].clear()
    icefloe.spark.sql(spark, statement)
    assert loads[0] == CHANGES[statement]
    followed = attached.tables()
    attached.refresh()
    assert followed == attached.tables()


def test_statements_change_the_entries_in_the_catalog_of_spark(spark, five, attached):
    icefloe.spark.sql(spark, "ALTER TABLE five.db.t1 ADD COLUMN name string")
    assert spark.table("five_db.t1").columns == ["id", "name"]
    icefloe.spark.sql(spark, "ALTER TABLE five.db.t1 RENAME TO moved")
    assert spark.table("five_db.moved").columns == ["id", "name"]
    assert not spark.catalog.tableExists("five_db.t1")
    icefloe.spark.sql(spark, "DROP TABLE five.db.moved")
    assert not spark.catalog.tableExists("five_db.moved")
    icefloe.spark.sql(spark, "CREATE NAMESPACE five.other")
    icefloe.spark.sql(spark, "CREATE TABLE five.other.t (id bigint)")
    assert spark.table("five_other.t").count() == 0
    icefloe.spark.sql(spark, "DROP TABLE five.other.t")
    icefloe.spark.sql(spark, "DROP NAMESPACE five.other")
    assert not spark.catalog.databaseExists("five_other")
    assert spark.table("five_db.t0").count() == 0


def test_a_table_that_takes_the_name_of_another_one_renames_it(spark, five, attached):
    five.create_table("db.a-b", SCHEMA)
    attached.refresh()
    assert attached.tables()["db.a-b"] == "five_db.a_b"
    icefloe.spark.sql(spark, "CREATE TABLE five.db.a_b (other string)")
    assert attached.tables()["db.a_b"] == "five_db.a_b"
    assert spark.table("five_db.a_b").columns == ["other"]
    assert spark.table(attached.tables()["db.a-b"]).columns == ["id"]


def test_attach_leaves_out_a_table_that_may_not_be_loaded(spark, five, loads):
    loads[1].add("db.t2")
    with pytest.warns(UserWarning, match=r"attach: db\.t2 is left out of five_db: db\.t2: no grant"):
        lake = icefloe.spark.attach(spark, five, "five")
    try:
        assert sorted(lake.tables()) == ["db.t0", "db.t1", "db.t3", "db.t4"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            icefloe.spark.sql(spark, "CREATE TABLE five.db.made (id bigint)")
        assert spark.table("five_db.made").count() == 0
    finally:
        icefloe.spark.detach(spark, "five")


def test_a_table_that_cannot_be_loaded_after_a_commit_is_left_out_with_a_warning(spark, five, attached, loads):
    loads[1].add("db.made")
    with pytest.warns(UserWarning, match=r"attach: db\.made is left out of five_db: db\.made: no grant") as found:
        icefloe.spark.sql(spark, "CREATE TABLE five.db.made (id bigint)")
    assert [warning.filename for warning in found if warning.category is UserWarning] == [__file__]
    assert five.table_exists("db.made")
    assert "db.made" not in attached.tables()


def test_a_catalog_that_cannot_be_listed_after_a_commit_gives_a_warning(spark, five, attached, monkeypatch):
    def unavailable(namespace):
        raise StorageError("no reply")

    monkeypatch.setattr(five, "list_tables", unavailable)
    with pytest.warns(
        UserWarning, match=r"attach: the statement has committed, .* AttachedCatalog\.refresh\(\): no reply"
    ):
        icefloe.spark.sql(spark, "CREATE TABLE five.db.made (id bigint)")
    monkeypatch.undo()
    attached.refresh()
    assert spark.table("five_db.made").count() == 0


@pytest.fixture
def refused_namespaces(five, monkeypatch):
    """A namespace `secret` with a table and a namespace `inner`, and a set of calls on it that are refused."""
    refused = {"list_tables", "list_namespaces"}
    for namespace in ("secret", "secret.inner"):
        five.create_namespace(namespace)
        five.create_table(f"{namespace}.t", SCHEMA)

    def guarded(name, listing):
        def call(namespace=()):
            if name in refused and tuple(namespace) == ("secret",):
                raise ForbiddenError("secret: no grant")
            return listing(namespace)

        return call

    for name in ("list_tables", "list_namespaces"):
        monkeypatch.setattr(five, name, guarded(name, getattr(five, name)))
    return refused


def test_attach_leaves_out_a_namespace_that_may_not_be_listed(spark, five, refused_namespaces):
    with pytest.warns(UserWarning, match="attach: the ") as found:
        lake = icefloe.spark.attach(spark, five, "five")
    try:
        issued = [warning for warning in found if warning.category is UserWarning]
        assert [str(warning.message) for warning in issued] == [
            "attach: the namespaces in secret are left out: secret: no grant",
            "attach: the tables of namespace secret are left out of five_secret: secret: no grant",
        ]
        assert {warning.filename for warning in issued} == {__file__}
        assert sorted(lake.tables()) == [f"db.t{number}" for number in range(5)]
        assert spark.table("five_db.t4").count() == 0
        refused_namespaces.clear()
        lake.refresh()
        assert lake.tables()["secret.t"] == "five_secret.t"
        assert lake.tables()["secret.inner.t"] == "five_secret_inner.t"
        refused_namespaces.add("list_tables")
        with pytest.warns(UserWarning, match="attach: the tables of namespace secret are left out of five_secret: "):
            lake.refresh()
        assert "secret.t" not in lake.tables()
        assert spark.table("five_secret_inner.t").count() == 0
    finally:
        icefloe.spark.detach(spark, "five")


def test_statements_on_a_namespace_that_may_not_be_listed_give_no_more_warnings(spark, five, refused_namespaces):
    with pytest.warns(UserWarning, match="attach: the "):
        lake = icefloe.spark.attach(spark, five, "five")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            icefloe.spark.sql(spark, "ALTER TABLE five.secret.t ADD COLUMN name string")
            icefloe.spark.sql(spark, "CREATE TABLE five.secret.inner.made (id bigint)")
            icefloe.spark.sql(spark, "CREATE NAMESPACE five.other")
        assert sorted(lake.tables()) == [f"db.t{number}" for number in range(5)]
        with pytest.warns(UserWarning, match="attach: the ") as found:
            lake.refresh()
        assert len([warning for warning in found if warning.category is UserWarning]) == 2
        refused_namespaces.clear()
        icefloe.spark.sql(spark, "CREATE TABLE five.secret.made (id bigint)")
        assert spark.table("five_secret.made").count() == 0
    finally:
        icefloe.spark.detach(spark, "five")


def test_entries_of_a_namespace_that_may_no_longer_be_listed_are_changed(spark, five, refused_namespaces, request):
    refused_namespaces.clear()
    lake = request.getfixturevalue("attached")
    refused_namespaces.add("list_tables")
    with pytest.warns(UserWarning, match="attach: new tables of namespace secret are left out of five_secret: "):
        icefloe.spark.sql(spark, "ALTER TABLE five.secret.t ADD COLUMN name string")
    assert spark.table("five_secret.t").columns == ["id", "name"]
    location = five.load_table("db.t1").metadata_location
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        icefloe.spark.sql(spark, "CREATE TABLE five.secret.made (id bigint)")
        icefloe.spark.sql(spark, f"CALL five.system.register_table('db.again', '{location}')")
    assert {"db.again", "secret.t"} <= lake.tables().keys()
    assert "secret.made" not in lake.tables()
    icefloe.spark.sql(spark, "DROP TABLE five.secret.t")
    assert not spark.catalog.tableExists("five_secret.t")


def test_refresh_keeps_what_is_known_where_a_listing_fails(spark, five, attached, monkeypatch):
    def unavailable(namespace=()):
        raise StorageError("no reply")

    monkeypatch.setattr(five, "list_tables", unavailable)
    with pytest.raises(StorageError, match="no reply"):
        attached.refresh()
    assert sorted(attached.tables()) == [f"db.t{number}" for number in range(5)]
    assert spark.table("five_db.t4").count() == 0


def test_attach_leaves_out_a_namespace_that_is_dropped_while_it_is_listed(spark, five, monkeypatch):
    five.create_namespace("gone")
    listing = five.list_tables

    def list_tables(namespace):
        if tuple(namespace) == ("gone",):
            raise NoSuchNamespaceError("namespace gone does not exist")
        return listing(namespace)

    monkeypatch.setattr(five, "list_tables", list_tables)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lake = icefloe.spark.attach(spark, five, "five")
    assert sorted(lake.tables()) == [f"db.t{number}" for number in range(5)]
    icefloe.spark.detach(spark, "five")


def test_statements_bring_namespaces_into_the_catalog_of_spark_beside_one_that_may_not_be_listed(
    spark, five, attached, refused_namespaces
):
    with pytest.warns(UserWarning, match="attach: the namespaces in secret are left out: secret: no grant"):
        icefloe.spark.sql(spark, "CREATE NAMESPACE five.other")
    icefloe.spark.sql(spark, "CREATE TABLE five.other.t (id bigint)")
    assert spark.table("five_other.t").count() == 0


def test_attach_fails_if_the_catalog_lists_no_namespaces(spark, five, monkeypatch):
    def refuse(namespace=()):
        raise ForbiddenError("no grant")

    monkeypatch.setattr(five, "list_namespaces", refuse)
    with pytest.raises(ForbiddenError, match="no grant"):
        icefloe.spark.attach(spark, five, "five")


WIDE = "id long, name string"


@pytest.fixture
def same_catalog(five):
    """The catalog `five`, loaded once more."""
    return load_catalog(five.name, **five.properties)


def test_writes_that_merge_schemas_change_the_entries_in_the_catalog_of_spark(spark, five, attached, same_catalog):
    rows = spark.createDataFrame([(1, "a")], WIDE)
    assert spark.table("five_db.t1").columns == ["id"]
    icefloe.spark.write(rows, five.load_table("db.t1"), options={"merge-schema": "true"})
    assert spark.table("five_db.t1").collect() == [(1, "a")]
    icefloe.spark.write(rows, same_catalog.load_table("db.t2"), "overwrite", {"merge-schema": "true"})
    assert spark.table("five_db.t2").collect() == [(1, "a")]
    icefloe.spark.write_to(rows, "db.t3", five).option("merge-schema", "true").append()
    assert spark.table("five_db.t3").collect() == [(1, "a")]


def test_writes_of_definitions_change_the_entries_in_the_catalog_of_spark(spark, five, attached):
    rows = spark.createDataFrame([(1, "a")], WIDE)
    icefloe.spark.write_to(rows, "db.made", five).create()
    assert spark.table("five_db.made").collect() == [(1, "a")]
    icefloe.spark.write_to(rows, "db.t4", five).replace()
    assert spark.table("five_db.t4").collect() == [(1, "a")]


def test_writes_that_change_no_schema_load_no_table(spark, five, attached, loads):
    table = five.load_table("db.t1")
    loads[0].clear()
    icefloe.spark.write(spark.range(2), table, options={"merge-schema": "true"})
    assert loads[0] == []
    assert spark.table("five_db.t1").count() == 2


def test_a_write_of_another_catalog_leaves_the_entries_as_they_are(spark, five, attached, loads, tmp_path):
    other = load_catalog("other", type="sql", uri=f"sqlite:///{tmp_path}/other.db", warehouse=f"{tmp_path}/other")
    other.create_namespace("db")
    rows = spark.createDataFrame([(1, "a")], WIDE)
    icefloe.spark.write(rows, other.create_table("db.t1", SCHEMA), options={"merge-schema": "true"})
    assert loads[0] == []
    assert spark.table("five_db.t1").columns == ["id"]


def test_a_write_has_committed_if_the_entry_cannot_be_changed(spark, five, attached, loads):
    table = five.load_table("db.t1")
    loads[1].add("db.t1")
    rows = spark.createDataFrame([(1, "a")], WIDE)
    with pytest.warns(UserWarning, match=r"attach: db\.t1 is not up to date in five_db: db\.t1: no grant") as found:
        icefloe.spark.write(rows, table, options={"merge-schema": "true"})
    assert [warning.filename for warning in found if warning.category is UserWarning] == [__file__]
    assert table.scan().count() == 1


def test_writes_after_detach_make_no_entry(spark, five):
    icefloe.spark.attach(spark, five, "five")
    icefloe.spark.detach(spark, "five")
    rows = spark.createDataFrame([(1, "a")], WIDE)
    icefloe.spark.write(rows, five.load_table("db.t1"), options={"merge-schema": "true"})
    assert not spark.catalog.databaseExists("five_db")
