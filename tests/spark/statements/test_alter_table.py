"""ALTER TABLE reads its clauses to their end and ignores the case of names."""

from __future__ import annotations

import re

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError


def test_write_order_is_read_to_its_end(sql, lake, name):
    identifier = name.removeprefix("lake.")
    sql(f"ALTER TABLE {name} WRITE ORDERED BY (bucket(4, id), name DESC)")
    order = lake.catalog.load_table(identifier).sort_order()
    assert [str(field.transform) for field in order.fields] == ["bucket[4]", "identity"]
    for wrong in ("", "()", "(id), (name)", "id DISTRIBUTED BY", "id DISTRIBUTED BY PARTITION id", "id UPWARDS"):
        with pytest.raises(ValidationError, match="SQL, after"):
            sql(f"ALTER TABLE {name} WRITE ORDERED BY {wrong}")
    assert lake.catalog.load_table(identifier).sort_order() == order


@pytest.mark.parametrize(
    ("clauses", "columns"),
    [
        ("ORDERED BY id, name DESC DISTRIBUTED BY PARTITION", ["id", "name"]),
        ("ORDERED BY (id, name) DISTRIBUTED BY PARTITION", ["id", "name"]),
        ("LOCALLY ORDERED BY id DISTRIBUTED BY PARTITION", ["id"]),
        ("UNORDERED DISTRIBUTED BY PARTITION", []),
        ("DISTRIBUTED BY PARTITION LOCALLY ORDERED BY id", ["id"]),
        ("DISTRIBUTED BY PARTITION UNORDERED", []),
    ],
)
def test_distribution_stands_before_or_after_the_order(sql, lake, name, clauses, columns):
    """The Java runtime takes either order of the parts, and each leaves the distribution mode `hash`: measured with Java 1.12."""
    sql(f"ALTER TABLE {name} WRITE {clauses}")
    table = lake.catalog.load_table(name.removeprefix("lake."))
    assert [table.schema().find_column_name(field.source_id) for field in table.sort_order().fields] == columns
    assert table.properties["write.distribution-mode"] == "hash"
    with pytest.raises(ValidationError, match="got 'DISTRIBUTED'"):
        sql(f"ALTER TABLE {name} WRITE DISTRIBUTED BY PARTITION ORDERED BY id DISTRIBUTED BY PARTITION")


def test_properties_with_statements_of_their_own_are_refused(sql, lake, name):
    before = lake.catalog.load_table(name.removeprefix("lake.")).metadata
    for key, instead in (
        ("location", "ALTER TABLE ... SET LOCATION"),
        ("provider", "the clause USING"),
        ("sort-order", "ALTER TABLE ... WRITE ORDERED BY"),
        ("identifier-fields", "ALTER TABLE ... SET IDENTIFIER FIELDS"),
    ):
        with pytest.raises(ValidationError, match=f"'{key}' is reserved; expected {instead}"):
            sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{key}' = 'x', 'a' = 'b')")
    assert lake.catalog.load_table(name.removeprefix("lake.")).metadata == before


def test_metrics_modes_follow_the_columns_of_the_table(sql, lake, name):
    """The Java runtime refuses a mode of an unknown column, and renames and drops modes with their columns: measured with Java 1.12."""
    mode = "write.metadata.metrics.column."
    with pytest.raises(ValidationError, match=f"table property {mode}nope: Could not find field with name nope"):
        sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{mode}nope' = 'full')")
    for start, end in (("CREATE TABLE", ""), ("CREATE OR REPLACE TABLE", ""), ("CREATE TABLE", " AS SELECT 1 AS x")):
        columns = "" if end else "(id int)"
        with pytest.raises(ValidationError, match=f"table property {mode}nope: Could not find field"):
            sql(f"{start} lake.db.modes {columns} TBLPROPERTIES ('{mode}nope' = 'full'){end}")
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('{mode}id' = 'full', '{mode}name' = 'counts')")
    sql(f"ALTER TABLE {name} RENAME COLUMN id TO key")
    sql(f"ALTER TABLE {name} DROP COLUMN name")
    properties = lake.catalog.load_table(name.removeprefix("lake.")).properties
    assert {key: value for key, value in properties.items() if key.startswith(mode)} == {f"{mode}key": "full"}
    assert not lake.catalog.table_exists("db.modes")


def test_drop_identifier_fields_ignores_case(sql, lake):
    sql("CREATE TABLE lake.db.identified (Id int NOT NULL, k string NOT NULL)")
    sql("ALTER TABLE lake.db.identified SET IDENTIFIER FIELDS Id, k")
    sql("ALTER TABLE lake.db.identified DROP IDENTIFIER FIELDS ID")
    assert lake.catalog.load_table("db.identified").schema().identifier_field_names() == {"k"}
    with pytest.raises(ValidationError, match="'nope' is no identifier field; expected one of k"):
        sql("ALTER TABLE lake.db.identified DROP IDENTIFIER FIELDS nope")


def test_new_columns_differ_from_others_by_more_than_case(sql, name):
    for change in ("ADD COLUMN NAME int", "ADD COLUMNS (x int, ID int)", "RENAME COLUMN id TO NAME"):
        with pytest.raises(ValidationError, match="ALTER TABLE: expected the name of a new column"):
            sql(f"ALTER TABLE {name} {change}")
    sql(f"ALTER TABLE {name} RENAME COLUMN name TO NAME")
    assert sql(f"SELECT name FROM {name} WHERE id = 1") == [("a",)]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("ADD CONSTRAINT pk PRIMARY KEY (id)", "got ADD CONSTRAINT$"),
        ("SET SERDEPROPERTIES ('a' = 'b')", "got SET SERDEPROPERTIES$"),
        ("RECOVER PARTITIONS", "got RECOVER PARTITIONS$"),
        (
            "ADD IF NOT EXISTS PARTITION (id = 1)",
            "got ADD IF NOT EXISTS PARTITION: INSERT makes partitions, and DELETE",
        ),
        ("DROP PARTITION (id = 1)", "got DROP PARTITION: INSERT makes partitions, and DELETE FROM removes their rows"),
        ("", "got the end of the statement$"),
    ],
)
def test_unknown_changes_are_named(sql, name, change, shown):
    with pytest.raises(ValidationError, match=f"ALTER TABLE: expected ADD, .*{shown}"):
        sql(f"ALTER TABLE {name} {change}")


def test_format_version_among_the_properties_upgrades_the_table(sql, lake):
    sql("CREATE TABLE lake.db.of_version_one (id int) TBLPROPERTIES ('format-version' = '1')")
    sql("ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '2', 'team' = 'me')")
    table = lake.catalog.load_table("db.of_version_one")
    assert (table.metadata.format_version, table.properties["team"]) == (2, "me")
    sql("ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '2')")
    for wrong in ("1", "two"):
        with pytest.raises(ValidationError, match=r"format.version"):
            sql(f"ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '{wrong}', 'team' = 'x')")
    assert lake.catalog.load_table("db.of_version_one").properties["team"] == "me"


def test_create_branch_of_a_table_without_snapshots_makes_an_empty_one(sql, lake):
    sql("CREATE TABLE lake.db.branched_first (id int)")
    sql("ALTER TABLE lake.db.branched_first CREATE BRANCH IF NOT EXISTS audit RETAIN 7 DAYS")
    sql("ALTER TABLE lake.db.branched_first CREATE BRANCH IF NOT EXISTS audit")
    sql("ALTER TABLE lake.db.branched_first CREATE OR REPLACE BRANCH other")
    table = lake.catalog.load_table("db.branched_first")
    assert table.current_snapshot() is None
    assert set(table.refs()) == {"audit", "other"}
    assert table.refs()["audit"].max_ref_age_ms == 7 * 86_400_000
    sql("INSERT INTO lake.db.branched_first.branch_audit VALUES (1)")
    assert sql("SELECT id FROM lake.db.branched_first.branch_audit") == [(1,)]
    assert sql("SELECT id FROM lake.db.branched_first") == []
    for wrong in ("CREATE TAG t", "REPLACE BRANCH audit", "CREATE BRANCH audit"):
        with pytest.raises(ValidationError):
            sql(f"ALTER TABLE lake.db.branched_first {wrong}")


CHANGES = [
    "SET TBLPROPERTIES ('a' = 'b')",
    "UNSET TBLPROPERTIES ('a')",
    "SET LOCATION '/elsewhere'",
    "ADD COLUMNS (x int)",
    "DROP COLUMNS (name)",
    "RENAME COLUMN name TO label",
    "ADD PARTITION FIELD bucket(4, id)",
    "CREATE BRANCH b",
    "CREATE TAG t RETAIN 5 DAYS",
    "WRITE UNORDERED",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_end_of_a_statement_changes_nothing(sql, lake, name, change):
    before = lake.catalog.load_table(name.removeprefix("lake.")).metadata
    with pytest.raises(ValidationError, match="expected the end of the statement, got 'and'"):
        sql(f"ALTER TABLE {name} {change} and more")
    assert lake.catalog.load_table(name.removeprefix("lake.")).metadata == before


def shape(schema):
    """The columns of a schema as text: name, type, and comment."""
    return [f"{field.name} {field.field_type} {field.doc}" for field in schema.fields]


def test_columns_are_altered_in_each_form_of_spark(sql, lake):
    """Spark's grammar: COLUMN may be left out, CHANGE repeats the name, and one statement changes several columns."""
    sql("CREATE TABLE lake.db.altered (a int, b float, c int, d int, comment string, s struct<x: int, y: int>)")
    for change in (
        "ALTER a TYPE bigint",
        "CHANGE b TYPE double",
        "CHANGE COLUMN c c bigint COMMENT 'of c' FIRST",
        "CHANGE d D int AFTER c",
        "CHANGE comment comment string COMMENT 'a' 'b'",
        "CHANGE COLUMN s.x x bigint",
        "CHANGE s s struct<x: bigint, y: int> COMMENT 'same type'",
        "ALTER /* one /* nested */ */ COLUMN s.y TYPE bigint, a COMMENT 'it''s, \\101\\u0042\\U0001F600\\uD83D\\uDE00'; -- end",
    ):
        sql(f"ALTER TABLE lake.db.altered {change}")
    schema = lake.catalog.load_table("db.altered").schema()
    assert shape(schema) == [
        "c long of c",
        "d int None",
        "a long it's, AB😀😀",
        "b double None",
        "comment string ab",
        "s struct<7: x: optional long, 8: y: optional long> same type",
    ]
    for wrong, problem in {
        "CHANGE COLUMN d e int": "the name stays; expected d, got e: ALTER TABLE ... RENAME COLUMN d TO e changes it",
        "CHANGE COLUMN d d int NOT NULL": "ALTER TABLE ... ALTER COLUMN d SET NOT NULL sets it",
        "ALTER COLUMN d TYPE bigint COMMENT 'lost'": "expected one change, got several",
        "ALTER COLUMN d TYPE bigint NOT NULL": "expected one change, got several",
        "ALTER COLUMN d TYPE bigint, D COMMENT 'twice'": "expected one change, got several",
        "ALTER COLUMN d": "expected TYPE, COMMENT",
        "CHANGE": "expected a column, got the end of the statement",
        "ALTER COLUMN d TYPE strings": "expected a type of Spark such as bigint or struct<a: int>, got 'strings'",
        "DROP COLUMN d CASCADE": "expected the end of the statement, got 'CASCADE'",
        "DROP COLUMNS (a, d b)": "expected the end of the statement, got 'b'",
        "DROP COLUMN ()": "expected a column",
        "ADD COLUMN z int COMMENT 'a' COMMENT 'b'": "column 'z' has COMMENT twice; expected it once",
        "ALTER /* COLUMN d TYPE bigint": "the comment does not end",
    }.items():
        with pytest.raises(ValidationError, match=re.escape(problem)):
            sql(f"ALTER TABLE lake.db.altered {wrong}")
    assert lake.catalog.load_table("db.altered").schema() == schema


def test_clauses_of_new_columns_are_in_any_order(sql, lake):
    sql(
        "CREATE TABLE lake.db.clauses (id int COMMENT 'key' NOT NULL, at struct<first: int, after: string COMMENT ', >'>)"
    )
    sql("ALTER TABLE lake.db.clauses ADD COLUMN a map<string, struct<comment: int, default: int>> AFTER id COMMENT 'a'")
    sql(
        "ALTER TABLE lake.db.clauses ADD COLUMNS (b int FIRST COMMENT 'b', at.not decimal(9, 2) AFTER first, c array<int>)"
    )
    schema = lake.catalog.load_table("db.clauses").schema()
    assert shape(schema) == [
        "b int b",
        "id int key",
        "a map<string, struct<8: comment: optional int, 9: default: optional int>> a",
        "at struct<3: first: optional int, 11: not: optional decimal(9, 2), 4: after: optional string (, >)> None",
        "c list<int> None",
    ]
    assert schema.find_field("id").required
    sql("ALTER TABLE lake.db.clauses REPLACE COLUMNS (id bigint, name string COMMENT 'new')")
    replaced = lake.catalog.load_table("db.clauses").schema()
    assert shape(replaced) == ["id long None", "name string new"]
    assert not replaced.field_ids & schema.field_ids
    for wrong in ("id int FIRST", "s.id int", "id int DEFAULT 5", "id int GENERATED ALWAYS AS (1)", "PRIMARY KEY (id)"):
        with pytest.raises((ValidationError, FeatureUnsupportedError), match="CREATE TABLE: "):
            sql(f"CREATE TABLE lake.db.wrong ({wrong})")


def test_properties_need_a_value_each_and_a_key_once(sql, lake, name):
    sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('a' = 'x' 'y', b.c == FALSE, d 1.5, 'e' \"q\")")
    before = lake.catalog.load_table(name.removeprefix("lake.")).properties
    assert [before[key] for key in ("a", "b.c", "d", "e")] == ["xy", "false", "1.5", "q"]
    for wrong in ("SET TBLPROPERTIES ('a')", "SET TBLPROPERTIES ('a' = b)", "SET TBLPROPERTIES ('a' = 1, a = 2)"):
        with pytest.raises(ValidationError, match=r"value of 'a'|'a' is given twice"):
            sql(f"ALTER TABLE {name} {wrong}")
    for wrong in ("SET TBLPROPERTIES ()", "UNSET TBLPROPERTIES ('a' = 'x')", "UNSET TBLPROPERTIES (a b)"):
        with pytest.raises(ValidationError, match="SQL, after"):
            sql(f"ALTER TABLE {name} {wrong}")
    assert lake.catalog.load_table(name.removeprefix("lake.")).properties == before


def test_a_local_order_leaves_the_distribution_as_it_is(sql, lake, name):
    for order, mode in (
        ("LOCALLY ORDERED BY id", None),
        ("DISTRIBUTED BY PARTITION", "hash"),
        ("LOCALLY ORDERED BY id", "hash"),
    ):
        sql(f"ALTER TABLE {name} WRITE {order}")
        assert lake.catalog.load_table(name.removeprefix("lake.")).properties.get("write.distribution-mode") == mode
