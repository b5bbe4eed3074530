"""Random Arrow arrays of every source type, in every layout that a producer may hand over."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

_INT, _LONG = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
# Days and microseconds of the years that Python's own dates reach.
_DAY, _MICROS = st.integers(-719_162, 2_932_896), st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)

# Type name -> Arrow type and a strategy for values as `pyarrow.array` takes them.
SOURCES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int32(), _INT),
    "long": (pa.int64(), _LONG),
    "decimal(9, 2)": (
        pa.decimal128(9, 2),
        st.integers(-(10**9) + 1, 10**9 - 1).map(lambda unscaled: Decimal(unscaled).scaleb(-2)),
    ),
    "date": (pa.date32(), _DAY),
    "time": (pa.time64("us"), st.integers(0, 86_400_000_000 - 1)),
    "timestamp": (pa.timestamp("us"), _MICROS),
    "timestamptz": (pa.timestamp("us", "UTC"), _MICROS),
    "timestamp_ns": (pa.timestamp("ns"), _LONG),
    "timestamptz_ns": (pa.timestamp("ns", "UTC"), _LONG),
    "string": (pa.string(), st.text(max_size=20)),
    "binary": (pa.binary(), st.binary(max_size=20)),
    "fixed[5]": (pa.binary(5), st.binary(min_size=5, max_size=5)),
    "uuid": (pa.binary(16), st.binary(min_size=16, max_size=16)),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any], pa.Array]:
    """Draw a type, values and nulls of it, and an array of them."""
    kind = draw(st.sampled_from(sorted(SOURCES)))
    arrow_type, values = SOURCES[kind]
    chosen = draw(st.lists(st.none() | values, max_size=12))
    return kind, chosen, pa.array(chosen, arrow_type)


def layouts(array: pa.Array) -> list[pa.Array | pa.ChunkedArray]:
    """Return the same values in other layouts."""
    plain = [array]
    if pa.types.is_string(array.type):
        plain += [array.cast(pa.large_string()), array.cast(pa.string_view())]
    if pa.types.is_binary(array.type):
        plain += [array.cast(pa.large_binary()), array.cast(pa.binary_view())]
    padding = pa.nulls(3, array.type)
    sliced = pa.concat_arrays([padding, array, padding]).slice(3, len(array))
    half = len(array) // 2
    chunked = pa.chunked_array([array.slice(0, half), pa.array([], array.type), array.slice(half)])
    encoded = [array.dictionary_encode(), sliced.dictionary_encode(), pc.run_end_encode(array)]
    return [*plain, sliced, chunked, *encoded, chunked.dictionary_encode()]
