"""Functions of dates with the results of Spark, in the proleptic Gregorian calendar."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def year(dates: pa.Array) -> pa.Array:
    """Return the years of dates as int32."""
    return pc.year(dates).cast(pa.int32())


def month(dates: pa.Array) -> pa.Array:
    """Return the months of dates as int32, from 1."""
    return pc.month(dates).cast(pa.int32())


def day(dates: pa.Array) -> pa.Array:
    """Return the days of the month of dates as int32, from 1."""
    return pc.day(dates).cast(pa.int32())


def later(dates: pa.Array, days: pa.Array) -> pa.Array:
    """Return dates a number of days later, earlier where the number is negative.

    Raises:
        pyarrow.ArrowInvalid: The date has no 32-bit number of days from 1970.
    """
    return pc.add_checked(dates.cast(pa.int32()), days).cast(pa.date32())


def days_between(ends: pa.Array, starts: pa.Array) -> pa.Array:
    """Return the number of days from starts to ends as int32.

    Raises:
        pyarrow.ArrowInvalid: The number has more than 32 bits.
    """
    return pc.subtract_checked(ends.cast(pa.int32()), starts.cast(pa.int32()))
