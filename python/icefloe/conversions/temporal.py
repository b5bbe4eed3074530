"""Ordinals of dates, times and timestamps (days, microseconds, nanoseconds from 1970-01-01), and their ISO 8601 texts."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone

from icefloe.exceptions import ValidationError

EPOCH_DATE = date(1970, 1, 1)
EPOCH = datetime(1970, 1, 1)
MICROS_PER_SECOND = 1_000_000
MICROS_PER_DAY = 86_400 * MICROS_PER_SECOND
NANOS_PER_MICRO = 1000
_MICROSECOND = timedelta(microseconds=1)
_FRACTION = re.compile(r"(.*?[:\d])\.(\d{1,9})(Z|[+-]\d{2}:?\d{2})?$", re.IGNORECASE)
_ZONE = re.compile(r":.*[+-]")


def date_to_days(value: date) -> int:
    """Return days from 1970-01-01, negative before."""
    return (date(value.year, value.month, value.day) - EPOCH_DATE).days


def days_to_date(days: int) -> date:
    """Return the date ``days`` after 1970-01-01; OverflowError outside the years 1 to 9999."""
    return EPOCH_DATE + timedelta(days=days)


def time_to_micros(value: time) -> int:
    """Return microseconds from midnight."""
    return ((value.hour * 60 + value.minute) * 60 + value.second) * MICROS_PER_SECOND + value.microsecond


def micros_to_time(micros: int) -> time:
    """Return the time of day ``micros`` microseconds after midnight."""
    return (EPOCH + timedelta(microseconds=micros)).time()


def datetime_to_micros(value: datetime) -> int:
    """Return microseconds from 1970-01-01 00:00:00, of UTC if the value has a zone."""
    if value.tzinfo is not None:
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    return (value - EPOCH) // _MICROSECOND


def micros_to_timestamp(micros: int) -> datetime:
    """Return the datetime without zone ``micros`` microseconds after 1970-01-01 00:00:00."""
    return EPOCH + timedelta(microseconds=micros)


def micros_to_timestamptz(micros: int) -> datetime:
    """Return the datetime in UTC ``micros`` microseconds after 1970-01-01 00:00:00 UTC."""
    return micros_to_timestamp(micros).replace(tzinfo=timezone.utc)


def date_from_text(text: str) -> int:
    """Return days from 1970-01-01 of an ISO 8601 date."""
    try:
        return date_to_days(date.fromisoformat(text))
    except ValueError as error:
        raise ValidationError(f"not a date: expected YYYY-MM-DD, got {text!r}") from error


def time_from_text(text: str) -> int:
    """Return microseconds from midnight of an ISO 8601 time of day."""
    try:
        whole, fraction, zone = _split(text)
        value = time.fromisoformat(whole)
    except ValueError as error:
        raise ValidationError(f"not a time: expected HH:MM:SS.ffffff, got {text!r}") from error
    if zone or value.tzinfo is not None:
        raise ValidationError(f"not a time: expected HH:MM:SS.ffffff without a zone, got {text!r}")
    return time_to_micros(value) + fraction // NANOS_PER_MICRO


def timestamp_nanos_from_text(text: str) -> tuple[int, bool]:
    """Return nanoseconds from 1970-01-01 00:00:00 of an ISO 8601 timestamp or date, and whether the text has a zone."""
    try:
        whole, fraction, zone = _split(text)
        value = datetime.fromisoformat(whole + ("+00:00" if zone.upper() == "Z" else zone))
        micros = datetime_to_micros(value)
    except ValueError as error:
        raise ValidationError(f"not a timestamp: expected YYYY-MM-DDTHH:MM:SS.ffffff, got {text!r}") from error
    except OverflowError as error:
        raise ValidationError(f"not a timestamp: expected the years 1 to 9999 in UTC, got {text!r}") from error
    return micros * NANOS_PER_MICRO + fraction, value.tzinfo is not None


def timestamp_to_text(micros: int, zone: str = "") -> str:
    """Return the ISO 8601 text of a timestamp with six digits of a second. Spec: Appendix D, JSON single values."""
    return micros_to_timestamp(micros).isoformat(timespec="microseconds") + zone


def timestamp_nanos_to_text(nanos: int, zone: str = "") -> str:
    """Return the ISO 8601 text of a timestamp with nine digits of a second."""
    micros, rest = divmod(nanos, NANOS_PER_MICRO)
    return f"{timestamp_to_text(micros)}{rest:03d}{zone}"


def _split(text: str) -> tuple[str, int, str]:
    """Return a text without fraction and zone, the fraction in nanoseconds, and the zone; Python 3.10 does not parse every form."""
    if match := _FRACTION.match(text):
        if _ZONE.search(match[1]):
            raise ValueError("expected the fraction before the zone")
        return match[1], int(match[2].ljust(9, "0")), match[3] or ""
    if text[-1:] in {"Z", "z"}:
        return text[:-1], 0, "Z"
    return text, 0, ""
