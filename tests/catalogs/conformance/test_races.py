"""Concurrent changes of a catalog by several threads, each with a separate client."""

import pyarrow as pa
import pytest
from icefloe.exceptions import (
    CommitFailedException,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, ROWS, SCHEMA, ids

THREADS = 5


def until_committed(change):
    """Run a change, and repeat it after conflicts with other commits."""
    while True:
        try:
            return change()
        except CommitFailedException:  # noqa: PERF203 - each attempt may fail
            continue


def test_table_that_many_create_is_created_once(race, catalog, identifier):
    outcomes = race(lambda client, _: client.create_table(identifier, SCHEMA).metadata.table_uuid)
    created = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    assert created == [catalog.load_table(identifier).metadata.table_uuid]
    assert {type(outcome) for outcome in outcomes if isinstance(outcome, Exception)} == {TableAlreadyExistsError}


def test_appends_of_many_are_all_there_once(race, catalog, identifier):
    catalog.create_table(identifier, SCHEMA)

    def append(client, number):
        for commit in range(4):
            rows = pa.table({"id": [number * 10 + commit], "name": ["x"]}, schema=SCHEMA)
            until_committed(lambda rows=rows: client.load_table(identifier).append(rows))

    assert race(append) == [None] * THREADS
    table = catalog.load_table(identifier)
    assert ids(table) == sorted(number * 10 + commit for number in range(THREADS) for commit in range(4))
    assert len(table.snapshots()) == THREADS * 4


def test_table_that_many_drop_is_gone(race, catalog, table, identifier):
    outcomes = race(lambda client, _: client.drop_table(identifier))
    assert None in outcomes
    assert {type(outcome) for outcome in outcomes} <= {type(None), NoSuchTableError}
    assert not catalog.table_exists(identifier)
    catalog.create_table(identifier, SCHEMA).append(ROWS)
    assert ids(catalog.load_table(identifier)) == [1, 2, 3]


@pytest.mark.needs(Capability.RENAME)
def test_table_that_many_rename_has_one_name(race, catalog, table, namespace):
    outcomes = race(lambda client, number: client.rename_table(table.name(), (*namespace, f"u{number}")).name())
    names = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    assert catalog.list_tables(namespace) == names
    assert len(names) == 1
    assert {type(outcome) for outcome in outcomes if isinstance(outcome, Exception)} == {NoSuchTableError}
    assert ids(catalog.load_table(names[0])) == [1, 2, 3]


@pytest.mark.needs(Capability.RENAME)
def test_name_that_many_rename_to_has_one_table(race, catalog, namespace):
    for number in range(THREADS):
        catalog.create_table((*namespace, f"t{number}"), SCHEMA)
    target = (*namespace, "u")
    outcomes = race(lambda client, number: client.rename_table((*namespace, f"t{number}"), target).metadata.table_uuid)
    renamed = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    assert renamed == [catalog.load_table(target).metadata.table_uuid]
    assert {type(outcome) for outcome in outcomes if isinstance(outcome, Exception)} == {TableAlreadyExistsError}
    assert len(catalog.list_tables(namespace)) == THREADS


@pytest.mark.needs(Capability.NAMESPACE_DROP_RACES)
def test_table_is_created_in_or_fails_with_a_dropped_namespace(race, catalog, namespace):
    def change(client, number):
        if number == 0:
            return client.drop_namespace(namespace)
        return client.create_table((*namespace, f"t{number}"), SCHEMA).name()

    dropped, *created = race(change)
    assert isinstance(dropped, NamespaceNotEmptyError | None)
    assert {type(outcome) for outcome in created} <= {tuple, NoSuchNamespaceError}
    names = [outcome for outcome in created if isinstance(outcome, tuple)]
    assert (catalog.list_tables(namespace) if catalog.namespace_exists(namespace) else []) == names


def test_commit_during_a_drop_is_dropped_too_or_fails(race, catalog, table, identifier):
    def change(client, number):
        if number == 0:
            return client.drop_table(identifier)
        return until_committed(lambda: client.load_table(identifier).append(MORE))

    outcomes = race(change)
    assert outcomes[0] is None
    assert not catalog.table_exists(identifier)
    catalog.create_table(identifier, SCHEMA).append(ROWS)
    assert ids(catalog.load_table(identifier)) == [1, 2, 3]


@pytest.mark.needs(Capability.NAMESPACE_PROPERTIES, Capability.NAMESPACE_PROPERTY_RACES)
def test_namespace_properties_of_many_are_all_set(race, catalog, namespace):
    def change(client, number):
        return until_committed(
            lambda: client.update_namespace_properties(namespace, updates={f"k{number}": str(number)}).updated
        )

    assert race(change) == [[f"k{number}"] for number in range(THREADS)]
    found = catalog.load_namespace_properties(namespace)
    assert {key: found[key] for key in found if key.startswith("k")} == {f"k{n}": str(n) for n in range(THREADS)}
