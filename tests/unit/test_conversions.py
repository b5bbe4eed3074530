"""Single values as bytes and as JSON."""

from __future__ import annotations

import uuid
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any

import pyiceberg.conversions as their_conversions
import pyiceberg.types as their_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from icefloe.conversions import from_bytes, from_json_value, partition_to_py, to_bytes, to_json_value
from icefloe.exceptions import ValidationError
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
def test_binary_form_is_that_of_the_vectors(kind: str, value: Any, hexadecimal: str) -> None:
    assert to_bytes(type_from_text(kind), value).hex() == hexadecimal
    assert from_bytes(type_from_text(kind), bytes.fromhex(hexadecimal)) == value


@pytest.mark.parametrize(("kind", "value", "hexadecimal"), VECTORS, ids=lambda value: str(value)[:20])
def test_json_form_round_trips(kind: str, value: Any, hexadecimal: str) -> None:
    assert from_json_value(type_from_text(kind), to_json_value(type_from_text(kind), value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**15), max_value=10**15))
def test_decimals_are_minimal_and_agree_with_pyiceberg(value: Decimal) -> None:
    ours = to_bytes(DecimalType(38, 3), value)
    assert from_bytes(DecimalType(38, 3), ours) == value
    assert their_conversions.from_bytes(their_types.DecimalType(38, 3), ours) == value
    assert len(ours) == 1 or ours[:2] not in {b"\x00\x00", b"\xff\xff"}


@pytest.mark.parametrize(
    ("kind", "narrow", "value"), [("long", "ea480100", 84202), ("double", "000090c0", -4.5)], ids=["int", "float"]
)
def test_value_written_before_a_promotion_is_read(kind: str, narrow: str, value: Any) -> None:
    assert from_bytes(type_from_text(kind), bytes.fromhex(narrow)) == value


@pytest.mark.parametrize(
    ("kind", "data"), [("int", "00"), ("long", "0000"), ("uuid", "00"), ("fixed[4]", "00"), ("decimal(9, 2)", "")]
)
def test_wrong_length_is_refused(kind: str, data: str) -> None:
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
def test_json_form_is_the_spec_s(kind: str, value: Any, json: str) -> None:
    assert to_json_value(type_from_text(kind), value) == json


@pytest.mark.parametrize(
    ("kind", "value"),
    [("int", "5"), ("boolean", 1), ("long", True), ("date", "2017-13-01"), ("binary", "0"), ("uuid", "x")],
)
def test_json_of_the_wrong_kind_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        from_json_value(type_from_text(kind), value)


def test_decimal_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValidationError, match="does not fit"):
        to_bytes(DecimalType(4, 2), Decimal("100.00"))
    with pytest.raises(ValidationError, match="does not fit"):
        to_bytes(DecimalType(4, 2), Decimal("1.001"))


def test_directory_names_become_values() -> None:
    assert partition_to_py(type_from_text("date"), "2017-11-16") == 17486
    assert partition_to_py(type_from_text("int"), "__HIVE_DEFAULT_PARTITION__") is None
    with pytest.raises(ValidationError):
        partition_to_py(type_from_text("int"), "five")
