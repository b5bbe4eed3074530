import sys

import pytest
from icefloe.catalog import list_catalogs, load_catalog, load_in_memory, load_sql
from icefloe.catalog.configuration import catalog_properties
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import ValidationError
from icefloe.schema import Schema
from icefloe.types import NestedField
from pyiceberg.utils.config import Config


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("kind", ["memory", "in-memory"])
def test_memory_catalog_by_either_name(kind):
    assert isinstance(load_catalog("x", type=kind), InMemoryCatalog)


def test_uri_implies_a_sql_catalog(tmp_path):
    catalog = load_catalog("x", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path))
    assert isinstance(catalog, SqlCatalog)


def test_hadoop_catalog(tmp_path):
    assert isinstance(load_catalog("x", type="hadoop", warehouse=str(tmp_path)), HadoopCatalog)


@pytest.mark.parametrize("kind", ["rest", "hive", "glue"])
def test_unsupported_type_is_in_the_error(kind):
    with pytest.raises(NotImplementedError, match=kind):
        load_catalog("x", type=kind, uri="http://localhost")


def test_unknown_type_is_refused():
    with pytest.raises(ValidationError, match="unknown type 'sqll'"):
        load_catalog("x", type="sqll")


def test_unknown_property_is_refused_by_name(tmp_path):
    with pytest.raises(ValidationError, match="'warehous'"):
        load_catalog("x", type="hadoop", warehous=str(tmp_path))


def test_unconfigured_catalog_is_refused():
    with pytest.raises(ValidationError, match="catalog 'default' is not configured"):
        load_catalog()


def test_sql_catalog_without_uri_is_refused():
    with pytest.raises(ValidationError, match="uri"):
        load_catalog("x", type="sql")


def test_invalid_uri_is_refused():
    with pytest.raises(ValidationError, match="not a database URL"):
        load_catalog("x", type="sql", uri="not a url")


def test_sql_catalog_without_sqlalchemy_says_what_to_install(monkeypatch):
    for module in ("icefloe.catalog.sql", "icefloe.catalog.sql_database"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ImportError, match="catalog 'x', of type sql, needs SQLAlchemy: pip install sqlalchemy"):
        load_catalog("x", type="sql", uri="sqlite://")


def test_load_sql_takes_properties_as_a_mapping_and_reads_no_configuration(monkeypatch, tmp_path):
    monkeypatch.setenv("ICEFLOE_CATALOG__X__WAREHOUSE", "/nowhere")
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path / "w")}
    catalog = load_sql("x", properties)
    assert isinstance(catalog, SqlCatalog)
    catalog.create_namespace("db")
    assert catalog.create_table("db.t", Schema(NestedField(1, "a", "int"))).location().startswith(str(tmp_path))
    assert load_catalog("x", **properties).list_tables("db") == [("db", "t")]


def test_load_in_memory_takes_properties_as_a_mapping(tmp_path):
    catalog = load_in_memory("x", {"type": "in-memory", "warehouse": str(tmp_path)})
    assert isinstance(catalog, InMemoryCatalog)
    catalog.create_namespace("db")
    assert catalog.create_table("db.t", Schema(NestedField(1, "a", "int"))).location().startswith(str(tmp_path))


def test_environment_names_properties():
    variables = {
        "PYICEBERG_CATALOG__MY_CAT__URI": "sqlite:///a",
        "ICEFLOE_CATALOG__MY_CAT__URI": "sqlite:///b",
        "PYICEBERG_CATALOG__MY_CAT__S3__ACCESS_KEY_ID": "key",
        "PYICEBERG_CATALOG__OTHER__URI": "sqlite:///c",
    }
    assert catalog_properties("my-cat", variables) == {"uri": "sqlite:///b", "s3.access-key-id": "key"}


def test_environment_overrides_the_configuration_file(tmp_path, monkeypatch):
    (tmp_path / ".pyiceberg.yaml").write_text("catalog:\n  lake:\n    type: memory\n    s3:\n      region: eu\n")
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__S3__REGION", "us")
    assert catalog_properties("lake") == {"type": "memory", "s3.region": "us"}


def test_icefloe_file_overrides_the_pyiceberg_file(tmp_path):
    (tmp_path / ".pyiceberg.yaml").write_text("catalog: {lake: {type: sql}}\n")
    (tmp_path / ".icefloe.yaml").write_text("catalog: {lake: {type: memory}}\n")
    assert catalog_properties("lake")["type"] == "memory"


def test_file_that_is_not_yaml_is_refused_by_name(tmp_path):
    (tmp_path / ".icefloe.yaml").write_text("catalog: [\n")
    with pytest.raises(ValidationError, match=r"\.icefloe\.yaml is not YAML"):
        catalog_properties("lake")


def test_list_catalogs_returns_names_of_files_and_environment(monkeypatch, tmp_path):
    assert list_catalogs() == []
    home, work = tmp_path / "home", tmp_path / "work"
    for directory in (home, work):
        directory.mkdir()
    monkeypatch.setenv("PYICEBERG_HOME", str(home))
    monkeypatch.chdir(work)
    (home / ".pyiceberg.yaml").write_text("catalog:\n  my-cat:\n    uri: sqlite:///a\n  second:\n    type: memory\n")
    assert list_catalogs() == Config().get_known_catalogs() == ["my-cat", "second"]
    (work / ".icefloe.yaml").write_text("catalog:\n  second: {type: sql}\n  third: {type: memory}\n")
    monkeypatch.setenv("ICEFLOE_CATALOG__MY_CAT__WAREHOUSE", "/w")
    monkeypatch.setenv("PYICEBERG_CATALOG__FOURTH__URI", "sqlite:///b")
    monkeypatch.setenv("PYICEBERG_CATALOG__", "nothing")
    assert list_catalogs() == ["my-cat", "second", "third", "fourth"]
    for name in list_catalogs():
        assert catalog_properties(name) != {}
