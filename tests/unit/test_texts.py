"""Texts that are not UTF-8, which other libraries hold without a look: a file with such a text could not be read again."""

import pyarrow as pa
import pytest
from icefloe import _core
from icefloe.catalog import load_catalog
from icefloe.exceptions import SchemaMismatchError, ValidationError

COLUMNS = pa.schema(
    [
        ("key", pa.int64()),
        ("text", pa.string()),
        ("list", pa.list_(pa.string())),
        ("struct", pa.struct([("x", pa.string())])),
        ("map", pa.map_(pa.string(), pa.string())),
    ]
)


def texts(*values, kind=None):
    """Return an array of texts with the bytes of values; of None, a null with bytes below it that are no text."""
    kind = pa.string() if kind is None else kind
    held = pa.array([b"\xff" if value is None else value for value in values], kind_of_bytes(kind))
    if pa.types.is_string_view(kind):
        return held.view(kind)
    valid = pa.array([value is not None for value in values]).buffers()[1]
    return pa.Array.from_buffers(kind, len(values), [valid, *held.buffers()[1:]])


def kind_of_bytes(kind):
    if pa.types.is_string_view(kind):
        return pa.binary_view()
    return pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()


WRONG = {
    "text": lambda: {"text": texts(b"a", b"\xff")},
    "large text": lambda: {"text": texts(b"a", b"\xff", kind=pa.large_string())},
    "view": lambda: {"text": texts(b"a", b"a long text and then \xff", kind=pa.string_view())},
    "divided character": lambda: {"text": texts("é".encode()[:1], "é".encode()[1:])},
    "dictionary": lambda: {"text": pa.DictionaryArray.from_arrays(pa.array([0, 1]), texts(b"a", b"\xff"))},
    "list": lambda: {"list": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), texts(b"a", b"\xff"))},
    "large list": lambda: {"list": pa.LargeListArray.from_arrays(pa.array([0, 1, 2]), texts(b"a", b"\xff"))},
    "fixed list": lambda: {"list": pa.FixedSizeListArray.from_arrays(texts(b"a", b"\xff"), 1)},
    "struct": lambda: {"struct": pa.StructArray.from_arrays([texts(b"a", b"\xff")], ["x"])},
    "map key": lambda: {"map": pa.MapArray.from_arrays([0, 1, 2], texts(b"a", b"\xff"), texts(b"a", b"b"))},
    "map value": lambda: {"map": pa.MapArray.from_arrays([0, 1, 2], texts(b"a", b"b"), texts(b"a", b"\xff"))},
}


@pytest.fixture(params=["parquet", "avro", pytest.param("orc", marks=pytest.mark.recent_pyarrow)])
def table(request, tmp_path):
    catalog = load_catalog("lake", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    return catalog.create_table("db.t", COLUMNS, properties={"write.format.default": request.param})


@pytest.mark.parametrize("case", WRONG)
def test_they_are_refused_and_nothing_changes(table, case, tmp_path):
    columns = WRONG[case]()
    with pytest.raises(SchemaMismatchError, match=f"column {next(iter(columns))}: .* expected text in UTF-8"):
        table.append(pa.table(columns))
    table.refresh()
    assert table.current_snapshot() is None
    assert not list(tmp_path.glob("db/t/data/**/*.*"))


def test_bytes_below_nulls_and_between_slices_are_no_texts(table):
    array = texts(b"\xff", "é".encode(), None, b"\xff").slice(1, 2)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), texts(b"\xff", b"a", b"\xff")).slice(1, 1)
    table.append(pa.table({"text": array}))
    table.append(pa.table({"list": lists}))
    rows = table.scan(selected_fields=("text", "list")).to_arrow().to_pylist()
    assert sorted(rows, key=str) == sorted(
        [{"text": "é", "list": None}, {"text": None, "list": None}, {"text": None, "list": ["a"]}], key=str
    )


@pytest.mark.parametrize("change", ["upsert", "merge", "delete"])
def test_they_are_refused_as_keys(table, change):
    table.append(pa.table({"key": [1], "text": ["a"]}))
    others = {name: pa.nulls(1, COLUMNS.field(name).type) for name in ("list", "struct", "map")}
    source = pa.table({"key": [1], "text": texts(b"\xff"), **others})
    changes = {
        "upsert": lambda: table.upsert(source, join_cols=["text"]),
        "merge": lambda: table.merge(source, on=["text"]).when_not_matched_insert_all().execute(),
        "delete": lambda: table.merge(source, on=["text"]).when_matched_delete().execute(),
    }
    with pytest.raises(SchemaMismatchError, match=r"column text: .* expected text in UTF-8"):
        changes[change]()
    assert table.refresh().scan(selected_fields=("key", "text")).to_arrow().to_pylist() == [{"key": 1, "text": "a"}]


def test_transforms_refuse_them():
    with pytest.raises(ValidationError, match=r"data: .*invalid utf-8"):
        _core.bucket(texts(b"\xff"), 16)
