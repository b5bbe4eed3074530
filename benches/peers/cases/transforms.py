"""Transforms of ten million values, one case for each kernel: Arrow arrays in, Arrow arrays out, on one core."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from peers.case import Case, Work

COUNT = 10_000_000
# PyIceberg's own transforms are Python functions of one value: on this part of the rows they take as long as the others on all rows.
FEW = 100_000
TEXT_BYTES = 16
SEED = 1
# Microseconds from 1940 to 2050.
FIRST, LAST = -946_771_200_000_000, 2_524_608_000_000_000

# The case's name -> transform, its number, Iceberg type.
KERNELS: dict[str, tuple[str, int | None, str]] = {
    "bucket_long": ("bucket", 16, "long"),
    "bucket_int": ("bucket", 16, "int"),
    "bucket_string": ("bucket", 16, "string"),
    "bucket_binary": ("bucket", 16, "binary"),
    "bucket_uuid": ("bucket", 16, "uuid"),
    "bucket_decimal": ("bucket", 16, "decimal(19, 2)"),
    "bucket_timestamptz": ("bucket", 16, "timestamptz"),
    "truncate_int": ("truncate", 10, "int"),
    "truncate_long": ("truncate", 10, "long"),
    "truncate_string": ("truncate", 5, "string"),
    "truncate_binary": ("truncate", 5, "binary"),
    "truncate_decimal": ("truncate", 10, "decimal(19, 2)"),
    "year_date": ("year", None, "date"),
    "month_date": ("month", None, "date"),
    "year_timestamp": ("year", None, "timestamp"),
    "month_timestamp": ("month", None, "timestamp"),
    "day_timestamp": ("day", None, "timestamp"),
    "hour_timestamp": ("hour", None, "timestamp"),
    "month_timestamptz": ("month", None, "timestamptz"),
    "day_timestamptz": ("day", None, "timestamptz"),
    "hour_timestamptz": ("hour", None, "timestamptz"),
}


def array_of(kind: str, count: int = COUNT) -> pa.Array:
    """The same random values every time."""
    random = np.random.default_rng(SEED)
    if kind in {"long", "decimal(19, 2)"}:
        longs = random.integers(-(2**40), 2**40, count)
        return pa.array(longs) if kind == "long" else decimals(longs)
    if kind in {"string", "binary", "uuid"}:
        letters = pa.py_buffer(random.integers(ord("a"), ord("z") + 1, count * TEXT_BYTES).astype(np.uint8))
        if kind == "uuid":
            return pa.Array.from_buffers(pa.binary(TEXT_BYTES), count, [None, letters])
        offsets = pa.py_buffer(np.arange(0, count * TEXT_BYTES + 1, TEXT_BYTES, dtype=np.int32))
        return pa.Array.from_buffers(pa.type_for_alias(kind), count, [None, offsets, letters])
    if kind == "int":
        return pa.array(random.integers(-(2**31), 2**31, count).astype(np.int32))
    if kind == "date":
        return pa.array(random.integers(-11_000, 29_000, count).astype(np.int32)).view(pa.date32())
    zone = "UTC" if kind == "timestamptz" else None
    return pa.array(random.integers(FIRST, LAST, count)).view(pa.timestamp("us", zone))


def decimals(longs: np.ndarray) -> pa.Array:
    """Unscaled values as the 128 bits that they take."""
    halves = np.stack([longs, longs >> 63], axis=1)
    return pa.Array.from_buffers(pa.decimal128(19, 2), len(longs), [None, pa.py_buffer(halves)])


def icefloe(name: str) -> Callable[[Path], Work]:
    def setup(_data: Path) -> Work:
        from icefloe import transforms

        transform, number, kind = KERNELS[name]
        function = getattr(transforms, transform if number is not None else f"{transform}s")
        return over(array_of(kind), function, number)

    return setup


def pyiceberg_core(name: str) -> Callable[[Path], Work]:
    def setup(_data: Path) -> Work:
        from pyiceberg_core import transform as core

        transform, number, kind = KERNELS[name]
        return over(array_of(kind), getattr(core, transform), number)

    return setup


def over(array: pa.Array, function: Callable[..., Any], number: int | None) -> Work:
    arguments = (array,) if number is None else (array, number)
    return lambda: len(function(*arguments))


def pyiceberg(name: str) -> Callable[[Path], Work]:
    def setup(_data: Path) -> Work:
        from pyiceberg.schema import Schema
        from pyiceberg.transforms import parse_transform

        transform, number, kind = KERNELS[name]
        source = Schema.model_validate(
            {"type": "struct", "fields": [{"id": 1, "name": "x", "required": False, "type": kind}]}
        ).find_type("x")
        text = transform if number is None else f"{transform}[{number}]"
        function = parse_transform(text).transform(source)
        values = plain_values(array_of(kind, FEW))
        return lambda: len([function(value) for value in values])

    return setup


def plain_values(array: pa.Array) -> list[Any]:
    """Return values as PyIceberg's functions of one value take them: dates and timestamps as numbers."""
    if pa.types.is_date(array.type):
        return array.view(pa.int32()).to_pylist()
    return array.view(pa.int64()).to_pylist() if pa.types.is_timestamp(array.type) else array.to_pylist()


def copy(name: str) -> Callable[[Path], Work]:
    """A plain copy of the array's values, to what the results take."""

    def setup(_data: Path) -> Work:
        transform, _, kind = KERNELS[name]
        array = array_of(kind)
        if kind in {"long", "timestamp", "timestamptz"} and transform != "truncate":
            longs = array.view(pa.int64()).to_numpy()
            return lambda: len(longs.astype(np.int32))
        values = np.frombuffer(array.buffers()[-1], np.int64)

        def work() -> int:
            values.copy()
            return COUNT

        return work

    return setup


def nothing(_data: Path) -> None:
    """The values are made by every contender for itself."""


def what(name: str) -> str:
    transform, number, kind = KERNELS[name]
    width = f" of {TEXT_BYTES} bytes" if kind in {"string", "binary"} else ""
    text = transform if number is None else f"{transform}[{number}]"
    return f"{text} of {COUNT:,} values of type {kind}{width}; pyiceberg itself: {FEW:,}"


CASES = [
    Case(
        name=f"transforms_{name}",
        what=what(name),
        prepare=nothing,
        contenders={
            "icefloe": icefloe(name),
            "pyiceberg-core": pyiceberg_core(name),
            f"pyiceberg, {FEW:,} values": pyiceberg(name),
            "plain copy": copy(name),
        },
        floors=frozenset({"plain copy", f"pyiceberg, {FEW:,} values"}),
    )
    for name in KERNELS
]
