"""Results of time transforms as people write them: a year, a month, an hour."""

from __future__ import annotations

from icefloe.conversions import temporal
from icefloe.transforms import HourTransform, MonthTransform, Transform, YearTransform

_EPOCH_YEAR = 1970


def ordinal_of_text(transform: Transform, text: str) -> int | None:
    """Return the ordinal of ``2026``, ``2026-01`` or ``2026-01-31-10`` for year, month or hour; None if it is no such text.

    >>> ordinal_of_text(MonthTransform(), "1970-03")
    2
    """
    text = text.strip()
    try:
        if isinstance(transform, YearTransform) and len(text) >= 4:
            return temporal.days_to_date(temporal.date_from_text(f"{text}-01-01")).year - _EPOCH_YEAR
        if isinstance(transform, MonthTransform):
            first = temporal.days_to_date(temporal.date_from_text(f"{text}-01"))
            return (first.year - _EPOCH_YEAR) * 12 + first.month - 1
        if isinstance(transform, HourTransform):
            date, _, hour = text.rpartition("-")
            return temporal.date_from_text(date) * 24 + int(hour) if 0 <= int(hour) < 24 else None
    except ValueError:
        return None
    return None


def ordinal_of_year(year: int) -> int:
    """Return the ordinal of a calendar year."""
    return year - _EPOCH_YEAR
