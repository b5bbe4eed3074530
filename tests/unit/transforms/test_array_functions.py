"""Transforms of Arrow arrays: equal to the transforms of their values, in every layout."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa
import pyiceberg.transforms as theirs
import pyiceberg.types as their_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe import transforms
from icefloe.exceptions import ValidationError
from icefloe.transforms import BucketTransform, TruncateTransform, parse_transform
from icefloe.types import type_from_text

from tests.unit.transforms.arrays import SOURCES, columns, layouts

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "year": transforms.years,
    "month": transforms.months,
    "day": transforms.days,
    "hour": transforms.hours,
}


def numbers(result: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return results as the scalar form gives them, days as numbers."""
    return result.cast(pa.int32()).to_pylist() if pa.types.is_date32(result.type) else result.to_pylist()


def their_type(kind: str) -> Any:
    simple = {
        "int": their_types.IntegerType, "long": their_types.LongType, "date": their_types.DateType,
        "time": their_types.TimeType, "timestamp": their_types.TimestampType,
        "timestamptz": their_types.TimestamptzType, "timestamp_ns": their_types.TimestampNanoType,
        "timestamptz_ns": their_types.TimestamptzNanoType, "string": their_types.StringType,
        "binary": their_types.BinaryType, "uuid": their_types.UUIDType,
    }  # fmt: skip
    if kind in simple:
        return simple[kind]()
    return their_types.FixedType(5) if kind == "fixed[5]" else their_types.DecimalType(9, 2)


@given(columns(), st.integers(1, 2**31 - 1) | st.integers(1, 20))
def test_bucket_of_an_array_agrees_with_pyiceberg(column: tuple[str, list[Any], pa.Array], count: int) -> None:
    kind, values, array = column
    expected = [theirs.BucketTransform(count).transform(their_type(kind))(value) for value in values]
    assert [BucketTransform(count).transform(type_from_text(kind))(value) for value in values] == expected
    for layout in layouts(array):
        result = transforms.bucket(layout, count)
        assert result.type == pa.int32()
        assert result.to_pylist() == expected, layout.type


@given(columns(), st.integers(1, 2**31 - 1) | st.integers(1, 20))
def test_truncate_of_an_array_agrees_with_pyiceberg(column: tuple[str, list[Any], pa.Array], width: int) -> None:
    kind, values, array = column
    if not TruncateTransform(width).can_transform(type_from_text(kind)):
        return
    expected = [theirs.TruncateTransform(width).transform(their_type(kind))(value) for value in values]
    if kind in {"int", "long"}:
        # The least numbers wrap around, as numbers of 32 or 64 bits do in the reference.
        bits = 32 if kind == "int" else 64
        expected = [v if v is None or v >= -(2 ** (bits - 1)) else v + 2**bits for v in expected]
    assert [TruncateTransform(width).transform(type_from_text(kind))(value) for value in values] == expected
    for layout in layouts(array):
        assert transforms.truncate(layout, width).to_pylist() == expected, layout.type


@given(columns(), st.sampled_from(sorted(FUNCTIONS)))
def test_time_transforms_of_an_array_agree_with_pyiceberg(column: tuple[str, list[Any], pa.Array], name: str) -> None:
    kind, values, array = column
    transform = parse_transform(name)
    if not transform.can_transform(type_from_text(kind)):
        return
    scalar = getattr(theirs, f"{name.title()}Transform")().transform(their_type(kind))
    expected = [scalar(value) for value in values]
    assert [transform.transform(type_from_text(kind))(value) for value in values] == expected
    for layout in layouts(array):
        assert numbers(FUNCTIONS[name](layout)) == expected, layout.type


@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_every_class_transforms_arrays_and_streams(kind: str) -> None:
    array = pa.nulls(3, SOURCES[kind][0])
    for name in ("bucket[4]", "truncate[4]", "year", "hour", "identity", "void"):
        transform = parse_transform(name)
        if transform.can_transform(type_from_text(kind)):
            apply = transform.pyarrow_transform(type_from_text(kind))
            assert apply(array).to_pylist() == [None] * 3
            assert apply(pa.chunked_array([array, array])).num_chunks == 2


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([34, -1], pa.int8()), [3, 8]),
        (pa.array([34], pa.uint32()), [3]),
        (pa.array([17486 * 86_400_000]).cast(pa.date64()), [10]),
        (pa.array([1_510_871_468]).cast(pa.timestamp("s")), [7]),
        (pa.array([1_510_871_468_000]).cast(pa.timestamp("ms", "Europe/Berlin")), [7]),
        (pl.Series([34, None]), [3, None]),
        (pl.Series(["iceberg"]), [9]),
        (pa.chunked_array([], pa.int64()), []),
    ],
    ids=str,
)
def test_bucket_accepts_promoted_types_and_arrays_of_other_libraries(array: Any, expected: list[int | None]) -> None:
    assert transforms.bucket(array, 16).to_pylist() == expected


@pytest.mark.parametrize(
    "layout",
    [pa.string(), pa.large_string(), pytest.param(pa.string_view(), marks=pytest.mark.recent_pyarrow)],
    ids=str,
)
def test_truncate_of_strings_keeps_the_layout_in_every_chunk(layout: pa.DataType) -> None:
    array = pa.chunked_array([["iceberg"], ["ice"]]).cast(layout)
    assert transforms.truncate(array, 5).type == layout
    values = pa.array(["iceberg", "ice", "floe"]).cast(layout)
    chunks = [pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), values) for keys in ([0], [0, 1, 2, 0])]
    assert transforms.truncate(pa.chunked_array(chunks), 4).to_pylist() == ["iceb", "iceb", "ice", "floe", "iceb"]


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: transforms.bucket(pa.array([1]), 0), "num_buckets: is out of range; expected 1 to 2147483647, got 0"),
        (lambda: transforms.truncate(pa.array([1]), -1), "width: is out of range; expected 1 to 2147483647, got -1"),
        (
            lambda: transforms.truncate(pa.array([1]), 2**31),
            "width: is out of range; expected 1 to 2147483647, got 2147483648",
        ),
        (lambda: transforms.bucket(pa.array([1.5]), 4), "array: .*double"),
        (lambda: transforms.hours(pa.array([1]).cast(pa.int32()).cast(pa.date32())), "array: hour .*date32"),
        (lambda: transforms.days(pa.array([1])), "array: day .*int64"),
        (lambda: transforms.bucket(pa.table({"a": [1]}), 4), "array: .*struct"),
        (lambda: transforms.bucket([1], 4), "array: expected an Arrow array .* got list"),
        (lambda: transforms.bucket(pa.array([2**60]).cast(pa.timestamp("s")), 4), "array: "),
    ],
)
def test_array_functions_refuse_bad_arguments_by_name(work: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        work()


def test_other_threads_run_while_an_array_is_transformed() -> None:
    array = pa.array(range(2_000_000))
    requested, ran = threading.Event(), threading.Event()
    switching = sys.getswitchinterval()

    def other() -> None:
        requested.wait()
        ran.set()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        # No thread is made to give way: the other one runs only where this one lets it.
        sys.setswitchinterval(3_600)
        requested.set()
        for _ in range(300):
            transforms.bucket(array, 16)
            if ran.is_set():
                break
        assert ran.is_set()
    finally:
        sys.setswitchinterval(switching)
        thread.join()
