"""Single values as bytes and as JSON."""

from __future__ import annotations

import json
import math
import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyiceberg.conversions as their_conversions
import pyiceberg.schema as their_schema
import pyiceberg.types as their_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe import _core
from icefloe.conversions import (
    EXACT,
    from_bytes,
    from_json,
    from_json_value,
    partition_to_py,
    to_bytes,
    to_json,
    to_json_value,
)
from icefloe.exceptions import CorruptFileError, ValidationError
from icefloe.types import DecimalType, type_from_text

UUID = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
VECTORS = [
    ("boolean", True, "01"),
    ("boolean", False, "00"),
    ("int", 84202, "ea480100"),
    ("long", 200, "c800000000000000"),
    ("float", -4.5, "000090c0"),
    ("double", 6.0, "0000000000001840"),
    ("date", 1000, "e8030000"),
    ("time", 10000, "1027000000000000"),
    ("timestamp", 400000, "801a060000000000"),
    ("timestamp_ns", 400000000, "0084d71700000000"),
    ("string", "ABC", "414243"),
    ("uuid", UUID, UUID.hex),
    ("fixed[2]", b"ab", "6162"),
    ("binary", b"Z", "5a"),
    ("decimal(9, 2)", Decimal("3.45"), "0159"),
    ("decimal(9, 4)", Decimal("123.4567"), "12d687"),
    ("decimal(9, 4)", Decimal("-123.4567"), "ed2979"),
    ("decimal(9, 3)", Decimal("0.011"), "0b"),
    ("decimal(9, 2)", Decimal("-1.28"), "80"),
    ("decimal(9, 2)", Decimal("0.00"), "00"),
    ("decimal(38, 0)", Decimal(10**38 - 1), "4b3b4ca85a86c47a098a223fffffffff"),
]


@pytest.mark.parametrize(("kind", "value", "hexadecimal"), VECTORS, ids=lambda value: str(value)[:20])
def test_to_bytes_agrees_with_the_vectors(kind: str, value: Any, hexadecimal: str) -> None:
    assert to_bytes(type_from_text(kind), value).hex() == hexadecimal
    assert from_bytes(type_from_text(kind), bytes.fromhex(hexadecimal)) == value


@pytest.mark.parametrize(("kind", "value", "hexadecimal"), VECTORS, ids=lambda value: str(value)[:20])
def test_json_single_value_round_trips(kind: str, value: Any, hexadecimal: str) -> None:
    assert from_json_value(type_from_text(kind), to_json_value(type_from_text(kind), value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**15), max_value=10**15))
def test_decimal_bytes_are_minimal_and_agree_with_pyiceberg(value: Decimal) -> None:
    ours = to_bytes(DecimalType(38, 3), value)
    assert from_bytes(DecimalType(38, 3), ours) == value
    assert their_conversions.from_bytes(their_types.DecimalType(38, 3), ours) == value
    assert len(ours) == 1 or ours[:2] not in {b"\x00\x00", b"\xff\xff"}


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32),
    "double": st.floats(),
    "date": st.integers(-(2**31), 2**31 - 1),
    "time": st.integers(0, 86_400_000_000 - 1),
    "timestamp": st.integers(-(2**63), 2**63 - 1),
    "timestamptz": st.integers(-(2**63), 2**63 - 1),
    "timestamp_ns": st.integers(-(2**63), 2**63 - 1),
    "timestamptz_ns": st.integers(-(2**63), 2**63 - 1),
    "string": st.text(),
    "uuid": st.uuids(),
    "fixed[3]": st.binary(min_size=3, max_size=3),
    "binary": st.binary(),
    "decimal(38, 10)": st.integers(-(10**38) + 1, 10**38 - 1).map(
        lambda unscaled: Decimal(unscaled).scaleb(-10, EXACT)
    ),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any]]:
    kind = draw(st.sampled_from(sorted(VALUES)))
    return kind, draw(st.lists(st.none() | VALUES[kind], max_size=8))


def same(a: Any, b: Any) -> bool:
    """Return whether values and their signs are equal; NaN equals NaN."""
    return repr(a) == repr(b)


@given(columns())
def test_single_values_agree_with_the_core_and_pyiceberg(column: tuple[str, list[Any]]) -> None:
    kind, values = column
    ours = type_from_text(kind)
    forms = [None if value is None else to_bytes(ours, value) for value in values]
    theirs = their_schema.Schema.model_validate(
        {"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": kind}]}
    ).find_type("x")
    for value, form in zip(values, forms, strict=True):
        if value is None:
            continue
        assert same(from_bytes(ours, form), value)
        if not kind.startswith("decimal"):
            # Theirs rounds decimals to 28 digits.
            assert form == their_conversions.to_bytes(theirs, value)
        text = _core.single_value_from_bytes(kind, form)
        if not (isinstance(value, float) and not math.isfinite(value)):
            assert same(from_json_value(ours, json.loads(text)), value)
            assert _core.single_value_to_bytes(kind, json.dumps(to_json_value(ours, value))) == form
    decoded = _core.single_values(pa.array(forms, pa.binary()), kind)
    again = [None if value is None else to_bytes(ours, value) for value in numbers(decoded)]
    assert again == forms


def numbers(array: pa.Array) -> list[Any]:
    """Return the ordinals of dates, times and timestamps; other values unchanged."""
    if pa.types.is_date32(array.type):
        return array.view(pa.int32()).to_pylist()
    return array.view(pa.int64()).to_pylist() if pa.types.is_temporal(array.type) else array.to_pylist()


def test_single_values_reads_promoted_bounds_and_refuses_other_lengths() -> None:
    bounds = pa.array([bytes.fromhex("ea480100"), None, bytes.fromhex("c800000000000000")], pa.binary_view())
    assert _core.single_values(bounds, "long").to_pylist() == [84202, None, 200]
    with pytest.raises(CorruptFileError, match="expected long, got 5 bytes"):
        _core.single_values(pa.array([b"12345"]), "long")
    with pytest.raises(ValidationError, match="array"):
        _core.single_values(pa.array([1]), "long")


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [("date", 2**31 - 1, "+5881580-07-11"), ("timestamptz", -(2**63), "-290308-12-21T19:59:05.224192+00:00")],
)
def test_json_of_years_outside_pythons_range_round_trips(kind: str, number: int, text: str) -> None:
    assert to_json_value(type_from_text(kind), number) == text
    assert from_json_value(type_from_text(kind), text) == number


def test_from_bytes_refuses_decimals_of_too_many_digits() -> None:
    with pytest.raises(ValidationError, match="more digits"):
        from_bytes(DecimalType(38, 0), b"\x7f" * 17)


@pytest.mark.parametrize(
    ("kind", "narrow", "value"), [("long", "ea480100", 84202), ("double", "000090c0", -4.5)], ids=["int", "float"]
)
def test_from_bytes_reads_values_written_before_a_promotion(kind: str, narrow: str, value: Any) -> None:
    assert from_bytes(type_from_text(kind), bytes.fromhex(narrow)) == value


@pytest.mark.parametrize(
    ("kind", "data"), [("int", "00"), ("long", "0000"), ("uuid", "00"), ("fixed[4]", "00"), ("decimal(9, 2)", "")]
)
def test_from_bytes_refuses_a_wrong_length(kind: str, data: str) -> None:
    with pytest.raises(ValidationError):
        from_bytes(type_from_text(kind), bytes.fromhex(data))


@pytest.mark.parametrize(
    ("kind", "value", "json"),
    [
        ("date", date(1969, 12, 31), "1969-12-31"),
        ("time", time(22, 31, 8, 123456), "22:31:08.123456"),
        ("timestamp", datetime(1969, 12, 31, 23, 59, 59, 999999), "1969-12-31T23:59:59.999999"),
        ("timestamptz", datetime(2017, 11, 16, 22, 31, 8, tzinfo=timezone.utc), "2017-11-16T22:31:08.000000+00:00"),
        ("timestamp_ns", 1510871468000001001, "2017-11-16T22:31:08.000001001"),
        ("decimal(9, 2)", Decimal("14.2"), "14.20"),
        ("binary", b"\x00\xff", "00ff"),
    ],
)
def test_to_json_value_has_the_form_of_the_spec(kind: str, value: Any, json: str) -> None:
    assert to_json_value(type_from_text(kind), value) == json


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "5"),
        ("boolean", 1),
        ("long", True),
        ("date", "2017-13-01"),
        ("binary", "0"),
        ("uuid", "x"),
        ("time", "10:00:00Z"),
        ("time", "10:00:00+00:00"),
        ("time", "10:00-05"),
        ("time", "00:00:-17.24"),
        ("timestamp", "2026-01-01T00:00:-17.5"),
    ],
)
def test_from_json_value_refuses_other_json(kind: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        from_json_value(type_from_text(kind), value)


def test_to_bytes_refuses_a_decimal_that_does_not_fit() -> None:
    with pytest.raises(ValidationError, match="does not fit"):
        to_bytes(DecimalType(4, 2), Decimal("100.00"))
    with pytest.raises(ValidationError, match="does not fit"):
        to_bytes(DecimalType(4, 2), Decimal("1.001"))


def test_partition_to_py_returns_values() -> None:
    assert partition_to_py(type_from_text("date"), "2017-11-16") == 17486
    assert partition_to_py(type_from_text("int"), "__HIVE_DEFAULT_PARTITION__") is None
    with pytest.raises(ValidationError):
        partition_to_py(type_from_text("int"), "five")


def test_from_json_and_to_json_round_trip() -> None:
    cases = {
        "date": ("2020-01-02", date(2020, 1, 2)),
        "time": ("10:11:12.500000", time(10, 11, 12, 500000)),
        "timestamp": ("2020-01-02T03:04:05.000000", datetime(2020, 1, 2, 3, 4, 5)),
        "timestamptz": ("2020-01-02T03:04:05.000000+00:00", datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)),
        "decimal(9, 2)": ("1.50", Decimal("1.50")),
        "long": (5, 5),
    }
    for text, (value, expected) in cases.items():
        kind = type_from_text(text)
        assert from_json(kind, value) == expected
        assert to_json(kind, expected) == value
    assert from_json(type_from_text("date"), None) is None
