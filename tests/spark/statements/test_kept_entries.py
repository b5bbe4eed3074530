"""Entries in Spark's own catalog that stay while the catalog refuses calls."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import ForbiddenError, NoSuchTableError, ServiceUnavailableError
from icefloe.types import StringType, TimeType

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.fixture
def catalog(tmp_path):
    """A catalog with tables of a namespace `db`, and of one in a namespace `top`."""
    made = load_catalog("kept", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    for namespace in ("db", "top", "top.inner"):
        made.create_namespace(namespace)
    for name in ("db.t", "db.u", "top.inner.t"):
        made.create_table(name, SCHEMA)
    return made


@pytest.fixture
def failing(catalog, monkeypatch):
    """Return a function that has calls of a method of the catalog fail after the first ones succeed."""

    def fail(method, error, successes=0, namespace=None):
        real, calls = getattr(catalog, method), []

        def call(identifier=()):
            if namespace is None or tuple(identifier) == namespace:
                calls.append(identifier)
                if len(calls) > successes:
                    raise error
            return real(identifier)

        monkeypatch.setattr(catalog, method, call)

    return fail


@pytest.fixture
def kept(spark, catalog):
    attached = icefloe.spark.attach(spark, catalog, "kept")
    yield attached
    icefloe.spark.detach(spark, "kept")


def add_column(catalog, name, column_type=None):
    """Add a column as another writer."""
    with catalog.load_table(name).update_schema() as update:
        update.add_column("later", column_type or StringType())


def test_select_changes_an_entry_by_the_table_that_it_has_loaded(spark, catalog, kept, failing):
    add_column(catalog, "db.t")
    failing("load_table", ServiceUnavailableError("status 503"), successes=1)
    failing("list_tables", ServiceUnavailableError("status 503"))
    assert icefloe.spark.sql(spark, "SELECT count(*) FROM kept.db.t").collect() == [(0,)]
    assert spark.table("kept_db.t").columns == ["id", "later"]


def test_a_changed_entry_stays_if_its_table_cannot_be_loaded(spark, catalog, kept, failing, monkeypatch):
    failing("load_table", ServiceUnavailableError("status 503"), successes=1)
    with pytest.warns(UserWarning, match=r"attach: db\.t is not up to date in kept_db: status 503"):
        icefloe.spark.sql(spark, "ALTER TABLE kept.db.t ADD COLUMN later string")
    assert spark.catalog.tableExists("kept_db.t")
    monkeypatch.undo()
    icefloe.spark.sql(spark, "SELECT count(*) FROM kept.db.t").collect()
    assert spark.table("kept_db.t").columns == ["id", "later"]


def test_select_adds_the_entry_of_a_table_that_could_not_be_loaded(spark, catalog, kept, failing, monkeypatch):
    failing("load_table", ServiceUnavailableError("status 503"))
    with pytest.warns(UserWarning, match=r"attach: db\.t is left out of kept_db: status 503"):
        kept.refresh()
    assert not spark.catalog.tableExists("kept_db.t")
    monkeypatch.undo()
    icefloe.spark.sql(spark, "SELECT count(*) FROM kept.db.t").collect()
    assert kept.tables() == {"db.t": "kept_db.t"}
    assert spark.table("kept_db.t").count() == 0


def test_the_entry_of_a_table_that_is_gone_is_removed(spark, catalog, kept, failing):
    failing("load_table", NoSuchTableError("table db.t does not exist"), successes=1)
    icefloe.spark.sql(spark, "ALTER TABLE kept.db.t ADD COLUMN later string")
    assert not spark.catalog.tableExists("kept_db.t")
    assert spark.catalog.tableExists("kept_db.u")


def test_select_removes_an_entry_that_spark_cannot_show_any_more(spark, catalog, kept):
    add_column(catalog, "db.t", TimeType())
    with pytest.warns(UserWarning, match=r"attach: db\.t is left out of kept_db: "):
        icefloe.spark.sql(spark, "SELECT count(*) FROM kept.db.t").collect()
    assert not spark.catalog.tableExists("kept_db.t")


def test_statements_keep_the_entries_of_namespaces_whose_parent_may_no_longer_be_listed(spark, catalog, kept, failing):
    failing("list_namespaces", ForbiddenError("no grant"), namespace=("top",))
    with pytest.warns(UserWarning, match="attach: new namespaces in top are left out: no grant"):
        icefloe.spark.sql(spark, "CREATE NAMESPACE kept.other")
    assert spark.table("kept_top_inner.t").count() == 0
    location = catalog.load_table("db.t").metadata_location
    icefloe.spark.sql(spark, f"CALL kept.system.register_table('other.again', '{location}')")
    assert {"other.again", "top.inner.t"} <= kept.tables().keys()
    assert spark.table("kept_top_inner.t").count() == 0
    icefloe.spark.sql(spark, "DROP TABLE kept.top.inner.t")
    icefloe.spark.sql(spark, "DROP NAMESPACE kept.top.inner")
    assert not spark.catalog.databaseExists("kept_top_inner")


def test_refresh_leaves_out_namespaces_whose_parent_may_not_be_listed(spark, catalog, kept, failing):
    failing("list_namespaces", ForbiddenError("no grant"), namespace=("top",))
    with pytest.warns(UserWarning, match="attach: the namespaces in top are left out: no grant"):
        kept.refresh()
    assert not spark.catalog.databaseExists("kept_top_inner")
