"""Names of tables and namespaces, and the errors of invalid names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from icefloe.catalog import Catalog
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import NoSuchNamespaceError


@pytest.fixture(params=["sql", "memory", "hadoop"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "sql":
        return SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=str(tmp_path))
    if request.param == "memory":
        return InMemoryCatalog("c", warehouse=str(tmp_path))
    return HadoopCatalog("c", warehouse=str(tmp_path))


@pytest.mark.parametrize("name", [" ", ("a", " "), "a..b", "a.", ("",)])
@pytest.mark.parametrize("error", [NoSuchNamespaceError, ValueError])
@pytest.mark.parametrize("call", ["create_namespace", "drop_namespace", "load_namespace_properties", "list_tables"])
def test_blank_level_of_a_namespace_is_refused(catalog: Any, name: Any, error: type[Exception], call: str) -> None:
    with pytest.raises(error, match="contains an empty segment or a segment with only whitespace"):
        getattr(catalog, call)(name)


@pytest.mark.parametrize("name", ["", ()])
@pytest.mark.parametrize("error", [NoSuchNamespaceError, ValueError])
def test_empty_namespace_is_refused(catalog: Any, name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Empty namespace identifier"):
        catalog.create_namespace(name)


def test_namespace_as_text_names_its_levels() -> None:
    assert Catalog.namespace_to_string(("a", "b")) == "a.b"
    with pytest.raises(NoSuchNamespaceError, match="Empty namespace identifier"):
        Catalog.namespace_to_string((), NoSuchNamespaceError)


def test_database_and_table_have_one_level_each() -> None:
    assert Catalog.identifier_to_database("a") == "a"
    assert Catalog.identifier_to_database_and_table("a.b") == ("a", "b")
    with pytest.raises(ValueError, match=r"hierarchical namespaces are not supported: a\.b"):
        Catalog.identifier_to_database("a.b")
    with pytest.raises(ValueError, match=r"hierarchical namespaces are not supported: a\.b\.c"):
        Catalog.identifier_to_database_and_table("a.b.c")
