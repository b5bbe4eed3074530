"""Ages and points in time as arguments and table properties give them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from icefloe.exceptions import ValidationError

Age = timedelta | str
"""An age: a timedelta that is not negative, or text such as `7d`, `12h` or `1d12h`."""

Moment = datetime | Age
"""A point in time: a datetime, in UTC if it has no time zone; an ISO 8601 text; or an age before now."""

_UNITS = {"w": 604_800_000, "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PARTS = re.compile(r"(\d{1,18})(ms|[wdhms])", re.ASCII)
_TEXT = re.compile(rf"(?:{_PARTS.pattern})+", re.ASCII)
_LARGEST_MS = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


def age_ms(age: Age, name: str = "age") -> int:
    """Return an age in milliseconds.

    Args:
        age: A timedelta, or whole numbers with the units `w`, `d`, `h`, `m`, `s` or `ms`, without spaces.
        name: The argument or property that an error names.

    Raises:
        ValidationError: The text is not an age, or the age is negative.

    Examples:
        >>> age_ms("1d12h"), age_ms(timedelta(minutes=1))
        (129600000, 60000)
    """
    if isinstance(age, timedelta):
        if age < timedelta(0):
            raise ValidationError(f"{name}: expected an age that is not negative, got {age}")
        return age // _MILLISECOND
    if isinstance(age, str) and _TEXT.fullmatch(age.strip()):
        total = sum(int(number) * _UNITS[unit] for number, unit in _PARTS.findall(age.strip()))
        if total <= _LARGEST_MS:
            return total
    raise ValidationError(f"{name}: expected an age such as 7d, 12h or 1d12h, or a timedelta, got {age!r}")


def moment_ms(moment: Moment, now_ms: int, name: str = "older_than") -> int:
    """Return a point in time in milliseconds since 1970-01-01 UTC.

    Args:
        moment: A datetime (UTC if it has no time zone), an ISO 8601 text, or an age before `now_ms`.
        now_ms: The time now.
        name: The argument that an error names.

    Raises:
        ValidationError: The value is neither a point in time nor an age.

    Examples:
        >>> moment_ms("2s", now_ms=5000), moment_ms("1970-01-01T00:00:01Z", now_ms=5000)
        (3000, 1000)
    """
    if isinstance(moment, str) and not _TEXT.fullmatch(moment.strip()):
        moment = _parsed(moment.strip(), name)
    if isinstance(moment, datetime):
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        return (aware - _EPOCH) // _MILLISECOND
    return now_ms - age_ms(moment, name)


def age_text(age: int) -> str:
    """Return milliseconds as text, in whole units of which there are at least two.

    >>> age_text(5_400_000), age_text(1_500)
    ('90 minutes', '1500 milliseconds')
    """
    for size, unit in ((86_400_000, "days"), (3_600_000, "hours"), (60_000, "minutes"), (1_000, "seconds")):
        if age >= 2 * size:
            return f"{age // size:,} {unit}"
    return f"{age} milliseconds"


def iso_time(time_ms: int) -> str:
    """Return milliseconds since 1970-01-01 UTC as ISO 8601 text in UTC.

    >>> iso_time(1500)
    '1970-01-01T00:00:01.500Z'
    """
    try:
        text = (_EPOCH + timedelta(milliseconds=time_ms)).isoformat(timespec="milliseconds")
    except OverflowError:
        return f"{time_ms} ms"
    return text.replace("+00:00", "Z")


def _parsed(text: str, name: str) -> datetime:
    # Python 3.10 reads neither a final Z nor a lower-case t.
    try:
        return datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))
    except ValueError:
        raise ValidationError(
            f"{name}: expected a time such as 2026-11-01T00:00Z or an age such as 7d, got {text!r}"
        ) from None
