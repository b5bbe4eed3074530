"""Registration of tables by the location of their metadata file."""

import pytest
from icefloe.exceptions import IcebergError, NoSuchNamespaceError, TableAlreadyExistsError

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import MORE, SCHEMA, ids

pytestmark = pytest.mark.needs(Capability.REGISTER, Capability.DROP_KEEPS_FILES)


@pytest.fixture
def location(catalog, table):
    """The location of the metadata file of a dropped table."""
    catalog.drop_table(table.name())
    return table.metadata_location


def test_registered_table_is_the_same_table(catalog, other_client, table, location, namespace):
    registered = catalog.register_table((*namespace, "back"), location)
    assert registered.metadata == table.metadata
    assert registered.metadata_location == location
    loaded = other_client.load_table((*namespace, "back"))
    loaded.append(MORE)
    assert ids(catalog.load_table((*namespace, "back"))) == [1, 2, 3, 4]


def test_registration_over_an_existing_table_is_refused(catalog, location, namespace):
    catalog.create_table((*namespace, "u"), SCHEMA)
    with pytest.raises(TableAlreadyExistsError, match=r"\.u\b"):
        catalog.register_table((*namespace, "u"), location)
    assert ids(catalog.load_table((*namespace, "u"))) == []


@pytest.mark.needs(Capability.REPLACE_REGISTERED)
def test_registration_with_overwrite_replaces_a_table(catalog, other_client, location, namespace):
    catalog.create_table((*namespace, "u"), SCHEMA)
    catalog.register_table((*namespace, "u"), location, overwrite=True)
    assert ids(other_client.load_table((*namespace, "u"))) == [1, 2, 3]


def test_registration_in_a_missing_namespace_is_refused(catalog, location):
    with pytest.raises(NoSuchNamespaceError, match="missing"):
        catalog.register_table(("missing", "t"), location)


def test_registration_of_a_missing_file_is_refused(catalog, location, namespace):
    with pytest.raises(IcebergError):
        catalog.register_table((*namespace, "u"), location.replace(".metadata.json", "0.metadata.json"))
    assert not catalog.table_exists((*namespace, "u"))
