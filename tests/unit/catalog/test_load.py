import sys

import pyarrow as pa
import pytest
from icefloe.catalog import list_catalogs, load_catalog, load_glue, load_hive, load_in_memory, load_rest, load_sql
from icefloe.catalog.configuration import catalog_properties
from icefloe.catalog.hadoop import HadoopCatalog
from icefloe.catalog.memory import InMemoryCatalog
from icefloe.catalog.noop import NoopCatalog
from icefloe.catalog.sql import SqlCatalog
from icefloe.exceptions import FeatureUnsupportedError, NotInstalledError, ValidationError
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


@pytest.mark.parametrize("kind", ["dynamodb", "bigquery"])
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
    for module in ("icefloe.catalog.sql", "icefloe.catalog.sql.sql_catalog", "icefloe.catalog.sql.database"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(NotInstalledError, match="catalog 'x', of type sql, needs SQLAlchemy: pip install sqlalchemy"):
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


class OwnCatalog(NoopCatalog):
    """A user's catalog, loaded by `py-catalog-impl`."""


def test_py_catalog_impl_loads_a_class_with_all_properties():
    catalog = load_catalog("x", **{"py-catalog-impl": f"{OwnCatalog.__module__}.OwnCatalog", "own": "1"})
    assert isinstance(catalog, OwnCatalog)
    assert (catalog.name, catalog.properties["own"]) == ("x", "1")


def test_py_catalog_impl_is_read_from_the_configuration(tmp_path):
    path = f"{OwnCatalog.__module__}.OwnCatalog"
    (tmp_path / ".pyiceberg.yaml").write_text(f"catalog: {{lake: {{py-catalog-impl: {path}, s3: {{region: eu}}}}}}\n")
    assert load_catalog("lake").properties["s3.region"] == "eu"


@pytest.mark.parametrize(
    ("implementation", "message"),
    [
        ("Own", "cannot load 'Own'; expected an importable class"),
        ("no.such.module.Own", "cannot load 'no.such.module.Own'"),
        ("icefloe.catalog.NoSuchClass", "cannot load"),
        ("icefloe.catalog.load_catalog", "expected a subclass of icefloe.catalog.Catalog"),
        ("pathlib.Path", "expected a subclass of icefloe.catalog.Catalog"),
    ],
)
def test_py_catalog_impl_that_is_no_catalog_is_refused(implementation, message):
    with pytest.raises(ValidationError, match=message):
        load_catalog("x", **{"py-catalog-impl": implementation})


def test_py_catalog_impl_of_pyiceberg_stands_for_the_type(tmp_path):
    def loaded(implementation, **properties):
        return type(load_catalog("x", **{"py-catalog-impl": f"pyiceberg.catalog.{implementation}", **properties}))

    assert loaded("memory.InMemoryCatalog", warehouse=str(tmp_path)) is InMemoryCatalog
    assert loaded("sql.SqlCatalog", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path)).__name__ == "SqlCatalog"
    assert loaded("hive.HiveCatalog", uri="thrift://localhost:1", warehouse=str(tmp_path)).__name__ == "HiveCatalog"
    assert loaded("glue.GlueCatalog", **{"glue.region": "eu-west-1"}).__name__ == "GlueCatalog"
    with pytest.raises(ValidationError, match="expected an http:// or https:// address of a REST catalog"):
        loaded("rest.RestCatalog")


def test_py_catalog_impl_of_pyiceberg_without_a_counterpart_is_unsupported():
    for implementation in ("dynamodb.DynamoDbCatalog", "bigquery_metastore.BigQueryMetastoreCatalog"):
        with pytest.raises(FeatureUnsupportedError, match="is not supported; expected"):
            load_catalog("x", **{"py-catalog-impl": f"pyiceberg.catalog.{implementation}"})


def test_py_catalog_impl_beside_type_is_refused():
    with pytest.raises(ValidationError, match=r"got both: 'memory' and 'a\.B'"):
        load_catalog("x", **{"py-catalog-impl": "a.B", "type": "memory"})


@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_py_io_impl_of_its_own_is_refused(kind, tmp_path):
    properties = {"py-io-impl": "my.FileIO", "warehouse": str(tmp_path)}
    with pytest.raises(
        ValidationError, match=r"catalog 'x': property py-io-impl: not supported.*got 'my\.FileIO': remove it"
    ):
        load_catalog("x", type=kind, **properties)


@pytest.mark.parametrize("implementation", ["pyiceberg.io.pyarrow.PyArrowFileIO", "pyiceberg.io.fsspec.FsspecFileIO"])
@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_py_io_impl_of_pyiceberg_stands_for_the_storage(kind, implementation, tmp_path):
    properties = {"py-io-impl": implementation, "warehouse": str(tmp_path)} | (
        {"uri": "sqlite://"} if kind == "sql" else {}
    )
    catalog = load_catalog("x", type=kind, **properties)
    catalog.create_namespace("db")
    catalog.create_table("db.t", pa.schema([("id", pa.int64())])).append(pa.table({"id": [1]}))
    assert catalog.load_table("db.t").scan().count() == 1


@pytest.mark.parametrize("uri", ["redis://me:secret@host", "lake", "file:///x"])
def test_uri_that_implies_no_type_is_refused_without_its_password(uri):
    with pytest.raises(ValidationError, match=r"implies no type; expected .*sqlite.*or the property 'type'") as caught:
        load_catalog("x", uri=uri)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["echo", "init_catalog_tables", "pool_pre_ping"])
def test_flag_of_a_sql_catalog_is_true_or_false(key):
    assert load_catalog("x", uri="sqlite://", **{key: "TRUE"}).list_namespaces() == []
    with pytest.raises(ValidationError, match=f"catalog 'x': property '{key}': expected true or false, got 'yes'"):
        load_catalog("x", uri="sqlite://", **{key: "yes"})


def test_default_catalog_is_configured_in_a_file_or_a_variable(tmp_path, monkeypatch):
    (tmp_path / ".pyiceberg.yaml").write_text(
        "default-catalog: lake\ncatalog:\n  lake:\n    type: memory\n  other:\n    type: memory\n"
    )
    assert load_catalog().name == "lake"
    assert Config().get_default_catalog_name() == "lake"
    monkeypatch.setenv("PYICEBERG_DEFAULT_CATALOG", "other")
    assert load_catalog().name == "other"
    assert Config().get_default_catalog_name() == "other"
    monkeypatch.setenv("ICEFLOE_DEFAULT_CATALOG", "lake")
    assert load_catalog().name == "lake"
    assert load_catalog("other").name == "other"


def test_refusal_of_an_unconfigured_catalog_names_the_configured_ones(tmp_path):
    (tmp_path / ".icefloe.yaml").write_text("catalog: {lake: {type: memory}, other: {type: memory}}\n")
    with pytest.raises(ValidationError, match=r"'default' is not configured: .*; configured are 'lake', 'other'$"):
        load_catalog()


def test_default_catalog_that_is_not_a_name_is_refused(tmp_path):
    (tmp_path / ".icefloe.yaml").write_text("default-catalog: [a]\n")
    with pytest.raises(ValidationError, match=r"\.icefloe\.yaml: 'default-catalog' must be the name of a catalog"):
        load_catalog()


def test_file_is_read_whatever_the_case_of_its_keys_as_pyiceberg_reads_it(tmp_path):
    (tmp_path / ".pyiceberg.yaml").write_text("Catalog:\n  Lake:\n    TYPE: memory\n    S3:\n      Region: EU\n")
    assert catalog_properties("lake") == catalog_properties("LAKE") == {"type": "memory", "s3.region": "EU"}
    assert Config().get_catalog_config("Lake") == {"type": "memory", "s3": {"region": "EU"}}


def test_empty_file_configures_nothing(tmp_path):
    (tmp_path / ".icefloe.yaml").write_text("# nothing yet\n")
    assert catalog_properties("lake") == {}


@pytest.mark.parametrize("text", ["- a\n", "text\n", "catalog: {lake: [a]}\n", "catalog: {lake: {a: [1]}}\n"])
def test_file_that_is_no_configuration_is_refused_by_name(tmp_path, text):
    (tmp_path / ".icefloe.yaml").write_text(text)
    with pytest.raises(ValidationError, match=r"\.icefloe\.yaml"):
        catalog_properties("lake")


def test_environment_names_properties():
    variables = {
        "PYICEBERG_CATALOG__MY_CAT__URI": "sqlite:///a",
        "ICEFLOE_CATALOG__MY_CAT__URI": "sqlite:///b",
        "PYICEBERG_CATALOG__MY_CAT__S3__ACCESS_KEY_ID": "key",
        "PYICEBERG_CATALOG__MY_CAT__POOL_PRE_PING": "true",
        "PYICEBERG_CATALOG__OTHER__URI": "sqlite:///c",
    }
    assert catalog_properties("my-cat", variables) == {
        "uri": "sqlite:///b",
        "s3.access-key-id": "key",
        "pool_pre_ping": "true",
    }


def test_environment_overrides_the_configuration_file(tmp_path, monkeypatch):
    (tmp_path / ".pyiceberg.yaml").write_text("catalog:\n  lake:\n    type: memory\n    s3:\n      region: eu\n")
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__S3__REGION", "us")
    assert catalog_properties("lake") == {"type": "memory", "s3.region": "us"}


def test_empty_text_leaves_a_configured_property_as_pyiceberg_leaves_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__TYPE", "memory")
    monkeypatch.setenv("ICEFLOE_CATALOG__LAKE__WAREHOUSE", str(tmp_path))
    catalog = load_catalog("lake", warehouse="", **{"s3.region": ""})
    assert (catalog.properties["warehouse"], catalog.properties["s3.region"]) == (str(tmp_path), "")


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


@pytest.mark.parametrize(
    ("kind", "properties", "misspelled"),
    [
        ("hive", {"uri": "thrift://h:1"}, "hive.kerberos-authentification"),
        ("hive", {"uri": "thrift://h:1"}, "hive.lock-timeout"),
        ("glue", {"warehouse": "/w"}, "glue.regoin"),
        ("glue", {"warehouse": "/w"}, "uri"),
    ],
)
def test_misspelled_property_of_a_metastore_is_refused(kind, properties, misspelled):
    with pytest.raises(ValidationError, match=f"unknown property '{misspelled}'"):
        load_catalog("x", type=kind, **properties, **{misspelled: "x"})


@pytest.mark.parametrize("kind", ["memory", "hadoop"])
def test_tables_have_the_default_and_override_properties_of_their_catalog(tmp_path, kind):
    settings = {"table-default.a": "1", "table-default.b": "1", "table-override.c": "1"}
    schema, given = Schema(NestedField(1, "id", "int")), {"b": "2", "c": "2"}
    with load_catalog("x", type=kind, warehouse=str(tmp_path), **settings) as catalog:
        catalog.create_namespace("db")
        tables = [
            catalog.create_table("db.t", schema, properties=given),
            catalog.create_table_transaction("db.u", schema, properties=given).commit_transaction(),
            catalog.replace_table("db.u", schema, properties=given),
        ]
    for table in tables:
        assert {key: table.properties[key] for key in "abc"} == {"a": "1", "b": "2", "c": "1"}


@pytest.mark.parametrize("load", [load_sql, load_in_memory, load_rest, load_hive, load_glue])
@pytest.mark.parametrize("conf", [None, 7, "sqlite://", ["uri"], {7: "x"}], ids=str)
def test_properties_that_are_no_mapping_are_refused(load, conf):
    with pytest.raises(ValidationError, match="properties of a catalog: expected a mapping of names to values, got"):
        load("x", conf)
