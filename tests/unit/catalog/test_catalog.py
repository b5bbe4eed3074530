"""The interface of catalogs, tested with every catalog."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.schema import Schema
from icefloe.types import LongType, NestedField, StringType

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())])


def test_table_is_created_loaded_and_listed(catalog):
    catalog.create_namespace("db")
    created = catalog.create_table("db.events", SCHEMA)
    loaded = catalog.load_table("db.events")
    assert loaded == created
    assert loaded.name() == ("db", "events")
    assert [(field.name, field.required) for field in loaded.schema().fields] == [("id", True), ("name", False)]
    assert catalog.list_tables("db") == [("db", "events")]
    assert catalog.table_exists("db.events")


def test_new_table_is_version_2_with_zstd_and_its_properties(catalog):
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA, properties={"owner": "me"})
    assert table.format_version == 2
    assert table.properties["owner"] == "me"
    assert table.properties["write.parquet.compression-codec"] == "zstd"


def test_column_ids_are_assigned_from_one(catalog):
    catalog.create_namespace("db")
    schema = Schema(NestedField(7, "a", LongType()), NestedField(9, "b", StringType()))
    assert [field.field_id for field in catalog.create_table("db.t", schema).schema().fields] == [1, 2]


def test_create_table_refuses_an_existing_name(catalog):
    catalog.create_namespace("db")
    catalog.create_table("db.events", SCHEMA)
    with pytest.raises(TableAlreadyExistsError, match=r"db\.events"):
        catalog.create_table("db.events", SCHEMA)
    assert catalog.create_table_if_not_exists("db.events", SCHEMA) == catalog.load_table("db.events")


def test_create_table_refuses_a_missing_namespace(catalog):
    with pytest.raises(NoSuchNamespaceError, match="create_namespace"):
        catalog.create_table("db.events", SCHEMA)


def test_missing_table_is_in_the_error(catalog):
    catalog.create_namespace("db")
    with pytest.raises(NoSuchTableError, match=r"db\.nothing"):
        catalog.load_table("db.nothing")
    assert not catalog.table_exists("db.nothing")


def test_dropped_table_does_not_exist(catalog):
    catalog.create_namespace("db")
    catalog.create_table("db.events", SCHEMA)
    catalog.drop_table("db.events")
    assert catalog.list_tables("db") == []
    with pytest.raises(NoSuchTableError):
        catalog.drop_table("db.events")


def test_purge_is_refused_when_garbage_collection_is_off(catalog):
    catalog.create_namespace("db")
    catalog.create_table("db.events", SCHEMA, properties={"gc.enabled": "false"})
    with pytest.raises(ValidationError, match=r"gc\.enabled"):
        catalog.purge_table("db.events")
    assert catalog.table_exists("db.events")


def test_namespaces_nest_and_drop_when_empty(catalog):
    catalog.create_namespace("a")
    catalog.create_namespace("a.b")
    assert catalog.list_namespaces() == [("a",)]
    assert catalog.list_namespaces("a") == [("a", "b")]
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("a")
    catalog.drop_namespace("a.b")
    catalog.drop_namespace("a")
    assert catalog.list_namespaces() == []
    with pytest.raises(NoSuchNamespaceError):
        catalog.drop_namespace("a")


def test_create_namespace_refuses_an_existing_name(catalog):
    catalog.create_namespace("a")
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace("a")
    catalog.create_namespace_if_not_exists("a")


def test_commit_to_an_old_version_succeeds_if_its_requirements_hold(catalog):
    catalog.create_namespace("db")
    stale = catalog.create_table("db.events", SCHEMA)
    fresh = catalog.load_table("db.events")
    with fresh.update_properties() as update:
        update.set_properties({"a": "1"})
    with stale.update_properties() as update:
        update.set_properties({"b": "2"})
    properties = catalog.load_table("db.events").properties
    assert properties["a"] == "1"
    assert properties["b"] == "2"


def test_commit_to_a_dropped_table_is_refused(catalog):
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA)
    catalog.drop_table("db.events")
    with pytest.raises(NoSuchTableError), table.update_properties() as update:
        update.set_properties({"a": "1"})


def test_commit_to_a_recreated_table_is_refused(catalog):
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA)
    catalog.drop_table("db.events")
    catalog.create_table("db.events", SCHEMA)
    with pytest.raises(ValidationError, match="dropped and created again"), table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert "a" not in catalog.load_table("db.events").properties


def test_metadata_log_names_the_files_before(catalog):
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA)
    first = table.metadata_location
    with table.update_properties() as update:
        update.set_properties({"a": "1"})
    assert [entry.metadata_file for entry in catalog.load_table("db.events").metadata.metadata_log] == [first]


def test_gzip_metadata_is_written_and_read(catalog):
    catalog.create_namespace("db")
    table = catalog.create_table("db.events", SCHEMA, properties={"write.metadata.compression-codec": "gzip"})
    for number in ("1", "2"):
        with table.update_properties() as update:
            update.set_properties({"n": number})
    assert table.metadata_location.endswith(".gz.metadata.json")
    assert catalog.load_table("db.events").properties["n"] == "2"


def test_relative_warehouse_is_resolved_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = load_catalog("here", type="hadoop", warehouse="lake")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
    assert table.location() == str(tmp_path / "lake" / "db" / "t")
