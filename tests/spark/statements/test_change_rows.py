"""UPDATE, DELETE and MERGE with the names, conditions and values that Spark's own statements have."""

from __future__ import annotations

import itertools

import icefloe.spark
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, SchemaMismatchError, ValidationError
from icefloe.spark.session import settings

NUMBERS = itertools.count()
PLACES = "(1, named_struct('city', 'x', 'at', named_struct('lat', 1, 'lon', 2L)), 5), (2, NULL, 6)"


@pytest.fixture
def places(sql):
    """The name of a table with nested structs: one row has them, the other is null."""
    made = f"lake.db.places{next(NUMBERS)}"
    sql(f"CREATE TABLE {made} (id bigint, place struct<city: string, at: struct<lat: int, lon: bigint>>, n int)")
    sql(f"INSERT INTO {made} VALUES {PLACES}")
    return made


def fields(sql, name):
    return sql(f"SELECT id, place.city, place.at.lat, place.at.lon, n FROM {name} ORDER BY id, n")


def test_update_sets_fields_within_structs(sql, places):
    table = places.rsplit(".", maxsplit=1)[-1]
    sql(f"UPDATE {places} SET place.at.lat = 7, {table}.place.city = upper(place.city), n = place.at.lat")
    # A struct that is null becomes one whose other fields are null.
    assert fields(sql, places) == [(1, "X", 7, 2, 1), (2, None, 7, None, None)]


def test_conditions_test_whether_a_struct_is_null(sql, places):
    assert sql(f"SELECT id FROM {places} WHERE place IS NULL AND n > 1") == [(2,)]
    assert sql(f"UPDATE {places} SET n = 7 WHERE place IS NOT NULL") == [(1, 0, 0)]
    assert sql(f"DELETE FROM {places} WHERE place IS NULL") == [(0, 1, 0)]
    assert fields(sql, places) == [(1, "x", 1, 2, 7)]


def test_merge_sets_fields_within_structs(sql, places):
    sql(
        f"MERGE INTO {places} t USING (SELECT 1L AS id, 9 AS v) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET t.place.at.lon = s.v, place.city = concat(t.place.city, s.v) "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET place.at.lat = n"
    )
    assert fields(sql, places) == [(1, "x9", 1, 9, 5), (2, None, 6, None, 6)]


@pytest.mark.parametrize(
    ("changes", "error", "problem"),
    [
        ("place.at.lat = 1, place.at = NULL", ValidationError, r"place\.at is set twice"),
        ("place = NULL, place.city = 'x'", ValidationError, r"place\.city is set twice"),
        ("place.nope = 1", SchemaMismatchError, "place has no field 'nope'; expected one of city, at"),
        ("n.x = 1", SchemaMismatchError, "expected a struct around 'x', got int"),
        ("place.at.lat = 'x'", SchemaMismatchError, "value of column 'place' does not fit"),
        ("n = '5'", SchemaMismatchError, "value of column 'n' does not fit; expected int, got string"),
        ("place.city = DEFAULT", FeatureUnsupportedError, r"SET place\.city = DEFAULT is not supported"),
        ("n =", ValidationError, "expected a value"),
    ],
)
def test_set_clauses_are_refused_by_name(sql, places, changes, error, problem):
    statements = [
        f"UPDATE {places} SET {changes}",
        f"MERGE INTO {places} t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {changes}",
    ]
    for statement in statements:
        with pytest.raises(error, match=problem):
            sql(statement)
    assert sql(f"SELECT count(*) FROM {places}.snapshots") == [(1,)]


def test_set_to_the_default_sets_null(sql, places):
    """The Java runtime accepts DEFAULT as the whole value of a column in both statements: measured with Java 1.12."""
    sql(f"UPDATE {places} SET place = default, n = n + 1 WHERE id = 1")
    assert sql(f"SELECT place, n IS NULL FROM {places} WHERE id = 1")[0][0] is None
    for clause in ("WHEN MATCHED", "WHEN NOT MATCHED BY SOURCE"):
        sql(f"UPDATE {places} SET n = 7")
        sql(f"MERGE INTO {places} t USING (SELECT 1L AS id) s ON t.id = s.id {clause} THEN UPDATE SET n = DEFAULT")
        matched = clause == "WHEN MATCHED"
        assert sql(f"SELECT DISTINCT n FROM {places} WHERE (id = 1) = {matched}") == [(None,)]
        assert sql(f"SELECT DISTINCT n FROM {places} WHERE (id = 1) <> {matched}") == [(7,)]


def test_changes_begin_with_a_with_clause(sql, name):
    more = "WITH more AS (SELECT 2L AS id, 'B' AS name), other AS (SELECT 3L AS id)"
    merge = f"{more} MERGE INTO {name} t USING more ON t.id = more.id WHEN MATCHED THEN UPDATE SET name = more.name"
    assert sql(merge) == [(1, 0, 0)]
    assert sql(f"{more} UPDATE {name} SET name = 'c' WHERE id IN (SELECT id FROM other)") == [(1, 0, 0)]
    assert sql(f"{more} DELETE FROM {name} WHERE id = (SELECT max(id) FROM more)") == [(0, 1, 0)]
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(1, "a"), (3, "c")]


@pytest.mark.parametrize(
    ("condition", "deleted"),
    [
        ("name NOT LIKE 'a%'", [2]),
        ("NOT name LIKE 'a%'", [2]),
        ("NOT (name NOT LIKE 'a%')", [1]),
        ("name NOT LIKE 'a%' OR id = 3", [2, 3]),
        ("name LIKE 'a%'", [1]),
        ("id NOT IN (1, 3)", [2]),
        ("id NOT BETWEEN 1 AND 2", [3]),
        ("name IS NOT NULL", [1, 2]),
    ],
)
def test_delete_takes_a_negated_predicate_for_its_negation(sql, name, condition, deleted):
    assert sorted(row[0] for row in sql(f"SELECT id FROM {name} WHERE {condition}")) == deleted
    sql(f"DELETE FROM {name} WHERE {condition}")
    assert sorted(row[0] for row in sql(f"SELECT id FROM {name}")) == [key for key in (1, 2, 3) if key not in deleted]


def test_update_takes_positional_parameters_in_the_order_of_the_statement(sql, name):
    assert sql(f"UPDATE {name} SET name = ?, id = ? WHERE id = ?", ["new", 20, 2]) == [(1, 0, 0)]
    assert sql(f"SELECT * FROM {name} WHERE id = 20") == [(20, "new")]


def test_changes_name_columns_by_the_full_name_of_the_table(sql, name):
    assert sql(f"UPDATE {name} SET {name}.name = concat({name}.name, '!') WHERE {name}.id = 1") == [(1, 0, 0)]
    assert sql(f"DELETE FROM {name} WHERE {name}.id = 2") == [(0, 1, 0)]
    merge = (
        f"MERGE INTO {name} USING (SELECT 1L AS k) s ON {name}.id = s.k WHEN MATCHED AND {name}.name = 'a!' THEN DELETE"
    )
    assert sql(merge) == [(0, 1, 0)]


@pytest.mark.parametrize(
    ("on", "matched"),
    [
        ("t.id > s.k", [(2, 1), (3, 1), (3, 2)]),
        ("t.id = s.k AND t.name > 'a'", [(2, 2)]),
        ("t.id = s.k OR t.name = s.name", [(1, 1), (2, 2), (1, 7)]),
        ("(t.id = s.k AND (t.name IS NULL OR s.name = 'b'))", [(2, 2)]),
        ("t.id BETWEEN s.k AND s.k + 1 AND s.k = 1", [(1, 1), (2, 1)]),
        ("t.id + 0 = s.k", [(1, 1), (2, 2)]),
        ("t.id IN (1, 3) AND s.k = 1", [(1, 1), (3, 1)]),
        ("NOT t.id = s.k AND t.name = s.name", [(1, 7)]),
        ("t.id = s.k AND t.id = 2", [(2, 2)]),
        ("false", []),
        ("1 = 1 AND s.k = 7", [(1, 7), (2, 7), (3, 7)]),
    ],
)
def test_merge_on_any_condition_of_both_tables(sql, name, on, matched):
    """The rows of the target are (1, 'a'), (2, 'b'), (3, NULL); pairs are of a target's id and a source's key."""
    once = len({row for row, _ in matched}) == len(matched)
    updates = "WHEN MATCHED THEN UPDATE SET id = t.id + 10 * s.k " if once else ""
    sql(
        f"MERGE INTO {name} t USING (SELECT * FROM VALUES (1L, 'x'), (2L, 'b'), (7L, 'a') AS v(k, name)) s ON {on} {updates}"
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.k + 1000, s.name) "
        "WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    pairs = dict(matched)
    rows = {1: "a", 2: "b", 3: None}
    kept = [(row + (10 * pairs[row] if once else 0), rows[row]) for row in pairs]
    given = {1: "x", 2: "b", 7: "a"}
    added = [(key + 1000, text) for key, text in given.items() if key not in {one for _, one in matched}]
    assert sorted(sql(f"SELECT * FROM {name}"), key=str) == sorted(kept + added, key=str)


def test_merge_on_a_condition_refuses_target_rows_that_several_source_rows_change(sql, name):
    merge = f"MERGE INTO {name} t USING (SELECT explode(array(1L, 2L)) AS k) s ON t.id >= s.k WHEN MATCHED AND s.k > 0 THEN DELETE"
    with pytest.raises(ValidationError, match="everal source rows"):
        sql(merge)
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]


def test_merge_refuses_a_condition_on_a_map_of_the_source(sql, name):
    with pytest.raises(ValidationError, match=r"the source's column 'm' of type map.*expected columns without maps"):
        sql(f"MERGE INTO {name} t USING (SELECT map('a', 1L) AS m) s ON t.id > s.m['a'] WHEN MATCHED THEN DELETE")


@pytest.mark.parametrize(
    ("kind", "values", "keys", "expected"),
    [
        ("bigint", "7, 10, 2, 9", "'7', '10', '2', '09'", 4),
        ("string", "'7', '10', '02', '9'", "7, 10, 2, 9", 4),
        ("timestamp", "timestamp'2026-01-01 00:00:00', timestamp'2026-01-02 00:00:00'", "date'2026-01-01'", 1),
        ("date", "date'2026-01-01', date'2025-12-31'", "'2026-01-01', '2025-12-31'", 2),
        ("decimal(9,2)", "1, 2.5", "1, 2", 1),
    ],
)
def test_merge_compares_keys_of_different_types_as_spark_does(sql, kind, values, keys, expected):
    made = f"lake.db.keys{next(NUMBERS)}"
    sql(f"CREATE TABLE {made} (k {kind}, n int)")
    sql(f"INSERT INTO {made} SELECT cast(k AS {kind}), 0 FROM (SELECT explode(array({values})) AS k)")
    source = f"(SELECT explode(array({keys})) AS k)"
    merge = f"MERGE INTO {made} t USING {source} s ON t.k = s.k WHEN MATCHED THEN UPDATE SET n = 1"
    assert sql(merge) == [(expected, 0, 0)]


def test_changes_refuse_numbers_out_of_the_range_of_a_column_in_every_mode(spark, sql, places):
    statements = [
        f"UPDATE {places} SET n = 3000000000L",
        f"INSERT INTO {places} SELECT 3L, cast(NULL AS struct<city: string, at: struct<lat: int, lon: bigint>>), 3000000000L",
        f"MERGE INTO {places} t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = 3000000000L",
    ]
    for ansi in ("true", "false"):
        for statement in statements:
            problem = "a value is out of the range of column 'n'; expected int, got 3000000000"
            with settings(spark, {"spark.sql.ansi.enabled": ansi}), pytest.raises(SchemaMismatchError, match=problem):
                icefloe.spark.sql(spark, statement)
    assert sql(f"SELECT sum(n) FROM {places}") == [(11,)]


def test_merge_names_a_column_of_neither_table(sql, name):
    with pytest.raises(ResolveError, match="column 'nope' is in neither table"):
        sql(f"MERGE INTO {name} t USING (SELECT 1L AS id) s ON t.id > nope WHEN MATCHED THEN DELETE")


def test_merge_conditions_may_have_lambdas(sql):
    name = f"lake.db.lambdas{next(NUMBERS)}"
    sql(f"CREATE TABLE {name} (id bigint, tags array<string>)")
    sql(f"INSERT INTO {name} VALUES (1, array('a', 'b')), (2, array('c')), (3, NULL)")
    sql(
        f"MERGE INTO {name} t USING (SELECT * FROM VALUES (1L, 'b'), (2L, 'x'), (9L, 'y') AS v(id, tag)) s "
        "ON t.id = s.id AND (s.tag = 'x' OR exists(t.tags, one -> one = s.tag)) "
        "WHEN MATCHED AND exists(t.tags, tag -> tag = s.tag AND t.id = 1) THEN UPDATE SET tags = transform(t.tags, x -> upper(x)) "
        "WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED AND exists(array(s.tag), x -> x = 'y') THEN INSERT (id, tags) VALUES (s.id, array(s.tag))"
    )
    assert sql(f"SELECT id, tags FROM {name} ORDER BY id") == [(1, ["A", "B"]), (3, None), (9, ["y"])]
    for query in ("SELECT 1", "VALUES (1)"):
        with pytest.raises(FeatureUnsupportedError, match="MERGE, ON: subqueries are not supported here"):
            sql(f"MERGE INTO {name} t USING (SELECT 1L AS id) s ON exists({query}) WHEN MATCHED THEN DELETE")


@pytest.mark.parametrize(
    "statement", ["DELETE FROM {} WHERE", "DELETE FROM {} AS t WHERE ;", "DELETE FROM {} WHERE -- id"]
)
def test_delete_refuses_a_missing_condition(sql, name, statement):
    with pytest.raises(ValidationError, match="expected a condition after WHERE, got the end of the statement"):
        sql(statement.format(name))
    assert sql(f"SELECT count(*) FROM {name}") == [(3,)]


PAIRS = "(1, named_struct('a', 1, 'b', 2), array(named_struct('a', 1, 'b', 2)), map('k', named_struct('a', 1, 'b', 2)))"
SWAPPED = "named_struct('b', 20L, 'A', 10)"
IN_ORDER = [(1, (10, 20), [(10, 20)], {"k": (10, 20)})]


@pytest.fixture
def pairs(sql):
    """The name of a table with structs in structs, lists and maps."""
    made = f"lake.db.pairs{next(NUMBERS)}"
    pair = "struct<a: int, b: bigint>"
    sql(f"CREATE TABLE {made} (id int, s {pair}, l array<{pair}>, m map<string, {pair}>)")
    sql(f"INSERT INTO {made} VALUES {PAIRS}")
    return made


def test_update_matches_the_fields_of_structs_by_name(sql, pairs):
    sql(f"UPDATE {pairs} SET s = {SWAPPED}, l = array({SWAPPED}), m = map('k', {SWAPPED})")
    assert sql(f"SELECT * FROM {pairs}") == IN_ORDER
    sql(f"UPDATE {pairs} SET s = if(id = 2, {SWAPPED}, null)")
    assert sql(f"SELECT s IS NULL FROM {pairs}") == [(True,)]


def test_merge_matches_the_fields_of_structs_by_name(sql, pairs):
    source = f"(SELECT 1 AS id, {SWAPPED} AS s, array({SWAPPED}) AS l, map('k', {SWAPPED}) AS m)"
    update = "WHEN MATCHED THEN UPDATE SET s = u.s, l = u.l, m = u.m"
    sql(f"MERGE INTO {pairs} AS t USING {source} AS u ON t.id = u.id {update}")
    assert sql(f"SELECT * FROM {pairs}") == IN_ORDER
    sql(f"DELETE FROM {pairs}")
    insert = "WHEN NOT MATCHED THEN INSERT (id, s, l, m) VALUES (u.id, u.s, u.l, u.m)"
    sql(f"MERGE INTO {pairs} AS t USING {source} AS u ON t.id = u.id {insert}")
    assert sql(f"SELECT * FROM {pairs}") == IN_ORDER


def test_insert_matches_the_fields_of_structs_by_name_or_by_position(sql, pairs):
    sql(f"INSERT OVERWRITE {pairs} BY NAME SELECT 1 AS id, {SWAPPED} AS s")
    assert sql(f"SELECT s FROM {pairs}") == [((10, 20),)]
    sql(f"INSERT OVERWRITE {pairs} SELECT 1, struct(30, 40), array(), map()")
    assert sql(f"SELECT s FROM {pairs}") == [((30, 40),)]


@pytest.mark.parametrize("value", ["struct(1, 2L)", "named_struct('a', 1)", "named_struct('a', 1, 'c', 2L)"])
def test_changes_refuse_structs_with_other_fields(sql, pairs, value):
    with pytest.raises(SchemaMismatchError, match="UPDATE: the value of column 's' does not fit"):
        sql(f"UPDATE {pairs} SET s = {value}")
    using = f"(SELECT 1 AS id, {value} AS s) AS u"
    with pytest.raises(SchemaMismatchError, match="MERGE: the value of column 's' does not fit"):
        sql(f"MERGE INTO {pairs} AS t USING {using} ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = u.s")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_changes_refuse_numbers_within_values_out_of_range_in_every_mode(spark, sql, pairs, ansi):
    big = {
        "s": "named_struct('b', 1, 'a', 3000000000)",
        "l": "array(named_struct('a', 3000000000, 'b', 1))",
        "m": "map('k', named_struct('a', 3000000000, 'b', 1))",
    }
    with settings(spark, {"spark.sql.ansi.enabled": ansi}):
        for column, value in big.items():
            merge = (
                f"MERGE INTO {pairs} AS t USING (SELECT 1 AS id, {value} AS v) AS u ON t.id = u.id WHEN MATCHED THEN"
            )
            problem = f"a value is out of the range of column '{column}'; expected .*, got 3000000000"
            for statement in (
                f"UPDATE {pairs} SET {column} = {value}",
                f"INSERT INTO {pairs} BY NAME SELECT 2 AS id, {value} AS {column}",
                f"{merge} UPDATE SET {column} = u.v",
            ):
                with pytest.raises(SchemaMismatchError, match=problem):
                    sql(statement)
    assert sql(f"SELECT * FROM {pairs}") == [(1, (1, 2), [(1, 2)], {"k": (1, 2)})]


@pytest.mark.parametrize(
    ("clause", "error"),
    [
        *((clause, FeatureUnsupportedError) for clause in ("LIMIT 1", "ORDER BY id LIMIT 1")),
        *(
            (clause, ValidationError)
            for clause in ("GROUP BY id", "UNION SELECT 1", "HAVING id = 1", "; SELECT 1", ") OR (id = 2")
        ),
    ],
)
@pytest.mark.parametrize("change", ["DELETE FROM {}", "UPDATE {} SET id = 5"])
def test_changes_refuse_clauses_after_their_condition(sql, name, change, clause, error):
    """DELETE ... LIMIT 1 of another dialect must not delete all rows."""
    with pytest.raises(error):
        sql(f"{change.format(name)} WHERE id < 3 {clause}")
    assert sql(f"SELECT id FROM {name} ORDER BY id") == [(1,), (2,), (3,)]


def test_update_distinguishes_comparisons_from_types(sql, name):
    sql(f"UPDATE {name} SET name = id < 2, id == id << 1")
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(2, "true"), (4, "false"), (6, "false")]


def test_names_in_double_quotes_are_no_texts(spark, sql, name):
    with settings(spark, {"spark.sql.ansi.enabled": "true", "spark.sql.ansi.doubleQuotedIdentifiers": "true"}):
        assert sql(f'SELECT "id" FROM {name} WHERE name = "name" ORDER BY id') == [(1,), (2,)]
        sql(f'DELETE FROM {name} WHERE name = "name" AND "id" > 1')
        sql(f'INSERT INTO {name} ("name", "id") SELECT "name", "id" + 10 FROM {name} WHERE \'a\' = "name"')
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(1, "a"), (3, None), (11, "a")]


def test_rows_change_where_spark_reads_parquet_by_its_newer_reader(spark, sql, name):
    with settings(spark, {"spark.sql.sources.useV1SourceList": ""}):
        sql(f"UPDATE {name} SET name = 'x' WHERE id + 0 = 1")
        sql(f"DELETE FROM {name} WHERE id + 0 = 2")
    assert sql(f"SELECT * FROM {name} ORDER BY id") == [(1, "x"), (3, None)]
