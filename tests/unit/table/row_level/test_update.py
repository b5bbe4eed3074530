"""Updates, and deletes by SQL text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.expressions import GreaterThan, literal


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(catalog, request):
    schema = pa.schema([("id", pa.int64()), ("n", pa.int32()), ("x", pa.float64()), ("s", pa.string())])
    modes = {f"write.{operation}.mode": request.param for operation in ("update", "delete")}
    table = catalog.create_table("db.up", schema, properties=modes)
    for start in (0, 5):
        ids = range(start, start + 5)
        rows = {"id": ids, "n": ids, "x": [float("nan") if one == 9 else one / 2 for one in ids], "s": ["a"] * 5}
        table.append(pa.table(rows, schema=schema))
    return table


def column(table, name):
    return dict(zip(*(table.scan().to_arrow()[one].to_pylist() for one in ("id", name)), strict=True))


@pytest.mark.parametrize(
    "where",
    [
        "id > 7",
        GreaterThan("id", 7),
        "n + 1 > 8",
        "target.id > 7 and coalesce(target.n, 0) < 100",
        "id >= 5 and abs(n - 10) < 3 and x is not null",
    ],
    ids=str,
)
def test_update_sets_columns_of_the_rows_of_a_condition(table, where):
    result = table.update(where, {"n": "n + 10", "s": "concat(target.s, cast(id as string))"})
    assert (result.rows_updated, result.rows_deleted, result.rows_inserted) == (2, 0, 0)
    assert column(table, "n") == {one: one + 10 if one > 7 else one for one in range(10)}
    assert {one: text for one, text in column(table, "s").items() if text != "a"} == {8: "a8", 9: "a9"}
    assert len(table.snapshots()) == 3


@pytest.mark.parametrize(
    ("where", "rows"),
    [("true = true", 10), ("true = false", 0), ("false < true", 10), ("null = true", 0), ("not null = true", 0)],
)
def test_update_takes_a_condition_without_columns(table, where, rows):
    assert table.update(where, {"n": "n + 10"}).rows_updated == rows


TEXTS = ["a\\b", "a\\\\b", "a\nb", "a\tb", "\r", "\\", "it's", "''", '"', "a\\'b", "%", "ab"]


@pytest.mark.parametrize("text", TEXTS)
def test_sql_condition_finds_a_string_with_any_character(catalog, text):
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\t", "\\t")
    schema = pa.schema([("id", pa.int64()), ("s", pa.string()), ("raw", pa.binary())])
    table = catalog.create_table("db.texts", schema)
    raw = [one.encode() for one in TEXTS]
    table.append(pa.table({"id": range(len(TEXTS)), "s": TEXTS, "raw": raw}, schema=schema))
    number = TEXTS.index(text)
    assert table.update(f"id + 0 = {number} and s = '{quoted}'", {"s": "concat(s, '!')"}).rows_updated == 1
    assert column(table, "s")[number] == text + "!"
    table.update(f"id + 0 >= 0 and raw = X'{text.encode().hex()}'", {"s": "'found'"})
    assert [one for one, found in column(table, "s").items() if found == "found"] == [number]
    table.delete(f"id + 0 = {number} and s in ('{quoted}', 'found')")
    assert sorted(column(table, "s")) == [one for one in range(len(TEXTS)) if one != number]


def test_update_values_read_the_row_as_it_was(table):
    table.update("id = 4", {"n": "id + 1", "x": "n", "s": literal("it's")})
    assert table.scan("id = 4").to_arrow().to_pylist() == [{"id": 4, "n": 5, "x": 4.0, "s": "it's"}]


def test_update_accepts_pyarrow_expressions_and_nulls(table):
    table.update("id in (1, 2)", {"n": pc.field("target.n") * 3, "s": None})
    assert {one: column(table, "n")[one] for one in (1, 2)} == {1: 3, 2: 6}
    assert column(table, "s")[1] is None


def test_update_of_no_row_makes_no_snapshot(table):
    assert table.update("id > 100", {"n": 1}).rows_updated == 0
    assert table.update("n + 1 > 100", {"n": 1}).rows_updated == 0
    assert len(table.snapshots()) == 2


def test_update_in_a_transaction_sees_its_earlier_changes(table):
    with table.transaction() as transaction:
        transaction.update("id = 0", {"n": 70})
        transaction.update("n = 70", {"s": "'seen'"})
        transaction.delete("n * 2 = 2")
    assert column(table, "s")[0] == "seen"
    assert 1 not in column(table, "n")


def test_delete_by_sql_removes_rows_whose_condition_is_true(table):
    table.update("id = 3", {"n": None})
    table.delete("n % 2 = 1 and id < 9")
    assert sorted(column(table, "n")) == [0, 2, 3, 4, 6, 8, 9]
    table.delete("n / 0 > 1 and id > 100")
    assert len(column(table, "n")) == 7


def test_nan_is_above_all_numbers_in_sql_and_has_no_order_in_filters(table):
    assert table.update("x > 100", {"s": "'filter'"}).rows_updated == 0
    assert table.update("x > 100 and n + 0 = 9", {"s": "'sql'"}).rows_updated == 1


@pytest.mark.parametrize(
    ("where", "values", "error", "message"),
    [
        ("id = 1", {}, ValidationError, "no column to set"),
        ("id = 1", {"q": 1}, SchemaMismatchError, "no column 'q' to set"),
        ("id + 1", {"n": 1}, ValidationError, "expected a boolean, got bigint"),
        ("nothing = 3", {"n": 1}, ResolveError, "nothing"),
        ("ID = 3", {"n": 1}, ResolveError, "ID"),
        ("nothing + 1 = 3", {"n": 1}, ResolveError, "there is no column 'nothing'"),
        ("source.id + 1 = 3", {"n": 1}, ResolveError, "there is no column 'source.id'"),
        ("id % 0 = 1", {"n": 1}, ValidationError, "condition 'id % 0 = 1': .*division by zero"),
        ("id = ", {"n": 1}, ValidationError, "id = "),
        ("", {"n": 1}, ValidationError, "expected an expression|empty|filter"),
        ("id = 1", {"n": "1 / 0"}, ValidationError, "value of column 'n' '1 / 0': .*division by zero"),
        ("id = 9", {"n": "n + 2147483647"}, ValidationError, "overflow"),
        ("id = 1", {"n": "'x'"}, SchemaMismatchError, "the text 'x' is no int"),
        ("id = 1", {"n": "'x' + true"}, ValidationError, "value of column 'n'"),
        ("id = 1", {"n": b"x"}, SchemaMismatchError, "expected a value of type int"),
        ("id = 1", {"n": "de"}, ResolveError, "quote it"),
    ],
)
def test_update_refuses_what_it_cannot_do(table, where, values, error, message):
    before = table.metadata_location
    with pytest.raises(error, match=message):
        table.update(where, values)
    assert table.refresh().metadata_location == before


def test_clause_after_an_unconditional_one_is_refused(table):
    merge = (
        table.merge(pa.table({"id": [1]}), ["id"])
        .when_matched_update_all()
        .when_not_matched_insert_all("source.id > 3")
    )
    with pytest.raises(ValidationError, match=r"clause 3 \(when_matched_delete\): the clause can never apply"):
        merge.when_matched_delete("target.n > 3")
    assert merge.when_not_matched_insert_all() is merge


def test_update_of_a_field_tries_every_column_that_a_path_begins_with(catalog):
    inner = pa.struct([("c", pa.int64()), ("x.y", pa.struct([("z", pa.int64())])), ("x", pa.int64())])
    schema = pa.schema([("id", pa.int64()), ("a", pa.struct([("other", pa.int64())])), ("a.b", inner)])
    table = catalog.create_table("db.dots", schema)
    row = {"id": 1, "a": {"other": 1}, "a.b": {"c": 1, "x.y": {"z": 1}, "x": 1}}
    table.append(pa.Table.from_pylist([row], schema=schema))
    table.update("id = 1", {"a.b.c": 2, "a.b.x.y.z": 3, "a.other": 4})
    changed = {"id": 1, "a": {"other": 4}, "a.b": {"c": 2, "x.y": {"z": 3}, "x": 1}}
    assert table.scan().to_arrow().to_pylist() == [changed]
    with pytest.raises(SchemaMismatchError, match=r"a has no field 'b\.nothing'"):
        table.update("id = 1", {"a.b.nothing": 2})


def test_update_and_merge_of_a_column_with_the_name_of_a_metadata_column_are_refused(catalog):
    schema = pa.schema([("id", pa.int64()), ("_pos", pa.int64())])
    table = catalog.create_table("db.named", schema)
    table.append(pa.table({"id": [1, 2], "_pos": [70, 71]}, schema=schema))
    with pytest.raises(ValidationError, match="_pos is a column of this table and the name of a metadata column"):
        table.update("_pos + 0 = 70", {"id": 5})
    merge = table.merge(pa.table({"id": [1], "_pos": [70]}), on=["_pos"]).when_matched_update_all()
    with pytest.raises(ValidationError, match="_pos is a column of this table and the name of a metadata column"):
        merge.execute()


def test_update_and_delete_accept_pyarrow_expressions_over_the_target(table):
    condition = pc.less(pc.field("target.id"), 2)
    values = {"n": pc.add(pc.field("target.n"), 70), "s": pc.ascii_reverse(pc.scalar("ab"))}
    assert table.update(condition, values).rows_updated == 2
    assert column(table, "n") == {one: one + 70 if one < 2 else one for one in range(10)}
    assert {one: text for one, text in column(table, "s").items() if text != "a"} == {0: "ba", 1: "ba"}
    table.delete(condition)
    assert sorted(column(table, "n")) == list(range(2, 10))


@pytest.mark.parametrize("name", ["id", "source.id"])
def test_update_and_delete_refuse_pyarrow_expressions_over_other_columns(table, name):
    condition = pc.equal(pc.field(name), 1)
    with pytest.raises(ResolveError, match=r"update, condition: .*no such column here; expected one of .*target\.id"):
        table.update(condition, {"n": "1"})
    with pytest.raises(ResolveError, match=r"delete, condition: .*no such column here; expected one of .*target\.id"):
        table.delete(condition)


@pytest.mark.parametrize(
    ("where", "part"),
    [
        ("reverse(s) = 'x'", r"reverse\(\)"),
        ("upper(reverse(s)) = 'x'", r"reverse\(\)"),
        ("s rlike 'x' and id = 1", "s RLIKE 'x'"),
    ],
)
def test_update_and_delete_name_the_part_that_is_neither_filter_nor_sql(table, where, part):
    way_out = r"not part of the SQL of conditions and values; write the whole text as a pyarrow expression, .*'target\."
    for verb, change in (("delete", table.delete), ("update", lambda text: table.update(text, {"n": "1"}))):
        with pytest.raises(ValidationError, match=rf"{verb}, condition .*: {part}: {way_out}"):
            change(where)


@pytest.mark.parametrize("where", ["id = ", "bucket(16, id) = 'x'", ""])
def test_delete_shows_the_problem_of_a_filter_in_words_of_filters(table, where):
    with pytest.raises(ValidationError, match=r"filter|bucket"):
        table.delete(where)
