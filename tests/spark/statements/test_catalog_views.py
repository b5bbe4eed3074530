"""Views of a REST catalog in the queries of ``icefloe.spark.sql``, on the Java reference's server."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import httpx
import icefloe.spark
import pytest
from icefloe.catalog.rest import RestCatalog
from icefloe.exceptions import FeatureUnsupportedError, NoSuchTableError, NoSuchViewError, ValidationError

from tests.catalogs.rest.server import rest_server

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with rest_server(tmp_path_factory.mktemp("rest")) as made:
        yield made


@pytest.fixture(scope="module")
def prod(spark, server):
    """A REST catalog attached as `prod`."""
    with RestCatalog("prod", uri=server.uri) as client:
        icefloe.spark.attach(spark, client, "prod", views=False)
        yield client
        icefloe.spark.detach(spark, "prod")


@pytest.fixture
def query(spark, prod):
    def run(text):
        return [tuple(row) for row in icefloe.spark.sql(spark, text).collect()]

    return run


@pytest.fixture
def space(prod, query):
    """The name of a namespace with the table `t` of the rows (1, 'a'), (2, 'b'), (3, None)."""
    name = f"own{next(NUMBERS)}"
    prod.create_namespace(name)
    query(f"CREATE TABLE prod.{name}.t (id int, name string) USING icefloe")
    query(f"INSERT INTO prod.{name}.t VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    return name


@pytest.fixture
def create_view(server, space):
    """A function that creates a view in the namespace."""

    def create(name, sql, columns, *, dialect="spark", **version):
        fields = [
            {"id": number, "name": column, "type": kind, "required": False}
            for number, (column, kind) in enumerate(columns.items(), 1)
        ]
        version = {
            "version-id": 1,
            "timestamp-ms": 1,
            "schema-id": 0,
            "summary": {},
            "default-namespace": [space],
            "representations": [{"type": "sql", "sql": sql, "dialect": dialect}],
            **version,
        }
        body = {
            "name": name,
            "schema": {"type": "struct", "schema-id": 0, "fields": fields},
            "view-version": version,
            "properties": {},
        }
        httpx.post(f"{server.uri}/v1/namespaces/{space}/views", json=body).raise_for_status()
        return f"prod.{space}.{name}"

    return create


def test_view_has_the_rows_of_its_query_under_the_names_and_types_of_its_schema(query, space, create_view):
    view = create_view("few", "select id, upper(name) from t where id < 3", {"number": "long", "{text}": "string"})
    assert query(f"SELECT * FROM {view} ORDER BY number") == [(1, "A"), (2, "B")]
    assert query(f"SELECT {view}.number, typeof(few.number) FROM {view} WHERE `{{text}}` = 'B'") == [(2, "bigint")]
    query(f"INSERT INTO prod.{space}.t VALUES (0, 'z')")
    assert query(f"SELECT count(*), sum(v.number) FROM {view} TABLESAMPLE (100 PERCENT) v") == [(3, 3)]
    assert query(f"SELECT a.name, b.number FROM prod.{space}.t a JOIN {view} b ON a.id = b.number ORDER BY 2") == [
        ("z", 0),
        ("a", 1),
        ("b", 2),
    ]
    assert query(f"SELECT * FROM {view} TABLESAMPLE (0 PERCENT)") == []


def test_names_in_a_view_are_relative_to_its_namespace(spark, query, space, create_view):
    create_view("low", "select id from t", {"id": "int"})
    top = create_view("top", "with w as (select max(id) as most from low) select most from w", {"most": "int"})
    spark.sql("SELECT 'temporary' AS id").createOrReplaceTempView("low")
    try:
        assert query(f"SELECT most FROM {top}") == [(3,)]
        query(f"USE prod.{space}")
        assert query("SELECT most FROM top") == [(3,)]
    finally:
        query("USE spark_catalog.default")
        spark.catalog.dropTempView("low")


def test_changes_read_views(query, space, create_view):
    view = create_view("source", "select id + 2 as id, 'new' as name from t", {"id": "int", "name": "string"})
    query(f"CREATE TABLE prod.{space}.copy USING icefloe AS SELECT * FROM {view}")
    query(
        f"MERGE INTO prod.{space}.t t USING {view} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED AND s.id = 4 THEN INSERT *"
    )
    assert query(f"SELECT * FROM prod.{space}.t ORDER BY id") == [(1, "a"), (2, "b"), (3, "new"), (4, "new")]
    query(f"DELETE FROM prod.{space}.t WHERE id IN (SELECT id - 4 FROM {view})")
    assert query(f"SELECT id FROM prod.{space}.t ORDER BY id") == [(3,), (4,)]
    assert query(f"SELECT id FROM prod.{space}.copy ORDER BY id") == [(3,), (4,), (5,)]


def test_views_are_listed_and_dropped(query, space, create_view):
    view = create_view("shown", "select 1 as one", {"one": "int"})
    assert query(f"SHOW VIEWS IN prod.{space}") == [(space, "shown", False)]
    assert query(f"SHOW VIEWS IN prod.{space} LIKE 'x*'") == []
    assert (
        query(f"DROP VIEW {view}") == query(f"DROP VIEW IF EXISTS {view}") == query(f"SHOW VIEWS IN prod.{space}") == []
    )
    with pytest.raises(NoSuchTableError):
        query(f"SELECT * FROM {view}")
    with pytest.raises(
        NoSuchViewError, match=rf"expected a view of prod, got prod.{space}.t: DROP TABLE drops a table"
    ):
        query(f"DROP VIEW prod.{space}.t")
    assert query(f"SELECT count(*) FROM prod.{space}.t") == [(3,)]


def test_unreadable_view_is_refused(query, create_view):
    first = create_view("first", "select id from second", {"id": "int"})
    create_view("second", "select id from first", {"id": "int"})
    with pytest.raises(ValidationError, match=f"got one that reads itself: {first} reads .*second reads {first}"):
        query(f"SELECT * FROM {first}")
    other = create_view("other", "select id from t", {"id": "int"}, dialect="trino")
    with pytest.raises(
        FeatureUnsupportedError, match=f"view {other}: expected a query in the dialect spark, got trino"
    ):
        query(f"SELECT * FROM {other}")
    far = create_view("far", "select id from t", {"id": "int"}, **{"default-catalog": "elsewhere"})
    with pytest.raises(ValidationError, match=r"catalog elsewhere, which is not attached; .* name='elsewhere'"):
        query(f"SELECT * FROM {far}")
    narrow = create_view("narrow", "select id, name from t", {"id": "int"})
    with pytest.raises(ValidationError, match=r"expected 1 columns of its query, got 2"):
        query(f"SELECT * FROM {narrow}")
    with pytest.raises(ValidationError, match=f"view {narrow}: expected no version"):
        query(f"SELECT * FROM {narrow} VERSION AS OF 1")


@pytest.mark.interop
def test_views_of_the_java_runtime_have_its_rows(query, server, space, tmp_path):
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    command = [sys.executable, "-m", "tests.spark.java_views", str(jars[-1]), str(tmp_path), server.uri, space]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert len(found) >= 5
    for view, rows in found.items():
        ours = query(f"SELECT * FROM prod.{space}.{view} ORDER BY 1, 2")
        assert json.loads(json.dumps(ours)) == rows, view
