"""Transforms of dates and timestamps to ordinals of years, months, days and hours, and the ordinals of calendar texts."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

from icefloe.conversions import temporal
from icefloe.transforms.transform import DATES, TIMESTAMPS, Transform, human_text
from icefloe.types import DateType, IcebergType, IntegerType

_EPOCH_YEAR = 1970


class TimeResolution(IntEnum):
    """Units of time, ordered by length."""

    YEAR = 6
    MONTH = 5
    WEEK = 4
    DAY = 3
    HOUR = 2
    MINUTE = 1
    SECOND = 0


class TimeTransform(Transform):
    """The number of years, months, days or hours from 1970-01-01, rounded down."""

    __slots__ = ()
    _sources: ClassVar[frozenset[str]] = DATES | TIMESTAMPS
    _granularity: ClassVar[TimeResolution]

    @property
    def granularity(self) -> TimeResolution:
        """The unit of time of one ordinal."""
        return self._granularity

    def can_transform(self, source: IcebergType) -> bool:
        """Return whether the type is date or a timestamp; for hours, a timestamp."""
        return str(source) in self._sources

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return int, or date for days."""
        return IntegerType()

    @property
    def preserves_order(self) -> bool:
        """Whether partition values have the order of source values: always true."""
        return True

    def satisfies_order_of(self, other: Transform) -> bool:
        """Return whether the other transform has the same or a longer unit of time."""
        return isinstance(other, TimeTransform) and self.granularity <= other.granularity

    @property
    def dedup_name(self) -> str:
        """``time``, for every time transform."""
        return "time"


class YearTransform(TimeTransform):
    """The number of years from 1970."""

    __slots__ = ()
    _text = "year"
    _granularity = TimeResolution.YEAR

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017`` for 47."""
        return "null" if value is None else f"{_EPOCH_YEAR + value:04d}"


class MonthTransform(TimeTransform):
    """The number of months from 1970-01."""

    __slots__ = ()
    _text = "month"
    _granularity = TimeResolution.MONTH

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12`` for 575."""
        return "null" if value is None else f"{_EPOCH_YEAR + value // 12:04d}-{value % 12 + 1:02d}"


class DayTransform(TimeTransform):
    """The number of days from 1970-01-01."""

    __slots__ = ()
    _text = "day"
    _granularity = TimeResolution.DAY

    def result_type(self, source: IcebergType) -> IcebergType:
        """Return date."""
        return DateType()

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12-01`` for 17501."""
        return human_text(DateType(), value)


class HourTransform(TimeTransform):
    """The number of hours from 1970-01-01 00:00."""

    __slots__ = ()
    _text = "hour"
    _granularity = TimeResolution.HOUR
    _sources = TIMESTAMPS

    def to_human_string(self, source: IcebergType, value: Any) -> str:
        """Return ``2017-12-01-10`` for 420034."""
        return "null" if value is None else f"{human_text(DateType(), value // 24)}-{value % 24:02d}"


def ordinal_of_text(transform: Transform, text: str) -> int | None:
    """Return the ordinal of the text ``2026``, ``2026-01`` or ``2026-01-31-10`` of a year, month or hour; None for other text.

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


def ordinal_of(transform: Transform, value: Any) -> int | None:
    """Return the ordinal of a year, or of a calendar text, beside a time transform; None if the value is an ordinal.

    Args:
        transform: The transform that the value is compared with.
        value: Text as :func:`ordinal_of_text` takes it, or the number of a year beside :class:`YearTransform`.

    >>> ordinal_of(YearTransform(), 2026), ordinal_of(MonthTransform(), 2)
    (56, None)
    """
    if isinstance(value, str):
        return ordinal_of_text(transform, value)
    is_year = isinstance(transform, YearTransform) and isinstance(value, int) and not isinstance(value, bool)
    return value - _EPOCH_YEAR if is_year else None
