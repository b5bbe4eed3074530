"""Wrong arguments of a catalog's calls and of values that users build: each is refused by an exception of icefloe."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from icefloe.catalog.memory import InMemoryCatalog

from tests.unit.wrong_arguments.catalog_calls import CREATIONS, NAMESPACES, TABLES
from tests.unit.wrong_arguments.table_calls import ROWS, SCHEMA
from tests.unit.wrong_arguments.value_calls import EXPRESSIONS, NAMES, SPECS, TYPES
from tests.unit.wrong_arguments.walk import faults, public_calls

# Names that PyIceberg shares, whose callers choose the exception that they raise, and the check of a location, which does nothing here.
NOT_WALKED = {"check_location", "identifier_to_database", "identifier_to_database_and_table", "namespace_to_string"}


def state(catalog: Any) -> object:
    tables = catalog.list_tables("db")
    return catalog.list_namespaces(), [(name, catalog.load_table(name).metadata_location) for name in tables]


@pytest.mark.parametrize("calls", [CREATIONS, TABLES, NAMESPACES], ids=["creations", "tables", "namespaces"])
def test_wrong_argument_of_a_catalog_is_refused(
    calls: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # relative locations
    numbers = count()

    def new_catalog() -> InMemoryCatalog:
        catalog = InMemoryCatalog("scratch", str(tmp_path / str(next(numbers))))
        catalog.create_namespace("db")
        catalog.create_namespace("empty")
        catalog.create_table("db.t", SCHEMA).append(ROWS)
        return catalog

    assert faults(calls, new_catalog, state) == []


@pytest.mark.parametrize(
    "calls", [TYPES, SPECS, EXPRESSIONS, NAMES], ids=["types", "specs", "expressions", "names of tables and catalogs"]
)
def test_wrong_argument_of_a_value_is_refused(calls: dict[str, Any]) -> None:
    assert faults(calls, lambda: None, lambda _: None) == []


def test_every_call_of_a_catalog_is_walked() -> None:
    walked = {*CREATIONS, *TABLES, *NAMESPACES, *(name.removeprefix("Catalog.") for name in NAMES)}
    assert public_calls(InMemoryCatalog("scratch")) - walked == NOT_WALKED


@pytest.mark.parametrize("location", ["", "/"])
def test_empty_location_of_a_replaced_table_is_refused(location: str, tmp_path: Path) -> None:
    catalog = InMemoryCatalog("scratch", str(tmp_path))
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA).append(ROWS)
    before = state(catalog)
    with pytest.raises(ValueError, match="location: expected"):
        catalog.replace_table("db.t", SCHEMA, location=location)
    assert state(catalog) == before
    assert catalog.load_table("db.t").scan().count() == 1
