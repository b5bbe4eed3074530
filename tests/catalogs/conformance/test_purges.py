"""Purges of tables delete the files of the table and no other files."""

import pytest
from icefloe.exceptions import NoSuchTableError, ValidationError

from tests.catalogs.conformance.rows import MORE, SCHEMA, ids


def test_purge_deletes_the_files_of_all_snapshots(subject, catalog, other_client, table, identifier):
    table.append(MORE)
    table.delete("id = 2")
    catalog.purge_table(identifier)
    assert not other_client.table_exists(identifier)
    assert subject.files(table.location()) == set()
    with pytest.raises(NoSuchTableError):
        catalog.purge_table(identifier)


def test_purge_keeps_the_files_of_other_tables(subject, catalog, table, namespace):
    others = [catalog.create_table((*namespace, name), SCHEMA) for name in ("t2", "t_", "u")]
    for other in others:
        other.append(MORE)
    before = {path for other in others for path in subject.files(other.location())}
    catalog.purge_table(table.name())
    assert {path for other in others for path in subject.files(other.location())} == before
    assert [ids(catalog.load_table(other.name())) for other in others] == [[4], [4], [4]]


def test_purge_is_refused_when_garbage_collection_is_off(subject, catalog, identifier):
    table = catalog.create_table(identifier, SCHEMA, properties={"gc.enabled": "false"})
    table.append(MORE)
    before = subject.files(table.location())
    with pytest.raises(ValidationError, match=r"gc\.enabled"):
        catalog.purge_table(identifier)
    assert subject.files(table.location()) == before
    assert ids(catalog.load_table(identifier)) == [4]


def test_name_of_a_purged_table_is_free(catalog, table, identifier):
    catalog.purge_table(identifier)
    created = catalog.create_table(identifier, SCHEMA)
    created.append(MORE)
    assert ids(catalog.load_table(identifier)) == [4]
