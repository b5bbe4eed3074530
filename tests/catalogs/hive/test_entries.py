"""Entries of Hive catalogs on real metastores: columns, parameters, names, files of purged tables."""

import json

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.hive import HiveCatalog, calls
from icefloe.catalog.hive.structs import Column, HiveTable, Serialisation, StorageDescriptor
from icefloe.exceptions import (
    NoSuchIcebergTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import DayTransform

from tests.catalogs.hive.tables import FAST, NUMBERS, ROWS, SCHEMA, entry_of


def test_uri_of_thrift_implies_a_hive_catalog(catalog):
    assert isinstance(catalog, HiveCatalog)


def test_entry_describes_the_table(catalog, namespace):
    spec = PartitionSpec(PartitionField(2, 1000, DayTransform(), "at_day"))
    properties = {"owner": "x", "gc.enabled": "false", "hive.metastore.table.owner": "me"}
    table = catalog.create_table((namespace, "t"), SCHEMA, partition_spec=spec, properties=properties)
    first = table.metadata_location
    with table.update_properties() as update:
        update.set_properties(later="1")
        update.remove_properties("owner")
    entry = entry_of(catalog, table.name())
    parameters = entry.parameters
    assert (entry.owner, entry.tableType, parameters["EXTERNAL"]) == ("me", "EXTERNAL_TABLE", "TRUE")
    assert (parameters["table_type"], parameters["uuid"]) == ("ICEBERG", str(table.metadata.table_uuid))
    assert (parameters["metadata_location"], parameters["previous_metadata_location"]) == (
        table.metadata_location,
        first,
    )
    assert (parameters["external.table.purge"], parameters["later"], parameters["snapshot-count"]) == (
        "false",
        "1",
        "0",
    )
    assert not {"owner", "gc.enabled", "hive.metastore.table.owner", "current-snapshot-id"} & set(parameters)
    assert json.loads(parameters["default-partition-spec"])["fields"][0]["name"] == "at_day"
    assert json.loads(parameters["current-schema"])["fields"][0]["doc"] == "the key"
    assert [(column.name, column.type, column.comment) for column in entry.sd.cols] == [
        ("id", "bigint", "the key"),
        ("at", "timestamp with local time zone", None),
        ("tags", "map<string,array<decimal(9,2)>>", None),
        ("place", "struct<city:string,code:string>", None),
    ]
    assert entry.sd.location == table.location()


def test_entry_counts_files_and_rows(catalog, table):
    table.append(ROWS)
    table.append(ROWS)
    parameters = entry_of(catalog, table.name()).parameters
    assert (parameters["numRows"], parameters["numFiles"], parameters["snapshot-count"]) == ("6", "2", "2")
    assert parameters["current-snapshot-id"] == str(table.current_snapshot().snapshot_id)
    assert "operation" not in json.loads(parameters["current-snapshot-summary"])


def test_entry_for_hive_names_the_storage_handler(catalog, namespace):
    table = catalog.create_table((namespace, "t"), SCHEMA, properties={"engine.hive.enabled": "true"})
    entry = entry_of(catalog, table.name())
    assert entry.parameters["storage_handler"].endswith("HiveIcebergStorageHandler")
    assert entry.sd.serdeInfo.serializationLib.endswith("HiveIcebergSerDe")


def test_timestamps_of_hive_2_have_no_zone(hive, namespace):
    catalog = hive(**{"hive.hive2-compatible": "true"})
    table = catalog.create_table((namespace, "t"), SCHEMA)
    assert entry_of(catalog, table.name()).sd.cols[1].type == "timestamp"


def test_parameters_of_other_engines_are_kept(catalog, table):
    entry = entry_of(catalog, table.name())
    entry.parameters["engine"] = "other"
    catalog._change(calls.ALTER_TABLE, *table.name(), entry, None)
    table.append(ROWS)
    assert entry_of(catalog, table.name()).parameters["engine"] == "other"


def test_tables_of_hive_are_not_listed_loaded_or_dropped(catalog, namespace, tmp_path):
    sd = StorageDescriptor(
        cols=[Column(name="id", type="bigint")], location=f"file:{tmp_path}/plain", serdeInfo=Serialisation()
    )
    plain = HiveTable(
        tableName="plain", dbName=namespace, owner="me", sd=sd, parameters={"a": "b"}, tableType="EXTERNAL_TABLE"
    )
    catalog._change(calls.CREATE_TABLE, plain)
    assert catalog.list_tables(namespace) == []
    assert not catalog.table_exists((namespace, "plain"))
    for change in (catalog.load_table, catalog.drop_table, catalog.purge_table):
        with pytest.raises(NoSuchIcebergTableError, match=r"plain.*not an Iceberg table"):
            change((namespace, "plain"))
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table((namespace, "plain"), SCHEMA)
    assert entry_of(catalog, (namespace, "plain")).parameters["a"] == "b"


def test_namespace_location_and_comment_are_fields_of_the_database(catalog, tmp_path):
    name = f"hive_{next(NUMBERS)}"
    catalog.create_namespace(name, {"location": f"file:{tmp_path}/own", "comment": "text"})
    loaded = catalog.load_namespace_properties(name)
    assert (loaded["location"], loaded["comment"]) == (f"file:{tmp_path}/own", "text")
    assert loaded["hive.metastore.database.owner-type"] == "USER"
    assert catalog.create_table((name, "t"), SCHEMA).location() == f"file:{tmp_path}/own/t"


@pytest.mark.parametrize("name", ["a.b", "..", "a ", " a", "a\x1fb"])
def test_table_name_that_the_metastore_changes_or_misreads_is_refused(catalog, table, namespace, name):
    with pytest.raises(ValidationError, match="cannot store the name"):
        catalog.create_table((namespace, name), pa.schema([("id", pa.int64())]))
    with pytest.raises(ValidationError, match="cannot store the name"):
        catalog.rename_table(table.name(), (namespace, name))
    assert catalog.list_tables(namespace) == [table.name()]


def test_table_name_that_cannot_be_locked_is_refused(hive3, namespace_of_hive3, tmp_path):
    locking = load_catalog("hive", uri=hive3.uri(), warehouse=str(tmp_path / "warehouse"), **FAST)
    schema, name = pa.schema([("id", pa.int64())]), (namespace_of_hive3, "n" * 200)
    with pytest.raises(ValidationError, match=r"cannot lock a name of 200 characters; expected at most 128"):
        locking.create_table(name, schema)
    locking.create_table(name, schema, properties={"engine.hive.lock-enabled": "false"}).append(ROWS)
    assert locking.load_table(name).scan().count() == 3


def test_purge_deletes_the_files(catalog, table):
    table.append(ROWS)
    io, location = table.io, table.location()
    catalog.purge_table(table.name())
    assert io.core.list(f"{location}/").num_rows == 0


def test_replaced_column_of_an_incompatible_type_is_refused_with_advice(catalog, table):
    table.append(ROWS)
    with pytest.raises(StorageError, match=r"disallow\.incompatible\.col\.type\.changes=false"):
        catalog.replace_table(table.name(), pa.schema([("id", pa.list_(pa.int64()))]))
    assert catalog.load_table(table.name()).scan().count() == 3
