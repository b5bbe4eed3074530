"""Namespaces: creation, listing, properties and removal."""

import pytest
from icefloe.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    ValidationError,
)

from tests.catalogs.conformance.capabilities import Capability
from tests.catalogs.conformance.rows import SCHEMA

needs_nesting = pytest.mark.needs(Capability.NESTED_NAMESPACES)
needs_properties = pytest.mark.needs(Capability.NAMESPACE_PROPERTIES)


def test_new_namespace_exists_and_is_listed(catalog, other_client, namespace_name):
    assert not catalog.namespace_exists(namespace_name)
    assert namespace_name not in catalog.list_namespaces()
    catalog.create_namespace(namespace_name)
    for client in (catalog, other_client):
        assert client.namespace_exists(namespace_name)
        assert namespace_name in client.list_namespaces()
        assert client.list_tables(namespace_name) == []


def test_namespace_is_named_by_text_or_tuple(catalog, namespace):
    assert catalog.namespace_exists(namespace[0])
    assert catalog.list_tables(namespace[0]) == catalog.list_tables(namespace) == []


def test_create_refuses_an_existing_namespace(catalog, other_client, namespace):
    for client in (catalog, other_client):
        with pytest.raises(NamespaceAlreadyExistsError, match=namespace[0]):
            client.create_namespace(namespace)
        client.create_namespace_if_not_exists(namespace)


def test_dropped_namespace_does_not_exist(catalog, other_client, namespace):
    catalog.drop_namespace(namespace)
    assert not other_client.namespace_exists(namespace)
    assert namespace not in other_client.list_namespaces()
    other_client.create_namespace(namespace)
    assert catalog.namespace_exists(namespace)


def test_drop_refuses_a_namespace_with_a_table(catalog, table, namespace):
    with pytest.raises(NamespaceNotEmptyError, match=namespace[0]):
        catalog.drop_namespace(namespace)
    assert catalog.load_table(table.name()).scan().count() == 3
    catalog.drop_table(table.name())
    catalog.drop_namespace(namespace)
    assert not catalog.namespace_exists(namespace)


@pytest.mark.parametrize("method", ["drop_namespace", "list_tables", "load_namespace_properties"])
def test_missing_namespace_is_an_error_with_its_name(catalog, namespace_name, method):
    with pytest.raises(NoSuchNamespaceError, match=namespace_name[0]):
        getattr(catalog, method)(namespace_name)


@pytest.mark.parametrize("name", ["", (), "a..b", ("a", ""), ("  ",)], ids=repr)
def test_empty_level_is_no_namespace(catalog, name):
    with pytest.raises(NoSuchNamespaceError):
        catalog.create_namespace(name)
    with pytest.raises(NoSuchNamespaceError):
        catalog.drop_namespace(name)
    with pytest.raises(NoSuchNamespaceError):
        catalog.load_namespace_properties(name)


@needs_nesting
def test_namespaces_nest(catalog, other_client, namespace):
    for level in ("b", "a"):
        catalog.create_namespace((*namespace, level))
    catalog.create_namespace((*namespace, "a", "deep"))
    assert other_client.list_namespaces(namespace) == [(*namespace, "a"), (*namespace, "b")]
    assert other_client.list_namespaces((*namespace, "a")) == [(*namespace, "a", "deep")]
    assert other_client.list_namespaces((*namespace, "b")) == []
    assert [levels for levels in other_client.list_namespaces() if levels[0] == namespace[0]] == [namespace]


@needs_nesting
def test_list_of_namespaces_below_a_missing_one_is_refused(catalog, namespace_name):
    with pytest.raises(NoSuchNamespaceError, match=namespace_name[0]):
        catalog.list_namespaces(namespace_name)


@needs_nesting
def test_drop_refuses_a_namespace_with_a_namespace(catalog, namespace):
    catalog.create_namespace((*namespace, "a"))
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace(namespace)
    catalog.drop_namespace((*namespace, "a"))
    catalog.drop_namespace(namespace)
    assert not catalog.namespace_exists(namespace)


@needs_nesting
def test_namespaces_with_a_common_prefix_are_separate(catalog, namespace):
    other = (f"{namespace[0]}x",)
    catalog.create_namespace(other)
    catalog.create_namespace((*other, "a"))
    assert catalog.list_namespaces(namespace) == []
    catalog.drop_namespace(namespace)
    assert catalog.list_namespaces(other) == [(*other, "a")]


@needs_nesting
def test_tables_and_namespaces_of_one_namespace_are_listed_apart(catalog, table, namespace):
    inner = (*namespace, "inner")
    catalog.create_namespace(inner)
    catalog.create_table((*inner, "t"), SCHEMA)
    assert catalog.list_tables(namespace) == [table.name()]
    assert catalog.list_tables(inner) == [(*inner, "t")]
    assert catalog.list_namespaces(namespace) == [inner]


@needs_properties
def test_namespace_properties_are_set_and_removed(catalog, other_client, namespace_name):
    catalog.create_namespace(namespace_name, {"owner": "me", "old": "1"})
    summary = catalog.update_namespace_properties(namespace_name, removals={"old", "none"}, updates={"new": "2"})
    assert (summary.removed, summary.updated, summary.missing) == (["old"], ["new"], ["none"])
    loaded = other_client.load_namespace_properties(namespace_name)
    assert {key: loaded.get(key) for key in ("owner", "old", "new")} == {"owner": "me", "old": None, "new": "2"}


@needs_properties
@pytest.mark.parametrize("value", ["", " ", "a=b;c", "ünïcode 🧊", "'; drop table iceberg_tables; --", "x" * 900])
def test_namespace_property_values_are_stored_exactly(catalog, other_client, namespace_name, value):
    catalog.create_namespace(namespace_name, {"key": value})
    assert other_client.load_namespace_properties(namespace_name)["key"] == value
    catalog.update_namespace_properties(namespace_name, updates={"other": value, "key": "plain"})
    loaded = other_client.load_namespace_properties(namespace_name)
    assert (loaded["other"], loaded["key"]) == (value, "plain")


@needs_properties
def test_all_properties_of_a_namespace_can_be_removed(catalog, namespace_name):
    catalog.create_namespace(namespace_name, {"a": "1"})
    catalog.update_namespace_properties(namespace_name, removals={"a"})
    assert "a" not in catalog.load_namespace_properties(namespace_name)
    assert catalog.namespace_exists(namespace_name)


@needs_properties
def test_key_that_is_set_and_removed_is_refused(catalog, namespace_name):
    catalog.create_namespace(namespace_name, {"a": "1"})
    with pytest.raises(ValidationError, match="a"):
        catalog.update_namespace_properties(namespace_name, removals={"a"}, updates={"a": "2"})
    assert catalog.load_namespace_properties(namespace_name)["a"] == "1"


@needs_properties
def test_properties_of_a_missing_namespace_are_refused(catalog, namespace_name):
    with pytest.raises(NoSuchNamespaceError, match=namespace_name[0]):
        catalog.update_namespace_properties(namespace_name, updates={"a": "1"})
    assert not catalog.namespace_exists(namespace_name)


@needs_properties
def test_drop_removes_the_properties(catalog, namespace_name):
    catalog.create_namespace(namespace_name, {"a": "1"})
    catalog.drop_namespace(namespace_name)
    catalog.create_namespace(namespace_name)
    assert "a" not in catalog.load_namespace_properties(namespace_name)


@needs_properties
def test_namespace_properties_are_stored_as_text(catalog, other_client, namespace_name):
    catalog.create_namespace(namespace_name, {"number": 7, "flag": True})
    catalog.update_namespace_properties(namespace_name, removals=["absent"], updates={"number": 1.5})
    stored = other_client.load_namespace_properties(namespace_name)
    assert (stored["number"], stored["flag"]) == ("1.5", "true")


@needs_properties
@pytest.mark.parametrize("properties", [None, {"key": None}, {1: "one"}, ["key"]], ids=repr)
def test_namespace_properties_that_are_no_text_are_refused(catalog, namespace_name, properties):
    with pytest.raises(ValidationError, match="propert"):
        catalog.create_namespace(namespace_name, properties)
    assert not catalog.namespace_exists(namespace_name)
    catalog.create_namespace(namespace_name, {"key": "value"})
    with pytest.raises(ValidationError, match="propert"):
        catalog.update_namespace_properties(namespace_name, updates=properties)
    with pytest.raises(ValidationError, match="expected a set of names to remove, got 'key'"):
        catalog.update_namespace_properties(namespace_name, removals="key")
    assert catalog.load_namespace_properties(namespace_name)["key"] == "value"
