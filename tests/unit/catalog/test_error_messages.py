"""The errors that users of catalogs cause: each names its subject, the expectation, what was given and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.catalog.noop import NoopCatalog
from icefloe.exceptions import (
    FeatureUnsupportedError,
    InvalidIdentifierError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.table.update import AssignUUIDUpdate, SetLocationUpdate

SCHEMA = pa.schema([("id", pa.int64())])
Case = tuple[Callable[[Any], object], type[Exception], str]


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def filled(kind: str, tmp_path: Path) -> Any:
    """Return the catalog `cat` with the table `db.t`."""
    properties = {"type": kind, "warehouse": f"{tmp_path}/w"}
    if kind == "sql":
        properties["uri"] = f"sqlite:///{tmp_path}/catalog.db"
    catalog = load_catalog("cat", **properties)
    catalog.create_namespace("db")
    catalog.create_table("db.t", SCHEMA)
    return catalog


def check(case: Case, subject: Any, tmp_path: Path) -> None:
    call, error, message = case
    with pytest.raises(error) as caught:
        call(subject)
    assert type(caught.value) is error
    assert str(caught.value).replace(str(tmp_path), "<tmp>") == message


LOADING: dict[str, Case] = {
    "catalog that is not configured": (
        lambda _: load_catalog(),
        ValidationError,
        "catalog 'default' is not configured: pass its properties to load_catalog(), or add it to .icefloe.yaml",
    ),
    "type that is missing": (
        lambda _: load_catalog("x", warehouse="/w"),
        ValidationError,
        "catalog 'x': property 'type' is missing; expected sql, rest, hadoop, memory, hive or glue",
    ),
    "type that is unknown": (
        lambda _: load_catalog("x", type="sqll"),
        ValidationError,
        "catalog 'x': unknown type 'sqll'; expected sql, rest, hadoop, memory, hive or glue",
    ),
    "type that is not supported": (
        lambda _: load_catalog("x", type="bigquery"),
        FeatureUnsupportedError,
        "catalog 'x': type 'bigquery' is not supported; expected sql, rest, hadoop, memory, hive or glue",
    ),
    "uri that is missing": (
        lambda _: load_catalog("x", type="sql"),
        ValidationError,
        "catalog 'x': property 'uri' is missing; expected a database URL such as sqlite:////data/catalog.db",
    ),
    "uri that is not a URL": (
        lambda _: load_catalog("x", type="sql", uri="catalog.db"),
        ValidationError,
        (
            "catalog property 'uri' is not a database URL; expected a URL like sqlite:////data/catalog.db or "
            "postgresql://user:password@host:5432/db, with special characters of the password percent-encoded"
        ),
    ),
    "uri with autocommit": (
        lambda _: load_catalog("x", type="sql", uri="postgresql+pg8000://u:secret@h/d?autocommit=true"),
        ValidationError,
        (
            "catalog database postgresql+pg8000://u:***@h/d?autocommit=true: a catalog needs transactions; remove "
            "'autocommit' from the URL"
        ),
    ),
    "warehouse that is missing": (
        lambda _: load_catalog("x", type="hadoop"),
        ValidationError,
        "catalog 'x': property 'warehouse' is missing; expected the directory of its tables",
    ),
    "warehouse that is not local": (
        lambda _: load_catalog("x", type="hadoop", warehouse="hdfs://lake/w"),
        FeatureUnsupportedError,
        (
            "hadoop catalog at hdfs://lake/w: hdfs:// is not supported; expected a local directory, or a location on S3, Google Cloud "
            "Storage or Azure"
        ),
    ),
    "warehouse as a relative file address": (
        lambda _: load_catalog("x", type="hadoop", warehouse="file:w"),
        ValidationError,
        "hadoop catalog at file:w: expected an absolute path after file:, or a path without it",
    ),
    "no operation": (
        lambda _: NoopCatalog("none").list_tables("db"),
        FeatureUnsupportedError,
        "catalog 'none' is a NoopCatalog, which supports no operation; use a catalog from load_catalog()",
    ),
}

COMMON: dict[str, Case] = {
    "table that does not exist": (
        lambda catalog: catalog.load_table("db.u"),
        NoSuchTableError,
        "Table does not exist: db.u in catalog 'cat'; ",
    ),
    "table without a namespace": (
        lambda catalog: catalog.load_table("t"),
        NoSuchTableError,
        "'t' is not the name of a table; expected 'namespace.table'",
    ),
    "table that exists": (
        lambda catalog: catalog.create_table("db.t", SCHEMA),
        TableAlreadyExistsError,
        "Table db.t already exists in catalog 'cat'",
    ),
    "table of a namespace that does not exist": (
        lambda catalog: catalog.create_table("no.t", SCHEMA),
        NoSuchNamespaceError,
        "Namespace does not exist: no in catalog 'cat'; create it with create_namespace()",
    ),
    "format version that is not written": (
        lambda catalog: catalog.create_table("db.u", SCHEMA, properties={"format-version": "3"}),
        FeatureUnsupportedError,
        "table property format-version: format version 3 can be read but not written; expected 1 or 2",
    ),
    "format version that is unknown": (
        lambda catalog: catalog.create_table("db.u", SCHEMA, properties={"format-version": "two"}),
        ValidationError,
        "table property format-version: expected 1 or 2, got 'two'",
    ),
    "namespace that exists": (
        lambda catalog: catalog.create_namespace("db"),
        NamespaceAlreadyExistsError,
        "Namespace db already exists in catalog 'cat'",
    ),
    "namespace without a name": (
        lambda catalog: catalog.create_namespace(()),
        InvalidIdentifierError,
        "Empty namespace identifier: a namespace needs a name",
    ),
    "namespace with an empty level": (
        lambda catalog: catalog.create_namespace("db. "),
        InvalidIdentifierError,
        (
            "'db. ' contains an empty segment or a segment with only whitespace; expected text in every level, such as "
            "'db.events' or ('db', 'events')"
        ),
    ),
    "purge against gc.enabled": (
        lambda catalog: purge_protected(catalog),  # noqa: PLW0108 - defined below
        ValidationError,
        "table db.t: cannot purge it, since table property gc.enabled is false; use drop_table()",
    ),
    "compression that is not supported": (
        lambda catalog: catalog.create_table("db.u", SCHEMA, properties={"write.metadata.compression-codec": "zstd"}),
        ValidationError,
        "table property write.metadata.compression-codec: expected none or gzip, got 'zstd'",
    ),
    "compression that is set later": (
        lambda catalog: (
            catalog.load_table("db.t")
            .transaction()
            .set_properties({"write.metadata.compression-codec": "zstd"})
            .commit_transaction()
        ),
        ValidationError,
        "table property write.metadata.compression-codec: expected none or gzip, got 'zstd'",
    ),
}

POINTERS: dict[str, Case] = {
    "namespace that is not empty": (
        lambda catalog: catalog.drop_namespace("db"),
        NamespaceNotEmptyError,
        "Namespace db is not empty: it contains {content}; drop them first",
    ),
    "name that is no directory": (
        lambda catalog: catalog.create_table(("db", "a/b"), SCHEMA),
        ValidationError,
        "table db.a/b: 'a/b' is not a valid directory name below the warehouse; pass location=",
    ),
    "rename to a table that exists": (
        lambda catalog: catalog.rename_table(
            "db.t", catalog.create_table("db.taken", catalog.load_table("db.t").schema()).name()
        ),
        TableAlreadyExistsError,
        "Table db.taken already exists in catalog 'cat'",
    ),
    "namespace property both removed and set": (
        lambda catalog: catalog.update_namespace_properties("db", {"a"}, {"a": "1"}),
        ValidationError,
        "cannot both remove and set namespace properties a; pass each in removals or in updates",
    ),
}

HADOOP: dict[str, Case] = {
    "location of the caller": (
        lambda catalog: catalog.create_table("db.u", SCHEMA, location="/elsewhere"),
        ValidationError,
        "table db.u: a hadoop catalog determines the location of a table; expected <tmp>/w/db/u, got /elsewhere",
    ),
    "rename": (
        lambda catalog: catalog.rename_table("db.t", "db.u"),
        FeatureUnsupportedError,
        (
            "cannot rename 'db.t' to 'db.u': the metadata of a table in a hadoop catalog contains the path of its directory; "
            "create the new table and append the rows of the old one"
        ),
    ),
    "register": (
        lambda catalog: catalog.register_table("db.u", "/x/v1.metadata.json"),
        FeatureUnsupportedError,
        (
            "cannot register /x/v1.metadata.json as 'db.u' (overwrite=False): a hadoop catalog contains only the tables below its "
            "warehouse; read other tables with StaticTable.from_metadata()"
        ),
    ),
    "move": (
        lambda catalog: catalog.commit_table(catalog.load_table("db.t"), (), (SetLocationUpdate(location="/x"),)),
        ValidationError,
        "table db.t: the location of a table in a hadoop catalog cannot be moved; append the rows to a new table",
    ),
    "metadata elsewhere": (
        lambda catalog: catalog.create_table("db.u", SCHEMA, properties={"write.metadata.path": "/x"}),
        ValidationError,
        (
            "table property write.metadata.path cannot be set in a hadoop catalog, whose tables have their metadata in their "
            "directory; remove it"
        ),
    ),
    "namespace with properties": (
        lambda catalog: catalog.create_namespace("p", {"owner": "me"}),
        FeatureUnsupportedError,
        (
            "cannot create namespace 'p' with properties ['owner']: a namespace of a hadoop catalog is a directory and has no "
            "properties"
        ),
    ),
    "properties of a namespace": (
        lambda catalog: catalog.update_namespace_properties("db", {"a"}, {"b": "1"}),
        FeatureUnsupportedError,
        (
            "cannot set properties ['b'] or remove properties ['a'] of namespace 'db': a namespace of a hadoop catalog is a "
            "directory and has no properties"
        ),
    ),
    "name that is no directory": (
        lambda catalog: catalog.create_table(("db", "a/b"), SCHEMA),
        ValidationError,
        (
            "'a/b' cannot be a directory name in a hadoop catalog; expected no slash, no null character, and no dot at the beginning, "
            "which hides a directory"
        ),
    ),
    "namespace that is not empty": (
        lambda catalog: catalog.drop_namespace("db"),
        NamespaceNotEmptyError,
        "Namespace db is not empty: <tmp>/w/db contains t; drop its tables and namespaces first",
    ),
    "table that was moved": (
        lambda catalog: moved_table(catalog).append(pa.table({"id": [1]})),
        ValidationError,
        (
            "table db.moved: its directory was moved or copied: expected <tmp>/w/db/t, the location in its metadata, got "
            "<tmp>/w/db/moved; the table can be read, but to change it move the directory back, or append the rows to a new table"
        ),
    ),
}

SQL: dict[str, Case] = {
    "level with a dot": (
        lambda catalog: catalog.create_namespace(("a.b",)),
        ValidationError,
        "namespace level 'a.b': a level in a SQL catalog cannot contain a dot; pass a tuple with one element for each level",
    ),
}


def purge_protected(catalog: Any) -> None:
    catalog.load_table("db.t").transaction().set_properties({"gc.enabled": "false"}).commit_transaction()
    catalog.purge_table("db.t")


def moved_table(catalog: Any) -> Any:
    warehouse = Path(catalog.properties["warehouse"])
    (warehouse / "db/t").rename(warehouse / "db/moved")
    return catalog.load_table("db.moved")


@pytest.mark.parametrize("name", LOADING)
def test_error_of_loading_a_catalog_says_what_to_do(name: str, tmp_path: Path) -> None:
    check(LOADING[name], None, tmp_path)


@pytest.mark.parametrize("name", COMMON)
@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_error_of_every_catalog_says_what_to_do(name: str, kind: str, tmp_path: Path) -> None:
    call, error, message = COMMON[name]
    if name == "table that does not exist":
        message += "expected metadata below <tmp>/w/db/u" if kind == "hadoop" else "list_tables() returns its tables"
    check((call, error, message), filled(kind, tmp_path), tmp_path)


@pytest.mark.parametrize("name", POINTERS)
@pytest.mark.parametrize("kind", ["memory", "sql"])
def test_error_of_a_pointer_catalog_says_what_to_do(name: str, kind: str, tmp_path: Path) -> None:
    call, error, message = POINTERS[name]
    content = "tables or namespaces" if kind == "memory" else "tables, views or namespaces"
    check((call, error, message.replace("{content}", content)), filled(kind, tmp_path), tmp_path)


@pytest.mark.parametrize("name", HADOOP)
def test_error_of_a_hadoop_catalog_says_what_to_do(name: str, tmp_path: Path) -> None:
    check(HADOOP[name], filled("hadoop", tmp_path), tmp_path)


@pytest.mark.parametrize("name", SQL)
def test_error_of_a_sql_catalog_says_what_to_do(name: str, tmp_path: Path) -> None:
    check(SQL[name], filled("sql", tmp_path), tmp_path)


@pytest.mark.parametrize("kind", ["memory", "sql", "hadoop"])
def test_commit_of_another_uuid_names_both(kind: str, tmp_path: Path) -> None:
    catalog = filled(kind, tmp_path)
    table = catalog.load_table("db.t")
    other = "00000000-0000-4000-8000-000000000000"
    with pytest.raises(ValidationError) as caught:
        catalog.commit_table(table, (), (AssignUUIDUpdate(uuid=other),))
    assert str(caught.value) == (
        f"cannot assign table UUID {other}: the table already has UUID {table.metadata.table_uuid}"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("catalog: [", "is not YAML: "),
        ("catalog: []", "'catalog' must be a map of catalog names to properties"),
        ("catalog: {x: 1}", "the properties of a catalog must be a map, got '1'"),
    ],
)
def test_error_in_a_configuration_file_names_the_file(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / ".icefloe.yaml").write_text(text)
    with pytest.raises(ValidationError, match=message) as caught:
        load_catalog("x")
    assert str(caught.value).startswith(f"{tmp_path}/.icefloe.yaml")
