"""Tables: creation, loading, listing and removal."""

import pytest
from icefloe.exceptions import NoSuchNamespaceError, NoSuchTableError, TableAlreadyExistsError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from icefloe.transforms import BucketTransform, DayTransform, IdentityTransform
from icefloe.types import LongType, NestedField, StringType, StructType, TimestampType

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, ROWS, SCHEMA, ids

VERSIONS = pytest.mark.parametrize("version", ["1", "2"])

FULL_SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="the key"),
    NestedField(2, "at", TimestampType()),
    NestedField(3, "place", StructType(NestedField(4, "city", StringType())), doc="ünïcode"),
    identifier_field_ids=[1],
)
SPEC = PartitionSpec(
    PartitionField(2, 1000, DayTransform(), "at_day"), PartitionField(1, 1001, BucketTransform(8), "id_bucket")
)
ORDER = SortOrder(
    SortField(2, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST), SortField(1, BucketTransform(8))
)


@VERSIONS
def test_table_is_created_with_everything(catalog, other_client, identifier, version):
    properties = {"format-version": version, "owner": "me", "comment": "ünïcode; 'quoted'"}
    created = catalog.create_table(
        identifier, FULL_SCHEMA, partition_spec=SPEC, sort_order=ORDER, properties=properties
    )
    for table in (created, catalog.load_table(identifier), other_client.load_table(identifier)):
        assert table == created
        assert table.name() == identifier
        assert table.format_version == int(version)
        assert table.schema() == FULL_SCHEMA
        assert [field.doc for field in table.schema().fields] == ["the key", None, "ünïcode"]
        assert table.schema().identifier_field_names() == {"id"}
        assert table.spec() == SPEC
        assert table.sort_order().fields == ORDER.fields
        assert (table.properties["owner"], table.properties["comment"]) == ("me", "ünïcode; 'quoted'")
        assert "format-version" not in table.properties
        assert table.current_snapshot() is None


def test_new_table_is_version_2_with_zstd(catalog, identifier):
    table = catalog.create_table(identifier, SCHEMA)
    assert table.format_version == 2
    assert table.properties["write.parquet.compression-codec"] == "zstd"


def test_column_ids_are_assigned_from_one(catalog, identifier):
    schema = Schema(NestedField(7, "a", LongType()), NestedField(9, "b", StringType()))
    assert [field.field_id for field in catalog.create_table(identifier, schema).schema().fields] == [1, 2]


@VERSIONS
def test_rows_are_written_and_read_by_all_clients(catalog, other_client, identifier, version):
    table = catalog.create_table(identifier, SCHEMA, properties={"format-version": version})
    table.append(ROWS)
    other = other_client.load_table(identifier)
    other.append(MORE)
    assert ids(table.refresh()) == ids(other) == [1, 2, 3, 4]
    table.delete("id = 2")
    assert ids(other_client.load_table(identifier)) == [1, 3, 4]


def test_name_is_text_or_a_tuple(catalog, identifier):
    catalog.create_table(".".join(identifier), SCHEMA)
    assert catalog.table_exists(identifier)
    assert catalog.load_table(identifier) == catalog.load_table(".".join(identifier))


def test_tables_are_listed_in_order(catalog, other_client, namespace):
    for name in ("t2", "t10", "t1"):
        catalog.create_table((*namespace, name), SCHEMA)
    assert other_client.list_tables(namespace) == [(*namespace, name) for name in ("t1", "t10", "t2")]


def test_tables_of_one_name_in_two_namespaces_are_separate(catalog, namespace):
    other = (f"{namespace[0]}x",)
    catalog.create_namespace(other)
    first = catalog.create_table((*namespace, "t"), SCHEMA)
    second = catalog.create_table((*other, "t"), SCHEMA)
    first.append(ROWS)
    assert second.refresh().scan().count() == 0
    assert first.location() != second.location()
    catalog.drop_table((*namespace, "t"))
    assert catalog.list_tables(other) == [(*other, "t")]


def test_create_refuses_an_existing_table(catalog, other_client, table, identifier):
    for client in (catalog, other_client):
        with pytest.raises(TableAlreadyExistsError, match=r"\.t\b"):
            client.create_table(identifier, SCHEMA)
        assert ids(client.create_table_if_not_exists(identifier, SCHEMA)) == [1, 2, 3]


def test_create_refuses_a_missing_namespace(catalog, namespace_name):
    with pytest.raises(NoSuchNamespaceError, match=namespace_name[0]):
        catalog.create_table((*namespace_name, "t"), SCHEMA)
    assert not catalog.namespace_exists(namespace_name)


def test_failed_create_leaves_no_files(subject, catalog, table, identifier):
    before = subject.files(table.location())
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table(identifier, SCHEMA)
    assert subject.files(table.location()) == before


@pytest.mark.parametrize(
    "properties",
    [{"format-version": "7"}, {"format-version": "x"}, {"write.metadata.compression-codec": "rar"}],
    ids=["version 7", "version x", "unknown codec"],
)
def test_create_refuses_invalid_properties(catalog, identifier, properties):
    with pytest.raises(ValidationError, match=next(iter(properties))):
        catalog.create_table(identifier, SCHEMA, properties=properties)
    assert not catalog.table_exists(identifier)


@pytest.mark.parametrize("method", ["load_table", "drop_table", "purge_table"])
def test_missing_table_is_an_error_with_its_name(catalog, identifier, namespace_name, method):
    with pytest.raises(NoSuchTableError, match=r"\.t\b"):
        getattr(catalog, method)(identifier)
    assert not catalog.table_exists(identifier)


@pytest.mark.parametrize("method", ["load_table", "drop_table", "purge_table"])
def test_table_of_a_missing_namespace_is_missing(catalog, namespace_name, method):
    with pytest.raises(NoSuchTableError):
        getattr(catalog, method)((*namespace_name, "t"))
    assert not catalog.table_exists((*namespace_name, "t"))


@pytest.mark.parametrize("method", ["load_table", "drop_table", "purge_table"])
def test_name_without_a_namespace_is_no_table(catalog, method):
    with pytest.raises(NoSuchTableError, match="alone"):
        getattr(catalog, method)("alone")
    assert not catalog.table_exists("alone")


def test_dropped_table_does_not_exist(catalog, other_client, table, identifier):
    catalog.drop_table(identifier)
    assert not other_client.table_exists(identifier)
    assert other_client.list_tables(identifier[:-1]) == []
    with pytest.raises(NoSuchTableError):
        catalog.drop_table(identifier)
    with pytest.raises(NoSuchTableError):
        table.refresh()


def test_name_of_a_dropped_table_is_free(catalog, table, identifier):
    catalog.drop_table(identifier)
    created = catalog.create_table(identifier, SCHEMA)
    assert created.metadata.table_uuid != table.metadata.table_uuid
    assert created.scan().count() == 0


@pytest.mark.needs(Capability.DROP_KEEPS_FILES)
def test_drop_keeps_the_files(subject, catalog, table, identifier):
    before = subject.files(table.location())
    catalog.drop_table(identifier)
    assert subject.files(table.location()) == before


@pytest.mark.needs(Capability.LOCATION)
def test_table_is_created_at_a_location(subject, catalog, identifier):
    location = subject.new_location()
    table = catalog.create_table(identifier, SCHEMA, location=location)
    table.append(ROWS)
    assert table.location() == location
    assert table.metadata_location.startswith(f"{location}/metadata/")
    assert all(path.startswith(location) for path in table.inspect.files().column("file_path").to_pylist())


@pytest.mark.needs(Capability.LOCATION)
def test_slash_at_the_end_of_a_location_is_dropped(subject, catalog, identifier):
    location = subject.new_location()
    assert catalog.create_table(identifier, SCHEMA, location=f"{location}/").location() == location


def test_gzip_metadata_is_written_and_read(catalog, other_client, identifier):
    table = catalog.create_table(identifier, SCHEMA, properties={"write.metadata.compression-codec": "gzip"})
    table.append(ROWS)
    assert table.metadata_location.endswith(".gz.metadata.json")
    assert ids(other_client.load_table(identifier)) == [1, 2, 3]


@pytest.mark.parametrize(
    "method", ["create_table", "create_table_transaction", "replace_table", "create_or_replace_table"]
)
def test_definition_with_an_invalid_whole_number_is_refused_and_changes_nothing(
    catalog, other_client, namespace, method
):
    existing = catalog.create_table((*namespace, "old"), SCHEMA)
    name = "old" if method == "replace_table" else "new"
    for key, value in (("commit.retry.num-retries", "abc"), ("commit.retry.min-wait-ms", -1)):
        with pytest.raises(ValidationError, match=rf"{key}: expected a whole number.*got '{value}'"):
            getattr(catalog, method)((*namespace, name), SCHEMA, properties={key: value})
    assert other_client.list_tables(namespace) == [(*namespace, "old")]
    assert other_client.load_table((*namespace, "old")).metadata == existing.metadata
