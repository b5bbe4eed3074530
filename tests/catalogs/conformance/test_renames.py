"""Renames of tables."""

import pytest
from icefloe.exceptions import NoSuchNamespaceError, NoSuchTableError, TableAlreadyExistsError

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, SCHEMA, ids

pytestmark = pytest.mark.needs(Capability.RENAME)


@pytest.fixture
def other_namespace(catalog, namespace):
    levels = (f"{namespace[0]}other",)
    catalog.create_namespace(levels)
    return levels


def test_renamed_table_is_the_same_table(subject, catalog, other_client, table, namespace):
    files = subject.files(table.location())
    renamed = catalog.rename_table(table.name(), (*namespace, "renamed"))
    assert renamed.name() == (*namespace, "renamed")
    assert renamed.metadata == table.metadata
    assert renamed.location() == table.location()
    assert other_client.list_tables(namespace) == [(*namespace, "renamed")]
    assert ids(other_client.load_table((*namespace, "renamed"))) == [1, 2, 3]
    assert subject.files(table.location()) >= files
    with pytest.raises(NoSuchTableError):
        other_client.load_table(table.name())


def test_table_is_renamed_to_another_namespace(catalog, other_client, table, other_namespace):
    renamed = catalog.rename_table(table.name(), (*other_namespace, "t"))
    renamed.append(MORE)
    assert other_client.list_tables(table.name()[:-1]) == []
    assert ids(other_client.load_table((*other_namespace, "t"))) == [1, 2, 3, 4]


def test_rename_back_and_forth_keeps_the_rows(catalog, table, namespace):
    for _ in range(2):
        catalog.rename_table(table.name(), (*namespace, "u"))
        catalog.rename_table((*namespace, "u"), table.name())
    assert ids(catalog.load_table(table.name())) == [1, 2, 3]


def test_old_name_is_free_after_a_rename(catalog, table, namespace):
    catalog.rename_table(table.name(), (*namespace, "u"))
    created = catalog.create_table(table.name(), SCHEMA)
    created.append(MORE)
    assert ids(catalog.load_table((*namespace, "u"))) == [1, 2, 3]
    assert ids(catalog.load_table(table.name())) == [4]


def test_rename_to_an_existing_table_is_refused(catalog, table, namespace):
    catalog.create_table((*namespace, "u"), SCHEMA)
    with pytest.raises(TableAlreadyExistsError, match=r"\.u\b"):
        catalog.rename_table(table.name(), (*namespace, "u"))
    assert ids(catalog.load_table(table.name())) == [1, 2, 3]
    assert ids(catalog.load_table((*namespace, "u"))) == []


def test_rename_of_a_missing_table_is_refused(catalog, namespace):
    with pytest.raises(NoSuchTableError, match=r"\.t\b"):
        catalog.rename_table((*namespace, "t"), (*namespace, "u"))
    assert catalog.list_tables(namespace) == []


def test_rename_to_a_missing_namespace_is_refused(catalog, table):
    with pytest.raises(NoSuchNamespaceError, match="missing"):
        catalog.rename_table(table.name(), ("missing", "t"))
    assert ids(catalog.load_table(table.name())) == [1, 2, 3]
    assert not catalog.namespace_exists("missing")


def test_handle_of_the_old_name_cannot_commit(catalog, other_client, table, namespace):
    other_client.rename_table(table.name(), (*namespace, "u"))
    with pytest.raises(NoSuchTableError):
        table.append(MORE)
    assert ids(other_client.load_table((*namespace, "u"))) == [1, 2, 3]


def test_rename_to_its_own_name_changes_nothing(catalog, other_client, table, namespace):
    renamed = catalog.rename_table(table.name(), table.name())
    assert renamed.metadata == table.metadata
    assert other_client.list_tables(namespace) == [table.name()]
    assert ids(other_client.load_table(table.name())) == [1, 2, 3]
    table.append(MORE)
    assert ids(other_client.load_table(table.name())) == [1, 2, 3, 4]
