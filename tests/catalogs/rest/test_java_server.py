"""The REST catalog on the Java reference's server."""

from __future__ import annotations

import json
import pickle

import httpx
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.rest import RestCatalog, TableCommit
from icefloe.exceptions import (
    CommitFailedException,
    InvalidIdentifierError,
    NoSuchNamespaceError,
    NoSuchTableError,
    NoSuchViewError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.update import AssertCurrentSchemaId, AssertTableUUID, SetPropertiesUpdate
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField, StringType
from pyiceberg.catalog.rest import RestCatalog as PyIcebergRestCatalog

from tests.catalogs.rest.conftest import ROWS, SCHEMA


def test_uri_implies_a_rest_catalog(rest):
    assert isinstance(load_catalog("x", uri=rest.uri), RestCatalog)


def test_pyiceberg_reads_what_was_committed_and_the_other_way_round(rest, catalog, table):
    table.delete("id = 2")
    other = PyIcebergRestCatalog("other", uri=rest.uri, **{"namespace-separator": "%2E"})
    theirs = other.load_table(table.name())
    assert sorted(theirs.scan().to_arrow().column("id").to_pylist()) == [1, 3]
    theirs.append(pa.table({"id": [9], "name": ["z"]}, schema=SCHEMA))
    assert sorted(table.refresh().scan().to_arrow().column("id").to_pylist()) == [1, 3, 9]
    table.append(pa.table({"id": [10], "name": ["y"]}, schema=SCHEMA))
    assert other.load_table(table.name()).scan().to_arrow().num_rows == 4


def test_metadata_is_what_the_server_sent(catalog, namespace):
    table = catalog.create_table(f"{namespace}.t", SCHEMA, properties={"owner": "me", "format-version": "1"})
    assert table.format_version == 1
    assert table.properties["owner"] == "me"
    with table.update_schema() as update:
        update.add_column("note", StringType())
    with table.update_spec() as update:
        update.add_identity("name")
    with table.update_sort_order() as update:
        update.asc("id", "identity")
    loaded = catalog.load_table(table.name())
    assert loaded.metadata == table.metadata
    assert loaded.metadata_location == table.metadata_location


@pytest.mark.filterwarnings("ignore::icefloe.exceptions.MetadataWarning")
@pytest.mark.parametrize("is_replaced", [False, True], ids=["evolved", "replaced"])
def test_counters_that_are_too_small_do_not_conflict(catalog, table, namespace, is_replaced):
    with table.update_spec() as update:
        update.add_identity("name")
    value = {**json.loads(table.metadata.model_dump_json()), "last-column-id": 1, "last-partition-id": 999}
    location = f"{table.location()}/metadata/00009-small.metadata.json"
    table.io.core.write(location, json.dumps(value).encode(), overwrite=False)
    small = catalog.register_table(f"{namespace}.small", location)
    small.transaction().set_properties({"owner": "me"}).commit_transaction()
    if is_replaced:
        wider = Schema(*small.schema().fields, NestedField(9, "note", StringType()))
        small = catalog.create_or_replace_table(small.name(), wider)
    else:
        with small.transaction() as transaction:
            with transaction.update_schema() as update:
                update.add_column("note", StringType())
            with transaction.update_spec() as update:
                update.add_identity("id")
        assert [field.field_id for field in small.spec().fields] == [1000, 1001]
    assert small.schema().find_field("note").field_id == 3


def test_table_exists_only_under_its_name(catalog, table, namespace):
    assert catalog.table_exists(table.name())
    assert not catalog.table_exists(f"{namespace}.other")
    assert not catalog.table_exists("nowhere.other")
    assert not catalog.table_exists("t")


def test_missing_things_have_their_errors(catalog, namespace):
    with pytest.raises(NoSuchTableError):
        catalog.load_table(f"{namespace}.missing")
    with pytest.raises(NoSuchTableError):
        catalog.drop_table(f"{namespace}.missing")
    with pytest.raises(NoSuchNamespaceError):
        catalog.create_table("missing.t", SCHEMA)
    with pytest.raises(NoSuchNamespaceError):
        catalog.list_tables("missing")
    with pytest.raises(NoSuchViewError):
        catalog.load_view(f"{namespace}.missing")


def test_namespace_level_with_the_separator_is_refused(catalog, namespace):
    with pytest.raises(InvalidIdentifierError, match="separates levels"):
        catalog.create_namespace((namespace, "a.b"))
    assert catalog.list_namespaces(namespace) == []


def test_lists_come_in_pages(rest, catalog, namespace):
    for name in "abcde":
        catalog.create_table((namespace, name), SCHEMA)
        catalog.create_namespace((namespace, name))
    with RestCatalog("pages", uri=rest.uri, **{"rest-page-size": "2"}) as paged:
        assert paged.list_tables(namespace) == [(namespace, name) for name in "abcde"]
        assert paged.list_namespaces(namespace) == [(namespace, name) for name in "abcde"]


def test_pickled_catalog_works_without_loading_the_configuration(catalog, table):
    copy = pickle.loads(pickle.dumps(catalog))
    assert copy.load_table(table.name()).scan().count() == 3
    assert copy.properties == catalog.properties


def test_snapshots_of_refs_are_loaded_first_and_the_others_when_they_are_needed(rest, table):
    table.append(ROWS)
    with RestCatalog("refs", uri=rest.uri, **{"snapshot-loading-mode": "refs"}) as catalog:
        found = catalog.load_table(table.name())
        assert len(found.metadata.snapshots) == 1
        assert found.scan().count() == 6
        assert [snapshot.snapshot_id for snapshot in found.snapshots()] == [it.snapshot_id for it in table.snapshots()]
        writer = catalog.load_table(table.name())
        table.append(ROWS)
        writer.append(ROWS)
        assert len(writer.metadata.snapshots) == 4


def test_create_transaction_creates_the_table_with_its_rows(catalog, namespace):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    schema = Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()))
    with catalog.create_table_transaction(
        (namespace, "t"), schema, partition_spec=spec, properties={"a": "b"}
    ) as transaction:
        transaction.append(ROWS)
        transaction.set_properties(owner="me")
        with transaction.update_schema() as update:
            update.add_column("note", StringType())
        assert not catalog.table_exists((namespace, "t"))
    table = catalog.load_table((namespace, "t"))
    assert table.scan().count() == 3
    assert [field.name for field in table.schema().fields] == ["id", "name", "note"]
    assert (table.properties["a"], table.properties["owner"]) == ("b", "me")
    assert len(table.spec().fields) == 1


def test_create_transaction_without_changes_creates_an_empty_table(catalog, namespace):
    table = catalog.create_table_transaction((namespace, "t"), SCHEMA).commit_transaction()
    assert catalog.load_table((namespace, "t")).metadata.table_uuid == table.metadata.table_uuid
    table.append(ROWS)
    assert catalog.load_table((namespace, "t")).scan().count() == 3


def test_create_transaction_fails_and_deletes_its_files_where_another_was_first(catalog, namespace):
    transaction = catalog.create_table_transaction((namespace, "t"), SCHEMA)
    transaction.append(ROWS)
    location = transaction.table_metadata.location
    other = catalog.create_table((namespace, "t"), SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        transaction.commit_transaction()
    assert catalog.load_table((namespace, "t")).scan().count() == 0
    left = other.io.core.list(f"{location}/").column("location").to_pylist()
    assert [path for path in left if path.endswith((".parquet", ".avro"))] == []


def test_several_tables_change_together_or_not_at_all(catalog, namespace):
    first, second = (catalog.create_table((namespace, name), SCHEMA) for name in ("a", "b"))

    def commit(table, schema_id):
        requirements = (
            AssertTableUUID(uuid=table.metadata.table_uuid),
            AssertCurrentSchemaId(current_schema_id=schema_id),
        )
        return TableCommit(table.name(), requirements, (SetPropertiesUpdate(updates={"together": "yes"}),))

    with pytest.raises(CommitFailedException, match="nothing has changed"):
        catalog.commit_transaction([commit(first, 0), commit(second, 7)])
    assert "together" not in first.refresh().properties
    catalog.commit_transaction([commit(first, 0), commit(second, 0)])
    assert [table.refresh().properties["together"] for table in (first, second)] == ["yes", "yes"]


def test_view_is_listed_loaded_as_text_and_dropped(rest, catalog, namespace):
    sql = "select id as x -- as it is\nfrom  t"
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "type": "long", "required": False}]}
    version = {
        "version-id": 1,
        "timestamp-ms": 1,
        "schema-id": 0,
        "summary": {},
        "default-namespace": [namespace],
        "representations": [{"type": "sql", "sql": sql, "dialect": "spark"}],
    }
    body = {"name": "v", "schema": schema, "view-version": version, "properties": {"owner": "me"}}
    httpx.post(f"{rest.uri}/v1/namespaces/{namespace}/views", json=body).raise_for_status()
    assert catalog.list_views(namespace) == [(namespace, "v")]
    assert catalog.view_exists((namespace, "v"))
    view = catalog.load_view((namespace, "v"))
    assert (view.sql(), view.sql("Spark"), view.sql("trino")) == (sql, sql, None)
    assert view.properties == {"owner": "me"}
    catalog.drop_view((namespace, "v"))
    assert catalog.list_views(namespace) == []
    assert not catalog.view_exists((namespace, "v"))


def test_purge_deletes_the_files(catalog, table):
    location = table.metadata_location
    catalog.purge_table(table.name())
    assert not table.io.new_input(location).exists()


@pytest.mark.parametrize(
    "purge",
    [lambda catalog, name: catalog.purge_table(name), lambda catalog, name: catalog.drop_table(name, True)],
    ids=["purge_table", "drop_table"],
)
def test_purge_is_refused_when_garbage_collection_is_off(rest, catalog, table, purge):
    with table.transaction() as transaction:
        transaction.set_properties({"gc.enabled": "false"})
    for mode in ("all", "refs"):
        with (
            RestCatalog("purging", uri=rest.uri, **{"snapshot-loading-mode": mode}) as client,
            pytest.raises(ValidationError, match=r"gc\.enabled is false; use drop_table"),
        ):
            purge(client, table.name())
    assert catalog.load_table(table.name()).scan().count() == 3


def test_drop_keeps_the_files_for_register(catalog, table):
    catalog.drop_table(table.name())
    again = catalog.register_table(table.name(), table.metadata_location)
    assert again.scan().count() == 3


def test_server_that_does_not_listen_is_one_error():
    with pytest.raises(
        StorageError, match=r"catalog 'x': configuration: cannot reach the server.*127\.0\.0\.1:1/v1/config"
    ):
        RestCatalog("x", uri="http://user:secret@127.0.0.1:1", token="abcdef")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"uri": "catalog.example"}, "property uri: expected an http:// or https:// address"),
        ({"rest-page-size": "none"}, "rest-page-size: expected an integer of at least 1, got 'none'"),
        ({"snapshot-loading-mode": "some"}, "snapshot-loading-mode: expected all or refs"),
        ({"auth.type": "basic"}, "auth.basic.username"),
        ({"auth.type": "oauth2"}, "OAuth 2 needs"),
        ({"rest.sigv4-enabled": "maybe"}, "expected true or false"),
        ({"rest.sigv4-enabled": "true"}, "rest.signing-region is missing"),
        ({"ssl.cabundle": "/missing.pem"}, "ssl.cabundle: cannot be loaded"),
        ({"header.x": "a\nb"}, "property header.x: expected text without control characters"),
    ],
)
def test_invalid_property_is_in_the_error(rest, properties, message):
    with pytest.raises(ValidationError, match=message):
        RestCatalog("x", **{"uri": rest.uri, **properties})
