"""Unusual names of tables and namespaces are stored exactly or refused without a change."""

import pytest
from icefloe.exceptions import FeatureUnsupportedError, TableAlreadyExistsError, ValidationError

from tests.catalogs.conformance.capabilities import ODD_NAMES, Capability
from tests.catalogs.conformance.catalog_under_test import can
from tests.catalogs.conformance.rows import ROWS, SCHEMA, ids

REFUSALS = (ValidationError, FeatureUnsupportedError)


def location_of(subject):
    """Return a location for a table if the catalog accepts one, because the default location may not accept the name."""
    return subject.new_location() if can(type(subject), Capability.LOCATION) else None


@pytest.mark.parametrize("odd", ODD_NAMES)
def test_odd_table_name_is_stored_exactly_or_refused(subject, catalog, other_client, namespace, odd):
    identifier = (*namespace, ODD_NAMES[odd])
    if odd in subject.refused_tables:
        with pytest.raises(REFUSALS):
            catalog.create_table(identifier, SCHEMA, location=location_of(subject))
        assert other_client.list_tables(namespace) == []
        return
    catalog.create_table(identifier, SCHEMA, location=location_of(subject)).append(ROWS)
    assert other_client.list_tables(namespace) == [(*namespace, subject.stored(ODD_NAMES[odd]))]
    assert other_client.table_exists(identifier)
    assert ids(other_client.load_table(identifier)) == [1, 2, 3]
    assert other_client.load_table(identifier).name() == identifier
    other_client.drop_table(identifier)
    assert catalog.list_tables(namespace) == []


@pytest.mark.parametrize("odd", ODD_NAMES)
def test_odd_namespace_name_is_stored_exactly_or_refused(subject, catalog, other_client, namespace, odd):
    is_nested = can(type(subject), Capability.NESTED_NAMESPACES)
    above = namespace if is_nested else ()
    levels = (*above, ODD_NAMES[odd])
    if odd in subject.refused_namespaces:
        with pytest.raises(REFUSALS):
            catalog.create_namespace(levels)
        assert levels not in other_client.list_namespaces(above)
        return
    catalog.create_namespace(levels)
    assert (*above, subject.stored(ODD_NAMES[odd])) in other_client.list_namespaces(above)
    assert other_client.namespace_exists(levels)
    catalog.create_table((*levels, "t"), SCHEMA, location=location_of(subject)).append(ROWS)
    assert other_client.list_tables(levels) == [(*levels, "t")]
    assert ids(other_client.load_table((*levels, "t"))) == [1, 2, 3]
    other_client.drop_table((*levels, "t"))
    other_client.drop_namespace(levels)
    assert not catalog.namespace_exists(levels)


@pytest.mark.needs(Capability.RENAME)
@pytest.mark.parametrize("odd", ODD_NAMES)
def test_table_is_renamed_to_an_odd_name_or_the_rename_is_refused(subject, catalog, other_client, table, odd):
    renamed = (*table.name()[:-1], ODD_NAMES[odd])
    if odd in subject.refused_tables:
        with pytest.raises(REFUSALS):
            catalog.rename_table(table.name(), renamed)
        assert other_client.list_tables(renamed[:-1]) == [table.name()]
        return
    catalog.rename_table(table.name(), renamed)
    assert other_client.list_tables(renamed[:-1]) == [(*renamed[:-1], subject.stored(ODD_NAMES[odd]))]
    assert ids(other_client.load_table(renamed)) == [1, 2, 3]


@pytest.mark.parametrize(("first", "second"), [("Table", "table"), ("t\u00e4", "ta\u0308"), ("a", "a ")])
def test_names_that_look_alike_are_separate_or_refused(subject, catalog, other_client, namespace, first, second):
    created = []
    for name in (first, second):
        stored = (*namespace, subject.stored(name))
        if stored in created:
            with pytest.raises(TableAlreadyExistsError):
                catalog.create_table((*namespace, name), SCHEMA, location=location_of(subject))
            continue
        try:
            catalog.create_table((*namespace, name), SCHEMA, location=location_of(subject))
        except REFUSALS:
            continue
        created.append(stored)
    assert other_client.list_tables(namespace) == sorted(created)
    assert len({other_client.load_table(name).metadata.table_uuid for name in created}) == len(created)


@pytest.mark.parametrize("name", ["db..t", ".t", "t.", ("db", ""), ("", "t"), ("db", " ")], ids=repr)
def test_name_with_an_empty_level_is_no_table(catalog, name):
    with pytest.raises(ValidationError):
        catalog.create_table(name, SCHEMA)
    with pytest.raises(ValidationError):
        catalog.load_table(name)
