"""The rows that a contender returned: their number and a checksum that depends on values, not on order or Arrow layout."""

from __future__ import annotations

from typing import Any

# Sums of 64-bit hashes wrap around; the order of rows does not change them.
MODULUS = 1 << 64


def row_count(result: Any) -> int:
    """Return the number of rows of an Arrow table, a Polars frame, or the number itself."""
    if isinstance(result, int):
        return result
    return result.height if hasattr(result, "height") else result.num_rows


def checksum(result: Any) -> str | None:
    """Return a checksum of all values by column name; None for a result that is only a number."""
    if isinstance(result, int):
        return None
    import polars as pl

    frame = result if isinstance(result, pl.DataFrame) else pl.from_arrow(result)
    frame = frame.select(_comparable(frame, name) for name in sorted(frame.columns))
    return f"{int(frame.hash_rows(seed=1).cast(pl.UInt128).sum()) % MODULUS:016x}"


def _comparable(frame: Any, name: str) -> Any:
    """Return the column in one type of each family: peers differ in widths, units, dictionaries and time zones."""
    import polars as pl

    kind = frame.schema[name]
    if kind.is_integer():
        return pl.col(name).cast(pl.Int64)
    if isinstance(kind, (pl.Categorical, pl.Enum)):
        return pl.col(name).cast(pl.String)
    if isinstance(kind, pl.Datetime):
        return pl.col(name).dt.timestamp("us")
    return pl.col(name)
