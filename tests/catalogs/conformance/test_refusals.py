"""Calls of features that a catalog lacks are refused and change nothing."""

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.entries import ENTRIES
from tests.catalogs.conformance.rows import SCHEMA, ids

CALLS = {
    Capability.NESTED_NAMESPACES: lambda s, c, t: c.create_namespace((*t.name()[:-1], "inner")),
    Capability.NAMESPACE_PROPERTIES: lambda s, c, t: c.update_namespace_properties(t.name()[:-1], updates={"a": "1"}),
    Capability.RENAME: lambda s, c, t: c.rename_table(t.name(), (*t.name()[:-1], "u")),
    Capability.REGISTER: lambda s, c, t: c.register_table((*t.name()[:-1], "u"), t.metadata_location),
    Capability.REPLACE_REGISTERED: lambda s, c, t: c.register_table(t.name(), t.metadata_location, overwrite=True),
    Capability.LOCATION: lambda s, c, t: c.create_table((*t.name()[:-1], "u"), SCHEMA, location=s.new_location()),
}


def test_calls_that_need_a_lacked_feature_are_refused(subject, catalog, other_client, table):
    before = other_client.load_table(table.name())
    for lacked in CALLS.keys() & subject.lacks.keys():
        with pytest.raises((FeatureUnsupportedError, ValidationError)):
            CALLS[lacked](subject, catalog, table)
    assert other_client.load_table(table.name()) == before
    assert other_client.list_tables(table.name()[:-1]) == [table.name()]
    assert ids(table.refresh()) == [1, 2, 3]


def test_every_lacked_feature_has_a_reason():
    assert [entry.name for entry in ENTRIES if not all(entry.lacks.values())] == []
