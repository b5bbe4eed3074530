"""Tables that are created together with their first changes."""

from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    CommitFailedException,
    NoSuchNamespaceError,
    TableAlreadyExistsError,
    ValidationError,
    ValidationException,
)
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.table import StagedTable
from icefloe.transforms import IdentityTransform
from icefloe.types import LongType, NestedField

SCHEMA = Schema(NestedField(7, "id", LongType()))
SPEC = PartitionSpec(PartitionField(7, 1000, IdentityTransform(), "id"))
ROWS = pa.table({"id": [1, 2]})


@pytest.fixture(params=["memory", "sql", "hadoop"])
def catalog(request, tmp_path):
    properties = {"uri": f"sqlite:///{tmp_path}/c.db"} if request.param == "sql" else {}
    with load_catalog("made", type=request.param, warehouse=str(tmp_path / "lake"), **properties) as made:
        made.create_namespace("db")
        yield made


def files(tmp_path: Path):
    return [path for path in (tmp_path / "lake").rglob("*") if path.is_file()]


@pytest.mark.parametrize("version", ["1", "2"])
def test_create_transaction_creates_a_table_with_rows_in_one_version(catalog, version):
    properties = {"owner": "me", "format-version": version}
    with catalog.create_table_transaction("db.t", SCHEMA, partition_spec=SPEC, properties=properties) as transaction:
        transaction.append(ROWS)
        transaction.set_properties(team="us")
        assert not catalog.table_exists("db.t")
    table = catalog.load_table("db.t")
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [1, 2]
    assert (table.format_version, table.properties["owner"], table.properties["team"]) == (int(version), "me", "us")
    assert len(table.metadata.metadata_log) == 0
    assert len(table.schemas()) == len(table.specs()) == len(table.sort_orders()) == 1
    assert [field.field_id for field in table.schema().fields] == [1]
    table.append(ROWS)
    assert table.scan().count() == 4


def test_create_transaction_without_changes_creates_an_empty_table(catalog):
    table = catalog.create_table_transaction("db.t", SCHEMA).commit_transaction()
    assert not isinstance(table, StagedTable)
    assert table.scan().count() == 0
    table.append(ROWS)
    assert catalog.load_table("db.t").scan().count() == 2


def test_create_transaction_changes_the_table_after_it_was_created(catalog):
    transaction = catalog.create_table_transaction("db.t", SCHEMA)
    transaction.append(ROWS)
    transaction.commit_transaction()
    transaction.append(ROWS)
    transaction.commit_transaction()
    assert catalog.load_table("db.t").scan().count() == 4


def test_create_transaction_that_raises_leaves_no_table_and_no_file(catalog, tmp_path):
    with pytest.raises(ZeroDivisionError), catalog.create_table_transaction("db.t", SCHEMA) as transaction:  # noqa: PT012
        transaction.append(ROWS)
        raise ZeroDivisionError
    assert not catalog.table_exists("db.t")
    assert [path for path in files(tmp_path) if path.suffix != ".db"] == []


def test_create_transaction_loses_to_a_table_of_the_same_name(catalog, tmp_path):
    transaction = catalog.create_table_transaction("db.t", SCHEMA)
    transaction.append(ROWS)
    first = catalog.create_table("db.t", SCHEMA)
    before = {first.metadata_location}
    if first.metadata_location.endswith("v1.metadata.json"):
        before.add(f"{first.location()}/metadata/version-hint.text")
    with pytest.raises(TableAlreadyExistsError):
        transaction.commit_transaction()
    assert catalog.load_table("db.t").scan().count() == 0
    assert {str(path) for path in files(tmp_path)} == before


def test_create_transaction_refuses_taken_names_and_absent_namespaces(catalog):
    catalog.create_table("db.t", SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table_transaction("db.t", SCHEMA)
    with pytest.raises(NoSuchNamespaceError):
        catalog.create_table_transaction("none.t", SCHEMA)


def test_staged_tables_cannot_be_read(catalog):
    staged = catalog.create_table_transaction("db.t", SCHEMA)._table
    for read in (staged.scan, staged.refresh, staged.incremental_append_scan):
        with pytest.raises(ValidationError, match="commit the transaction that creates it first"):
            read()


def test_abandoned_creation_of_a_hadoop_table_leaves_no_directory(tmp_path):
    catalog = load_catalog("h", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    transaction = catalog.create_table_transaction("db.t", SCHEMA, partition_spec=SPEC)
    transaction.append(ROWS)
    catalog.create_table("db.u", SCHEMA)
    with pytest.raises(ZeroDivisionError), transaction:
        raise ZeroDivisionError
    assert [path.name for path in (tmp_path / "db").iterdir()] == ["u"]


def test_block_that_handles_a_failed_commit_creates_no_empty_table(catalog):
    with catalog.create_table_transaction("db.t", pa.schema([("id", pa.int64())])) as transaction:
        catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
        transaction.append(pa.table({"id": [1]}))
        with pytest.raises(TableAlreadyExistsError):
            transaction.commit_transaction()
        catalog.drop_table("db.t")
    assert not catalog.table_exists("db.t")


def test_block_that_handles_a_failed_commit_replaces_no_rows(catalog):
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2]}))
    with catalog.replace_table_transaction("db.t", pa.schema([("id", pa.int64()), ("x", pa.int64())])) as transaction:
        transaction.append(pa.table({"id": [3], "x": [4]}))
        with table.update_schema() as update:
            update.add_column("y", LongType())
        with pytest.raises(ValidationException):
            transaction.commit_transaction()
    assert catalog.load_table("db.t").scan().count() == 2


def failed_creation(catalog):
    transaction = catalog.create_table_transaction("db.t", pa.schema([("id", pa.int64())]))
    catalog.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [1, 2]}))
    return transaction, TableAlreadyExistsError


def failed_replacement(catalog):
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2]}))
    transaction = catalog.replace_table_transaction("db.t", pa.schema([("id", pa.int64()), ("x", pa.int64())]))
    with table.update_schema() as update:
        update.add_column("y", LongType())
    return transaction, ValidationException


def failed_append(catalog):
    properties = {"commit.retry.num-retries": "0"}
    table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]), properties=properties)
    transaction = catalog.load_table("db.t").transaction()
    table.append(pa.table({"id": [1, 2]}))
    return transaction, CommitFailedException


@pytest.mark.parametrize("begin", [failed_creation, failed_replacement, failed_append])
def test_second_commit_after_a_failed_one_is_refused(catalog, begin):
    transaction, failure = begin(catalog)
    transaction.append(pa.table({"id": [3]}))
    with pytest.raises(failure):
        transaction.commit_transaction()
    with pytest.raises(ValidationError, match="dropped its changes; expected new changes"):
        transaction.commit_transaction()
    assert catalog.load_table("db.t").scan().count() == 2
