"""Tables that are created with rows, or replaced, in one commit."""

import contextlib

import pyarrow as pa
import pytest
from icefloe.exceptions import (
    CommitStateUnknownException,
    IcebergError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationException,
)

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, ROWS, SCHEMA, ids

# Hive Metastore refuses a column whose type is not compatible with the former type at its position.
OTHER = pa.schema([("id", pa.int64()), ("total", pa.string()), ("code", pa.float64())])
TOTALS = pa.table({"id": [7, 8], "total": ["a", "b"], "code": [0.5, 1.5]}, schema=OTHER)


def files_of(table):
    return set(table.io.core.list(f"{table.location()}/").column("location").to_pylist())


def test_table_is_created_with_its_rows_in_one_commit(catalog, other_client, identifier):
    with catalog.create_table_transaction(identifier, SCHEMA) as transaction:
        transaction.append(ROWS)
        transaction.append(MORE)
        assert not other_client.table_exists(identifier)
        assert other_client.list_tables(identifier[:-1]) == []
    table = other_client.load_table(identifier)
    assert (ids(table), len(table.metadata.metadata_log)) == ([1, 2, 3, 4], 0)
    table.append(MORE)
    assert ids(catalog.load_table(identifier)) == [1, 2, 3, 4, 4]


def test_creation_that_is_abandoned_leaves_no_table(catalog, identifier):
    with pytest.raises(ZeroDivisionError), catalog.create_table_transaction(identifier, SCHEMA) as transaction:  # noqa: PT012
        transaction.append(ROWS)
        raise ZeroDivisionError
    assert not catalog.table_exists(identifier)
    assert catalog.list_tables(identifier[:-1]) == []
    catalog.drop_namespace(identifier[:-1])


def test_creation_in_one_commit_loses_to_a_table_of_the_same_name(catalog, other_client, identifier):
    transaction = catalog.create_table_transaction(identifier, SCHEMA)
    transaction.append(ROWS)
    other_client.create_table(identifier, SCHEMA).append(MORE)
    with pytest.raises(TableAlreadyExistsError):
        transaction.commit_transaction()
    assert ids(catalog.load_table(identifier)) == [4]


def test_table_that_many_create_with_rows_has_the_rows_of_one(race, catalog, identifier):
    def create(client, number):
        with client.create_or_replace_table_transaction(identifier, SCHEMA) as transaction:
            transaction.append(pa.table({"id": [number], "name": ["x"]}, schema=SCHEMA))

    outcomes = race(create)
    assert None in outcomes
    assert {type(outcome) for outcome in outcomes} <= {type(None), TableAlreadyExistsError}
    (row,) = ids(catalog.load_table(identifier))
    assert outcomes[row] is None


def test_replaced_table_keeps_its_uuid_snapshots_tags_and_properties(catalog, other_client, table, identifier):
    with table.update_properties() as update:
        update.set_properties({"a": "1", "b": "1"})
    before = table.current_snapshot()
    table.manage_snapshots().create_tag(before.snapshot_id, "old").commit()
    with catalog.replace_table_transaction(identifier, OTHER, properties={"b": "2"}) as transaction:
        transaction.append(TOTALS)
        assert ids(other_client.load_table(identifier)) == [1, 2, 3]
    replaced = other_client.load_table(identifier)
    assert (ids(replaced), replaced.metadata.table_uuid) == ([7, 8], table.metadata.table_uuid)
    assert (replaced.properties["a"], replaced.properties["b"]) == ("1", "2")
    assert [(field.field_id, field.name) for field in replaced.schema().fields] == [
        (1, "id"),
        (3, "total"),
        (4, "code"),
    ]
    assert replaced.current_snapshot().parent_snapshot_id is None
    assert replaced.current_snapshot().sequence_number == before.sequence_number + 1
    old = replaced.scan(snapshot_id=before.snapshot_id).to_arrow()
    assert old.column_names == ["id", "name"]
    assert sorted(old.column("id").to_pylist()) == [1, 2, 3]
    assert set(replaced.metadata.refs) == {"main", "old"}
    replaced.append(TOTALS)
    assert ids(catalog.load_table(identifier)) == [7, 7, 8, 8]


def test_replaced_table_without_rows_is_empty(catalog, table, identifier):
    replaced = catalog.replace_table(identifier, OTHER)
    assert (replaced.current_snapshot(), replaced.schema().column_names) == (None, ["id", "total", "code"])
    assert len(replaced.snapshots()) == 1
    replaced.append(TOTALS)
    assert ids(catalog.load_table(identifier)) == [7, 8]


def test_create_or_replace_creates_then_replaces(catalog, identifier):
    created = catalog.create_or_replace_table(identifier, SCHEMA)
    created.append(ROWS)
    replaced = catalog.create_or_replace_table(identifier, OTHER)
    assert replaced.metadata.table_uuid == created.metadata.table_uuid
    assert (ids(replaced) if replaced.current_snapshot() else []) == []


def test_replacement_of_a_missing_table_is_refused(catalog, identifier):
    with pytest.raises(NoSuchTableError):
        catalog.replace_table(identifier, SCHEMA)
    assert not catalog.table_exists(identifier)


def test_replacement_that_is_abandoned_changes_nothing(catalog, table, identifier):
    before = files_of(table)
    with pytest.raises(ZeroDivisionError), catalog.replace_table_transaction(identifier, OTHER) as transaction:  # noqa: PT012
        transaction.append(TOTALS)
        raise ZeroDivisionError
    assert ids(catalog.load_table(identifier)) == [1, 2, 3]
    assert files_of(table) == before


def test_rows_that_others_append_during_a_replacement_stay_in_the_history(catalog, other_client, table, identifier):
    transaction = catalog.replace_table_transaction(identifier, OTHER)
    transaction.append(TOTALS)
    other = other_client.load_table(identifier)
    other.append(MORE)
    transaction.commit_transaction()
    replaced = catalog.load_table(identifier)
    assert ids(replaced) == [7, 8]
    old = replaced.scan(snapshot_id=other.current_snapshot().snapshot_id).to_arrow()
    assert sorted(old.column("id").to_pylist()) == [1, 2, 3, 4]


def test_replacement_with_rows_conflicts_with_new_columns(catalog, other_client, table, identifier):
    transaction = catalog.replace_table_transaction(identifier, OTHER)
    transaction.append(TOTALS)
    with other_client.load_table(identifier).update_schema() as update:
        update.add_column("more", "long")
    before = files_of(catalog.load_table(identifier))
    with pytest.raises(ValidationException, match="repeat the transaction"):
        transaction.commit_transaction()
    loaded = catalog.load_table(identifier)
    assert (loaded.schema().column_names, ids(loaded)) == (["id", "name", "more"], [1, 2, 3])
    assert files_of(loaded) < before


def test_replacement_of_a_table_that_was_created_again_is_refused(catalog, other_client, table, identifier):
    transaction = catalog.replace_table_transaction(identifier, OTHER)
    transaction.append(TOTALS)
    other_client.purge_table(identifier)
    other_client.create_table(identifier, SCHEMA).append(MORE)
    with pytest.raises(IcebergError) as caught:
        transaction.commit_transaction()
    assert not isinstance(caught.value, CommitStateUnknownException)
    assert ids(catalog.load_table(identifier)) == [4]


def test_table_that_many_replace_and_append_to_has_the_rows_after_one_replacement(race, catalog, table, identifier):
    with table.update_properties() as update:
        update.set_properties({"commit.retry.num-retries": "50"})

    def change(client, number):
        rows = pa.table({"id": [10 + number], "name": ["x"]}, schema=SCHEMA)
        if number % 2:
            client.load_table(identifier).append(rows)
        else:
            with client.replace_table_transaction(identifier, SCHEMA) as transaction:
                transaction.append(rows)

    assert race(change) == [None] * 5
    loaded = catalog.load_table(identifier)
    assert len(loaded.snapshots()) == 6
    found = ids(loaded)
    assert 1 not in found
    assert sum(1 for row in found if row % 2 == 0) == 1


@pytest.mark.needs(Capability.LOST_REPLIES)
def test_replacement_with_a_lost_reply_is_there_once(subject, namespace_name):
    with subject.losing_replies() as (client, lose):
        client.create_namespace(namespace_name)
        table = client.create_table((*namespace_name, "t"), SCHEMA)
        table.append(ROWS)
        transaction = client.replace_table_transaction((*namespace_name, "t"), OTHER)
        transaction.append(TOTALS)
        lose()
        with contextlib.suppress(CommitStateUnknownException):
            transaction.commit_transaction()
        loaded = client.load_table((*namespace_name, "t"))
        assert ids(loaded) == [7, 8]
        assert len(loaded.snapshots()) == 2


@pytest.mark.needs(Capability.LOST_REPLIES)
def test_creation_with_rows_and_a_lost_reply_is_there_once(subject, namespace_name):
    with subject.losing_replies() as (client, lose):
        client.create_namespace(namespace_name)
        transaction = client.create_table_transaction((*namespace_name, "t"), SCHEMA)
        transaction.append(ROWS)
        lose()
        with contextlib.suppress(CommitStateUnknownException):
            transaction.commit_transaction()
        assert ids(client.load_table((*namespace_name, "t"))) == [1, 2, 3]
