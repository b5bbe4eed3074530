"""The arrangement of rewritten rows: sort orders and space-filling curves."""

import json
import pickle
from random import Random

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.table.maintenance.groups.options import FileSizes
from icefloe.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from icefloe.transforms import IdentityTransform, TruncateTransform

from tests.unit.table.conftest import BY_KIND
from tests.unit.table.maintenance.rewrite.conftest import files


@pytest.mark.parametrize(
    ("choose", "error", "message"),
    [
        (lambda builder: builder.sort(), ValidationError, "the table has no sort order"),
        (lambda builder: builder.sort(SortOrder()), ValidationError, "expected at least one key, got none"),
        (lambda builder: builder.sort("no_such"), ResolveError, "no_such"),
        (lambda builder: builder.sort("  "), ValidationError, "expected keys such as"),
        (lambda builder: builder.sort("zorder(id), kind"), ValidationError, "expected one zorder.* and no other key"),
        (lambda builder: builder.zorder(), ValidationError, "expected 1 to 16 different columns, got none"),
        (lambda builder: builder.zorder("id", "id"), ValidationError, "expected 1 to 16 different columns"),
        (lambda builder: builder.hilbert("kind"), ValidationError, "every partition has one value of it"),
    ],
)
def test_bad_arrangement_is_refused(small_files, choose, error, message):
    table = small_files(BY_KIND)
    with pytest.raises(error, match=message):
        choose(table.maintenance.rewrite_data_files())


ODD_NAMES = ("a b", "x,y", "ASC", "p`q", "f(x)", "n.r")


@pytest.fixture
def odd_names(catalog):
    """A table of columns whose names have spaces, commas, keywords and quotes, and a struct `n` with a field `r`."""
    plain = [(name, pa.string()) for name in ODD_NAMES[:-1]]
    return catalog.create_table("db.odd_names", pa.schema([*plain, ("n", pa.struct([("r", pa.int32())]))]))


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("`a b` DESC NULLS FIRST", "a b"),
        ('"a b" desc nulls first', "a b"),
        ("`x,y` desc nulls first", "x,y"),
        ("`ASC` desc nulls first", "ASC"),
        ("`p``q` desc nulls first", "p`q"),
        ("`f(x)` desc nulls first", "f(x)"),
        ("`n`.`r` desc nulls first", "n.r"),
        ("n.r desc nulls first", "n.r"),
    ],
)
def test_sort_key_takes_names_in_quotes(odd_names, text, column):
    order = odd_names.maintenance.rewrite_data_files().sort(text).plan().clustering.order
    field_id = odd_names.schema().find_field(column).field_id
    assert order.fields == (SortField(field_id, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_FIRST),)


@pytest.mark.parametrize("text", ["truncate(4, `x,y`)", "truncate(`x,y`, 4)", 'TRUNCATE( "x,y" , 4 )'])
def test_sort_key_takes_the_parameter_of_a_transform_before_or_behind_the_column(odd_names, text):
    (field,) = odd_names.maintenance.rewrite_data_files().sort(text).plan().clustering.order.fields
    assert (field.source_id, field.transform) == (odd_names.schema().find_field("x,y").field_id, TruncateTransform(4))


def test_curve_takes_names_in_quotes(odd_names):
    text = "hilbert(`a b`, `x,y`, `f(x)`, n.r)"
    clustering = odd_names.maintenance.rewrite_data_files().sort(text).plan().clustering
    assert (clustering.strategy, clustering.columns) == ("hilbert", ("a b", "x,y", "f(x)", "n.r"))


@pytest.fixture
def shuffled(catalog):
    """A table of two files with 20,000 rows each, pairs (a, b) in random order, and a target size of 16 files."""
    rng = Random(7)
    table = catalog.create_table("db.shuffled", pa.schema([("a", pa.int64()), ("b", pa.int64()), ("s", pa.string())]))
    for _ in range(2):
        a, b = ([rng.randrange(10**6) for _ in range(20_000)] for _ in range(2))
        table.append(pa.table({"a": a, "b": b, "s": [f"text {number % 7}" for number in a]}))
    return table


SPLIT = {"target_file_size_bytes": 20_000, "max_file_size_bytes": 60_000, "rewrite_all": True}
SIZES = FileSizes(20_000, 15_000, 60_000)


def multiset(table):
    return table.scan().to_arrow().sort_by([("a", "ascending"), ("b", "ascending")])


@pytest.mark.parametrize("memory", [2**26, 2**19])
def test_rows_are_sorted_across_files(shuffled, memory):
    before = multiset(shuffled)
    builder = shuffled.maintenance.rewrite_data_files().sort("s DESC, a")
    builder.options(**SPLIT, memory_limit_bytes=memory).execute()
    rows = shuffled.scan().to_arrow()
    assert rows.equals(rows.sort_by([("s", "descending"), ("a", "ascending")]))
    assert multiset(shuffled) == before
    assert files(shuffled) > 4


def test_order_of_the_table_is_recorded_and_a_reason(shuffled):
    with shuffled.update_sort_order() as update:
        update.asc("a", IdentityTransform())
    plan = shuffled.maintenance.rewrite_data_files().sort().plan()
    assert plan.rows().column("reason").to_pylist() == ["small files, other sort order"]
    shuffled.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert set(shuffled.inspect.files().column("sort_order_id").to_pylist()) == {1}
    assert shuffled.maintenance.rewrite_data_files().sort("a").plan().is_empty
    assert shuffled.maintenance.rewrite_data_files().sort("b").plan().is_empty


@pytest.mark.parametrize("curve", ["zorder", "hilbert"])
def test_curve_lets_filters_on_each_column_skip_files(shuffled, curve):
    before = multiset(shuffled)
    builder = shuffled.maintenance.rewrite_data_files().sort(f"{curve}(a, b)")
    assert str(builder.plan().clustering) == f"{curve}(a, b)"
    builder.options(**SPLIT).execute()
    assert multiset(shuffled) == before
    total = files(shuffled)
    for column in ("a", "b"):
        scan = shuffled.scan(f"{column} > 500000 and {column} < 502000")
        planned = scan.explain().counters["files_planned"]
        assert planned <= total * 3 // 4, (planned, total)


@pytest.mark.parametrize("curve", ["zorder", "hilbert"])
def test_curve_leaves_out_columns_of_one_value_in_each_partition(small_files, content, curve):
    table = small_files(BY_KIND)
    before = content(table)
    builder = table.maintenance.rewrite_data_files().sort(f"{curve}(kind, id)")
    plan = builder.plan()
    assert plan.clustering.columns == ("id",)
    assert plan.warnings == ("rewrite_data_files: column kind was left out: every partition has one value of it",)
    table.maintenance.execute(pickle.loads(pickle.dumps(plan)))
    assert content(table) == before
    with table.update_spec() as update:
        update.remove_field("kind")
    assert builder.plan().clustering.columns == ("kind", "id")
    with pytest.raises(ValidationError, match="every partition has one value of it"):
        table.maintenance.rewrite_data_files().zorder("kind").options(output_spec_id=0).plan()


def test_options_without_effect_are_explained(small_files):
    table = small_files()
    builder = table.maintenance.rewrite_data_files()
    options = {"shuffle_partitions_per_file": 2, "max_output_size": 8, "var_length_contribution": 4}
    warnings = builder.zorder("id").options(**options).plan().warnings
    assert [text.split(": ")[1] for text in warnings] == [f"{name} has no effect" for name in options]
    assert "one task sorts the rows of a file" in warnings[0]
    refused = {
        "compression_factor: expected strategy sort, zorder or hilbert, got binpack": (
            builder.binpack(),
            "compression_factor",
        ),
        "max_output_size: expected strategy zorder or hilbert, got sort": (
            table.maintenance.rewrite_data_files().sort("id"),
            "max_output_size",
        ),
    }
    for message, (choice, name) in refused.items():
        with pytest.raises(ValidationError, match=message):
            choice.options(**{name: 2}).plan()


def test_compression_factor_scales_the_expected_files(shuffled):
    builder = shuffled.maintenance.rewrite_data_files().sort("a")
    counts = [
        builder.options(**SPLIT, compression_factor=factor).plan().groups.column("new_files")[0].as_py()
        for factor in (0.25, 1, 2.0)
    ]
    total = builder.plan().total_bytes
    assert counts == [SIZES.outputs(int(total * factor)) for factor in (0.25, 1, 2.0)]
    assert counts[0] < counts[1] < counts[2]
    builder.options(**SPLIT, compression_factor=0.25).execute()
    rows = shuffled.scan().to_arrow()
    assert rows.column("a").to_pylist() == sorted(rows.column("a").to_pylist())


def test_curve_within_partitions_keeps_rows(small_files, content):
    table = small_files(BY_KIND)
    before = content(table)
    table.maintenance.rewrite_data_files().zorder("id", "value").execute()
    assert content(table) == before
    assert files(table) == 3


@pytest.mark.parametrize("runs", [96, 97, 191])
def test_rows_of_many_runs_are_merged_in_order(runs):
    rows = [(None if n % 7 == 0 else n * 31 % 20, n) for n in range(runs * 3)]
    table = pa.table({"a": pa.array([a for a, _ in rows], pa.int64()), "n": pa.array([n for _, n in rows], pa.int64())})
    fields = [
        {"id": 1, "name": "a", "required": False, "type": "long"},
        {"id": 2, "name": "n", "required": False, "type": "long"},
    ]
    order = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}
    found = _core.sort_rows(
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3)),
        schema=json.dumps({"type": "struct", "schema-id": 0, "fields": fields}),
        spec='{"spec-id": 0, "fields": []}',
        sort_order=json.dumps({"order-id": 1, "fields": [order]}),
        memory_bytes=1,
    )
    read = pa.RecordBatchReader.from_stream(found).read_all()
    assert read.column("n").to_pylist() == [
        n for _, n in sorted(rows, key=lambda row: -1 if row[0] is None else row[0])
    ]
