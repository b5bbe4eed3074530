"""Merges on any condition match the pairs of rows for which a naive loop in Python finds the condition true."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import And, EqualTo, GreaterThan
from icefloe.table.row_level import candidate_pairs, joined_rows
from icefloe.table.row_level.bound_join import BlockKey
from icefloe.table.row_level.clause_expressions import RowFunction
from icefloe.table.row_level.join_condition import JoinCondition

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("n", pa.int32()), ("d", pa.date32()), ("x", pa.float32())])
SOURCE = pa.schema(
    [
        *(("id", pa.int64()), ("k", pa.string()), ("n", pa.int64()), ("at", pa.timestamp("us"))),
        *(("y", pa.float64()), ("big", pa.int64())),
    ]
)


def equal(left, right):
    return None if left is None or right is None else left == right


def less(left, right):
    return None if left is None or right is None else left < right


def both(*parts):
    """Return the `and` of three-valued parts."""
    return False if False in parts else None if None in parts else True


def either(*parts):
    """Return the `or` of three-valued parts."""
    return True if True in parts else None if None in parts else False


CONDITIONS = {
    "target.id = source.id and source.n > target.n": lambda t, s: both(equal(t["id"], s["id"]), less(t["n"], s["n"])),
    "target.id = source.id and source.k <> 'a'": lambda t, s: both(
        equal(t["id"], s["id"]), None if s["k"] is None else s["k"] != "a"
    ),
    "target.id = source.id and target.n > 2": lambda t, s: both(equal(t["id"], s["id"]), less(2, t["n"])),
    "target.k <=> source.k and target.n < source.n": lambda t, s: both(t["k"] == s["k"], less(t["n"], s["n"])),
    "target.id = source.id + 1": lambda t, s: equal(t["id"], None if s["id"] is None else s["id"] + 1),
    "target.n = source.n": lambda t, s: equal(t["n"], s["n"]),
    "target.n <=> source.n + 2147483647 - 2147483647": lambda t, s: t["n"] == s["n"],
    "source.n * 1000000000 = target.n and source.id = target.id": lambda t, s: both(
        equal(None if s["n"] is None else s["n"] * 1_000_000_000, t["n"]), equal(s["id"], t["id"])
    ),
    "target.id = source.id and target.id = source.n": lambda t, s: both(
        equal(t["id"], s["id"]), equal(t["id"], s["n"])
    ),
    "target.id = source.n and target.n = source.n": lambda t, s: both(equal(t["id"], s["n"]), equal(t["n"], s["n"])),
    "target.id < source.id": lambda t, s: less(t["id"], s["id"]),
    "target.id = source.id or target.k = source.k": lambda t, s: either(equal(t["id"], s["id"]), equal(t["k"], s["k"])),
    "not (target.id = source.id)": lambda t, s: None if None in (t["id"], s["id"]) else t["id"] != s["id"],
    "target.n between source.n and source.n + 1": lambda t, s: both(
        None if None in (t["n"], s["n"]) else s["n"] <= t["n"],
        None if None in (t["n"], s["n"]) else t["n"] <= s["n"] + 1,
    ),
    "target.d = source.at": lambda t, s: equal(
        None if t["d"] is None else datetime.combine(t["d"], datetime.min.time()), s["at"]
    ),
    "target.x = source.y": lambda t, s: equal(t["x"], s["y"]),
    "target.k = cast(source.n as string)": lambda t, s: equal(t["k"], None if s["n"] is None else str(s["n"])),
    "upper(target.k) = upper(source.k)": lambda t, s: equal(t["k"], s["k"]),
    "upper(source.k) <=> upper(target.k) and target.n < 3": lambda t, s: both(t["k"] == s["k"], less(t["n"], 3)),
    "coalesce(target.n, 0) = source.n and target.id > source.id": lambda t, s: both(
        equal(0 if t["n"] is None else t["n"], s["n"]), less(s["id"], t["id"])
    ),
    "target.n = source.big": lambda t, s: equal(t["n"], s["big"]),
    "target.n <=> source.big and target.id <> source.id": lambda t, s: both(
        t["n"] == s["big"], None if None in (t["id"], s["id"]) else t["id"] != s["id"]
    ),
    "target.n = source.y": lambda t, s: equal(t["n"], s["y"]),
    "target.n <> 0 and 12 / target.n = source.n": lambda t, s: both(
        None if t["n"] is None else t["n"] != 0,
        None if None in (t["n"], s["n"]) or t["n"] == 0 else 12 / t["n"] == s["n"],
    ),
    "target.n > source.n and target.n = 12 / source.n": lambda t, s: both(
        less(s["n"], t["n"]), None if None in (t["n"], s["n"]) or s["n"] == 0 else t["n"] == 12 / s["n"]
    ),
    "source.n = 3": lambda t, s: equal(s["n"], 3),
    "target.n = 3": lambda t, s: equal(t["n"], 3),
    "target.d >= '2026-01-02 10:00' and target.id = source.id": lambda t, s: both(
        None if t["d"] is None else t["d"] >= date(2026, 1, 2), equal(t["id"], s["id"])
    ),
    "true": lambda t, s: True,
    "false": lambda t, s: False,
    "null and target.id = source.id": lambda t, s: None,
    "source.n <> 0 and target.id % source.n = 0": lambda t, s: both(
        None if s["n"] is None else s["n"] != 0,
        None if None in (t["id"], s["n"]) or s["n"] == 0 else t["id"] % s["n"] == 0,
    ),
}


def rows(seed, count, schema):
    pick = random.Random(seed)
    values = {
        "id": [None, *range(6)],
        "k": [None, "a", "b", "3"],
        "n": [None, *range(5)],
        "d": [None, date(2026, 1, 1), date(2026, 1, 2)],
        "at": [None, datetime(2026, 1, 1), datetime(2026, 1, 2, 12), datetime(2026, 1, 2)],
        "x": [None, 0.5, 0.1],
        "y": [None, 0.5, 0.1, 3.0],
        "big": [None, 1, 3, 1 << 40],
    }
    found = [{name: pick.choice(values[name]) for name in schema.names} for _ in range(count)]
    return pa.Table.from_pylist(found, schema)


@pytest.fixture
def table(catalog):
    made = catalog.create_table("db.c", SCHEMA)
    made.append(rows(1, 14, SCHEMA))
    made.append(rows(2, 9, SCHEMA))
    return made


@pytest.mark.parametrize("small_blocks", [False, True])
@pytest.mark.parametrize("on", CONDITIONS)
def test_merge_matches_the_pairs_of_a_naive_loop(table, on, small_blocks, monkeypatch):
    if small_blocks:
        monkeypatch.setattr(candidate_pairs, "PAIRS_AT_ONCE", 5)
        monkeypatch.setattr(joined_rows, "CHUNK_ROWS", 4)
    source = rows(3, 8, SOURCE)
    before, given = table.scan().to_arrow().to_pylist(), source.to_pylist()
    matches = CONDITIONS[on]
    pairs = [(t, s) for t in range(len(before)) for s in range(len(given)) if matches(before[t], given[s]) is True]
    paired, used = {t for t, _ in pairs}, {s for _, s in pairs}
    kept = [row for t, row in enumerate(before) if t in paired]
    inserted = [given[s] for s in range(len(given)) if s not in used]
    merge = table.merge(source.to_reader(max_chunksize=3), on).when_not_matched_by_source_delete()
    result = merge.when_not_matched_insert({"id": "source.id", "k": "source.k"}).execute()
    assert (result.rows_deleted, result.rows_inserted) == (len(before) - len(kept), len(inserted))
    expected = [tuple(row.values()) for row in kept] + [(row["id"], row["k"], None, None, None) for row in inserted]
    assert Counter(tuple(row.values()) for row in table.scan().to_arrow().to_pylist()) == Counter(expected)


@pytest.mark.parametrize("on", CONDITIONS)
def test_merge_refuses_target_rows_of_several_pairs_under_any_condition(table, on):
    source = rows(4, 6, SOURCE)
    before, given = table.scan().to_arrow().to_pylist(), source.to_pylist()
    counts = [sum(CONDITIONS[on](t, s) is True for s in given) for t in before]
    merge = table.merge(source, on).when_matched_update({"k": "'changed'"})
    if max(counts) > 1:
        location = table.metadata_location
        with pytest.raises(ValidationError, match=rf"several source rows.* {sum(one > 1 for one in counts)} of them"):
            merge.execute()
        assert table.refresh().metadata_location == location
        return
    assert merge.execute().rows_updated == sum(counts)
    assert table.scan().to_arrow().column("k").to_pylist().count("changed") == sum(counts)


@pytest.mark.parametrize(
    "on",
    [
        ["id", GreaterThan("target.n", 1)],
        ["id", pc.field("target.n") > 1],
        [And(EqualTo("target.k", "a"), EqualTo("source.k", "a")), "id"],
        pc.field("target.id") == pc.field("source.id"),
        And(EqualTo("target.id", 3), EqualTo("source.id", 3)),
    ],
    ids=str,
)
def test_merge_joins_on_names_and_expressions(table, on):
    source = rows(5, 8, SOURCE)
    before, given = table.scan().to_arrow().to_pylist(), source.to_pylist()
    further = {
        "target.n": lambda t, s: both(equal(t["id"], s["id"]), less(1, t["n"])),
        "target.k": lambda t, s: both(equal(t["id"], s["id"]), equal(t["k"], "a"), equal(s["k"], "a")),
        "target.id": lambda t, s: both(
            equal(t["id"], s["id"]), True if "source.id" in str(on) and "3" not in str(on) else equal(t["id"], 3)
        ),
    }
    matches = next(value for key, value in further.items() if key in str(on))
    unpaired = [t for t in before if not any(matches(t, s) for s in given)]
    assert table.merge(source, on).when_not_matched_by_source_delete().execute().rows_deleted == len(unpaired) > 0


def test_merge_on_a_condition_of_the_table_reads_only_its_files(table):
    merge = table.merge(pa.table({"id": [1, 2]}), "target.id = source.id and target.d = '2026-01-02'")
    merge.when_matched_delete().execute()
    assert {row["d"] for row in table.scan("id in (1, 2)").to_arrow().to_pylist()}.isdisjoint({date(2026, 1, 2)})


@pytest.mark.parametrize("text", ["a\\b", "a\nb", "a\tb", "it's", "\\"])
def test_merge_finds_strings_of_the_table_with_any_character(catalog, text):
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    schema = pa.schema([("id", pa.int64()), ("note", pa.string())])
    table = catalog.create_table("db.notes", schema)
    table.append(pa.table({"id": [1, 2], "note": [text, "b"]}, schema=schema))
    source = pa.table({"id": [1, 2], "note": ["new", "new"]}, schema=schema)
    merge = table.merge(source, on=f"target.id = source.id and target.note = '{quoted}'")
    result = merge.when_matched_update({"note": "source.note"}).when_not_matched_insert_all().execute()
    assert (result.rows_updated, result.rows_inserted) == (1, 1)
    found = Counter(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())
    assert found == {(1, "new"): 1, (2, "b"): 1, (2, "new"): 1}


@pytest.mark.parametrize(
    "on",
    [
        "target.d = source.at",
        "target.x = source.y and target.n > source.n",
        "target.n = source.y",
        "upper(target.k) <=> source.k",
        "target.id + 0 = source.n * 2",
    ],
)
def test_merge_compares_rows_with_equal_values_alone(table, on, monkeypatch):
    monkeypatch.setattr(candidate_pairs, "EveryPair", None)
    source = rows(3, 8, SOURCE)
    assert table.merge(source, on).when_not_matched_by_source_delete().execute().rows_deleted > 0


@pytest.mark.parametrize(
    ("target", "source", "matched"),
    [
        (pa.array([Decimal("2.00"), Decimal("1.50")], pa.decimal128(9, 2)), pa.array([1e10, 2.004, 1.5]), [1]),
        (
            pa.array([Decimal("2.00"), Decimal("1.50")], pa.decimal128(9, 2)),
            pa.array([Decimal("2.0049"), Decimal("1.5")], pa.decimal128(12, 4)),
            [1],
        ),
        (pa.array([Decimal("2.00"), Decimal("1.50")], pa.decimal128(9, 2)), pa.array([2, 10**12]), [0]),
        (pa.array([0.1, 0.5], pa.float32()), pa.array([Decimal("0.1"), Decimal("0.5")], pa.decimal128(2, 1)), [1]),
        (pa.array([5, 7], pa.int32()), pa.array(["99999999999", "5"]), [0]),
    ],
    ids=["double", "decimal of another scale", "bigint", "float", "text"],
)
def test_merge_compares_keys_of_different_types_in_their_common_type(catalog, target, source, matched):
    rows = pa.table({"id": [0, 1], "key": target})
    made = catalog.create_table("db.types", rows.schema)
    made.append(rows)
    given = pa.table({"key": source})
    made.merge(given, "target.key = source.key").when_not_matched_by_source_delete().execute()
    assert made.scan().to_arrow().column("id").to_pylist() == matched


def test_merge_evaluates_a_constant_that_does_not_fit_only_for_rows_that_need_it(table):
    source = pa.table({"id": [99, 98], "n": [1, 0]})
    merge = table.merge(source, "target.id = source.id")
    values = {"id": "source.id", "n": "cast(30000000000 as int)"}
    merge.when_not_matched_insert(values, condition="source.n = 2").when_not_matched_insert({"id": "source.id"})
    assert merge.execute().rows_inserted == 2
    merge = table.merge(source, "target.id = source.id and source.n = 2").when_not_matched_insert(values)
    with pytest.raises(ValidationError, match=r"value of column 'n' 'cast\(30000000000 as int\)'.*not in range"):
        merge.execute()


def test_merge_evaluates_a_condition_that_may_fail_for_pairs_of_equal_keys_alone(table):
    source = pa.table({"id": [1, 99], "n": [1, 0]})
    on = "10 / source.n > 1 and target.id = source.id"
    assert table.merge(source, on).when_not_matched_insert({"id": "source.id"}).execute().rows_inserted == 1
    source = pa.table({"id": [1, 2], "n": [0, 0]})
    location = table.metadata_location
    with pytest.raises(ValidationError, match=r"merge, on '10 / source.n.*division by zero"):
        table.merge(source, on).when_matched_delete().execute()
    assert table.refresh().metadata_location == location


@pytest.mark.parametrize(
    ("on", "error", "message"),
    [
        ([], ValidationError, "no key columns"),
        ({}, ValidationError, "no key columns"),
        (1, ValidationError, "no key columns; expected on=.*got 1"),
        ([1], ValidationError, "expected names of columns and expressions, got 1"),
        ({"id": 1}, ValidationError, "expected names of columns and expressions, got 1"),
        ("", ValidationError, "no key columns; expected on=.*got ''"),
        (" ", ValidationError, "no key columns; expected on=.*got ' '"),
        (["id", "k", "id"], ValidationError, "merge, on: expected each key column once, got 'id' several times"),
        ("target.id = ", ValidationError, "not an SQL expression"),
        ("target.id", ValidationError, "`on`: expected a boolean, got bigint"),
        ("id = source.id", ResolveError, r"merge, on 'id = source.id': .*write source.id or target.id"),
        ("target.nothing = source.id", ResolveError, "the table has no key column 'nothing'; expected one of id, k"),
        ("target.nothing < source.id", ResolveError, "there is no column 'target.nothing'"),
        ("target.id = source.id and rlike(source.k, 'a')", ValidationError, r"rlike\(\)"),
        (pc.field("target.id"), ValidationError, "merge, on: expected a boolean, got bigint"),
        ({"id": "ID"}, ResolveError, "the source has no key column 'ID'; expected one of id, k"),
    ],
    ids=str,
)
def test_merge_refuses_conditions_that_it_cannot_evaluate(table, on, error, message):
    location = table.metadata_location
    with pytest.raises(error, match=message):
        table.merge(rows(3, 8, SOURCE), on).when_matched_delete().execute()
    assert table.refresh().metadata_location == location


def test_join_condition_has_one_key_for_each_column_of_the_table():
    keys, terms = JoinCondition.of("target.a = source.x and (TARGET.a = source.y and target.b <=> source.x)").terms()
    assert [(key.target, key.source, key.null_safe) for key in keys] == [("a", "x", False), ("b", "x", True)]
    assert [term.sql() for term in terms] == ["TARGET.a = source.y"]


def test_join_condition_of_ten_thousand_terms_is_accepted(table):
    on = " and ".join(["target.id = source.id", *(f"source.n <> {one}" for one in range(100, 2100))])
    assert (
        table.merge(pa.table({"id": [1], "n": [1]}), on).when_not_matched_insert({"id": "1"}).execute().rows_inserted
        == 0
    )


def test_rows_of_rare_values_are_joined_together(monkeypatch):
    monkeypatch.setattr(candidate_pairs, "PAIRS_AT_ONCE", 100)
    value = RowFunction(lambda rows: rows.column("v"), frozenset(["v"]))
    source = pa.table({"v": [*["hot"] * 100, *"abcde"]})
    target = pa.table({"v": ["hot", *"abcdx" * 39]})
    found = candidate_pairs.EqualValues(source, BlockKey(value, value, null_safe=False))
    blocks = []
    for start in range(0, target.num_rows, found.part_rows):
        for left, right in found.pairs(target.slice(start, found.part_rows)):
            blocks.append([(start + t, s) for t, s in zip(left.to_pylist(), right.to_pylist(), strict=True)])
    of_target, of_source = (side.column("v").to_pylist() for side in (target, source))
    expected = [(t, s) for t, one in enumerate(of_target) for s, other in enumerate(of_source) if one == other]
    assert sorted(itertools.chain(*blocks)) == expected
    assert [len(block) for block in blocks] == [100, 80, 76]
