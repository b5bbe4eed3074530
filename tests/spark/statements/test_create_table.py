"""CREATE TABLE: the definition of a table of a query."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError


def test_table_of_a_query_has_no_required_fields_at_any_depth(sql, lake):
    query = (
        "SELECT array(1, 2) AS numbers, named_struct('a', 1, 'b', array(map('k', 1))) AS pair, map('k', 1) AS counts"
    )
    sql(f"CREATE TABLE lake.db.no_required_fields AS {query}")
    sql(
        "INSERT INTO lake.db.no_required_fields VALUES (array(NULL), named_struct('a', NULL, 'b', array(map('k', NULL))), map('k', NULL))"
    )
    found = sql("SELECT numbers[0], pair.a, counts['k'] FROM lake.db.no_required_fields WHERE numbers[0] IS NULL")
    assert found == [(None, None, None)]


def test_partition_fields_of_a_new_table_have_the_names_of_the_java_runtime(sql, lake):
    """CREATE TABLE leaves the number of a transform out of the name, ALTER TABLE ADD PARTITION FIELD adds it: measured with Java 1.12."""
    partitioning = "PARTITIONED BY (bucket(4, id), truncate(3, s), hours(ts), st.a, bucket(2, st.a), truncate(st.a, 4))"
    created = ["id_bucket", "s_trunc", "ts_hour", "st.a", "st.a_bucket", "st.a_trunc"]
    sql(
        f"CREATE TABLE lake.db.java_names (id bigint, s string, ts timestamp, st struct<a: int>) USING iceberg {partitioning}"
    )
    assert [field.name for field in lake.catalog.load_table("db.java_names").spec().fields] == created
    for change in ("DROP PARTITION FIELD id_bucket", "DROP PARTITION FIELD truncate(3, s)"):
        sql(f"ALTER TABLE lake.db.java_names {change}")
    sql("ALTER TABLE lake.db.java_names ADD PARTITION FIELD bucket(8, id)")
    sql("ALTER TABLE lake.db.java_names REPLACE PARTITION FIELD ts_hour WITH truncate(s, 5)")
    sql("ALTER TABLE lake.db.java_names ADD PARTITION FIELD bucket(4, id)")
    names = [field.name for field in lake.catalog.load_table("db.java_names").spec().fields]
    assert names == ["st.a", "st.a_bucket", "st.a_trunc", "id_bucket_8", "s_trunc_5", "id_bucket"]
    for create in ("CREATE OR REPLACE TABLE", "REPLACE TABLE"):
        sql(f"{create} lake.db.java_names PARTITIONED BY (bucket(4, id), truncate(2, s)) AS SELECT 1L id, 'abc' s")
        fields = lake.catalog.load_table("db.java_names").spec().fields
        assert [field.name for field in fields] == ["id_bucket", "s_trunc"]


def test_partition_fields_of_a_new_table_need_names_of_their_own(sql, lake):
    for columns, partitioning, name in (
        ("id bigint", "bucket(4, id), bucket(8, id)", "id_bucket"),
        ("s string", "truncate(4, s), truncate(8, s)", "s_trunc"),
        ("id bigint, id_bucket int", "bucket(4, id)", "id_bucket"),
    ):
        with pytest.raises(ValidationError, match=f"'{name}'"):
            sql(f"CREATE TABLE lake.db.names_twice ({columns}) PARTITIONED BY ({partitioning})")
        assert not lake.catalog.table_exists("db.names_twice")


def test_properties_with_clauses_of_their_own_are_refused(sql, lake):
    for key, clause in (("location", "LOCATION"), ("provider", "USING")):
        with pytest.raises(ValidationError, match=f"'{key}' is reserved; expected the clause {clause}"):
            sql(f"CREATE TABLE lake.db.reserved (id int) TBLPROPERTIES ('{key}' = 'x')")
    assert not lake.catalog.table_exists("db.reserved")


def test_partition_columns_with_types_are_the_last_columns_of_the_table(sql, lake):
    sql(
        "CREATE TABLE lake.db.typed_partitions (id bigint) PARTITIONED BY (`a b` string COMMENT 'x', q decimal(9, 2)) COMMENT 'c'"
    )
    table = lake.catalog.load_table("db.typed_partitions")
    assert [(field.name, str(field.field_type), field.doc) for field in table.schema().fields] == [
        ("id", "long", None),
        ("a b", "string", "x"),
        ("q", "decimal(9, 2)", None),
    ]
    assert [field.name for field in table.spec().fields] == ["a b", "q"]
    for wrong in ("(id bigint) PARTITIONED BY (p string, id)", "PARTITIONED BY (p string) AS SELECT 1 AS id"):
        with pytest.raises(ValidationError, match="PARTITIONED BY: expected"):
            sql(f"CREATE TABLE lake.db.typed_wrongly {wrong}")
    with pytest.raises(ValidationError, match="expected each column once, got p and p"):
        sql("CREATE TABLE lake.db.typed_wrongly (id bigint, p string) PARTITIONED BY (p string)")


@pytest.mark.parametrize(
    ("rows", "operation"), [("SELECT 1 AS a", "overwrite"), ("SELECT 1 AS a WHERE false", "delete")]
)
@pytest.mark.parametrize("exists", [False, True])
def test_replaced_table_has_the_operation_of_the_java_runtime(sql, lake, rows, operation, exists):
    name = f"db.replaced_{operation}_{exists}"
    if exists:
        sql(f"CREATE TABLE lake.{name} USING icefloe AS SELECT 5 AS b")
        assert lake.catalog.load_table(name).current_snapshot().operation.value == "append"
    sql(f"CREATE OR REPLACE TABLE lake.{name} USING icefloe AS {rows}")
    snapshot = lake.catalog.load_table(name).current_snapshot()
    assert (snapshot.operation.value, snapshot.parent_snapshot_id) == (operation, None)
    assert sql(f"SELECT count(*) FROM lake.{name}") == [(1 if operation == "overwrite" else 0,)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("days(ts), hours(ts)", "hour of column 'ts' is redundant beside day"),
        ("years(ts), months(ts)", "month of column 'ts' is redundant beside year"),
        ("id, id", "identity of column 'id' is redundant beside identity"),
        ("bucket(4, id), bucket(4, id)", "is redundant beside bucket"),
    ],
)
def test_redundant_partition_fields_of_a_new_table_are_refused(sql, fields, problem):
    with pytest.raises(ValidationError, match=problem):
        sql(f"CREATE TABLE lake.db.redundant (id bigint, ts timestamp) PARTITIONED BY ({fields})")


def test_units_of_time_of_two_columns_and_of_later_changes_are_not_redundant(sql, lake):
    sql("CREATE TABLE lake.db.two_times (a timestamp, b timestamp) PARTITIONED BY (days(a), hours(b), a)")
    sql("ALTER TABLE lake.db.two_times ADD PARTITION FIELD hours(a)")
    names = [field.name for field in lake.catalog.load_table("db.two_times").spec().fields]
    assert names == ["a_day", "b_hour", "a", "a_hour"]


def test_using_names_a_file_format(sql, lake):
    for name in ("parquet", "ORC", "avro"):
        sql(f"CREATE TABLE lake.db.of_{name} (id int) USING {name}")
        sql(f"INSERT INTO lake.db.of_{name} VALUES (1)")
        table = lake.catalog.load_table(f"db.of_{name}")
        assert table.properties["write.format.default"] == name.lower()
        assert sql(f"SELECT DISTINCT lower(file_format) FROM lake.db.of_{name}.files") == [(name.lower(),)]
    contradiction = "USING orc TBLPROPERTIES ('write.format.default' = 'avro')"
    for clauses in (contradiction, "TBLPROPERTIES ('write.format.default' = 'avro') USING orc"):
        with pytest.raises(ValidationError, match="USING: expected the file format of the property"):
            sql(f"CREATE TABLE lake.db.of_two (id int) {clauses}")
    with pytest.raises(ValidationError, match="USING: expected icefloe, iceberg, parquet, orc, avro, got csv"):
        sql("CREATE TABLE lake.db.of_csv (id int) USING csv")


def test_options_and_buckets_have_the_meaning_of_the_java_runtime(sql, lake):
    sql(
        "CREATE TABLE lake.db.clustered (id int, p string) PARTITIONED BY (p) CLUSTERED BY (id) INTO 4 BUCKETS OPTIONS ('a' = 'b')"
    )
    table = lake.catalog.load_table("db.clustered")
    assert {key: table.properties[key] for key in ("a", "option.a")} == {"a": "b", "option.a": "b"}
    assert [(field.name, str(field.transform)) for field in table.spec().fields] == [
        ("p", "identity"),
        ("id_bucket", "bucket[4]"),
    ]
    for clause, problem in (
        ("CLUSTERED BY (id, p) INTO 4 BUCKETS", "CLUSTERED BY: expected one column, got id, p"),
        ("CLUSTERED BY (id) SORTED BY (p) INTO 4 BUCKETS", "SORTED BY is not supported"),
        ("STORED AS orc", "STORED is not supported"),
    ):
        with pytest.raises((ValidationError, FeatureUnsupportedError), match=problem):
            sql(f"CREATE TABLE lake.db.clustered_2 (id int, p string) {clause}")
