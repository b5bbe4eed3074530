"""The time zone of a session, by the names that Spark accepts: regions, offsets and the short names of Java."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_SHORT_NAMES = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "EST": "-05:00",
    "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "MST": "-07:00",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}
"""``java.time.ZoneId.SHORT_IDS``, under which Spark reads the names of zones."""
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?")
_ONE_DIGIT_HOUR = re.compile(r"([+-])(\d):")
_ONE_DIGIT_MINUTE = re.compile(r"([+-])(\d\d):(\d)$")


def zone_of(name: str) -> tzinfo:
    """Return the time zone of a name of Spark: a region, an offset, or a short name of Java.

    Args:
        name: A value of ``spark.sql.session.timeZone``.

    Raises:
        zoneinfo.ZoneInfoNotFoundError: The time zones of this machine lack the region.

    Examples:
        >>> print(zone_of("+02:00"), zone_of("GMT-8"), zone_of("Europe/Oslo"), zone_of("PST"))
        UTC+02:00 UTC-08:00 Europe/Oslo America/Los_Angeles
    """
    # As Spark 2, Spark takes hours and minutes of one digit beside a colon.
    full = _ONE_DIGIT_MINUTE.sub(r"\1\2:0\3", _ONE_DIGIT_HOUR.sub(r"\g<1>0\2:", name, count=1))
    full = _SHORT_NAMES.get(full, full)
    offset = _OFFSET.fullmatch(full)
    if offset is None:
        return ZoneInfo("UTC" if full == "Z" else full)
    hours, minutes, seconds = (int(offset[group] or 0) for group in (2, 3, 4))
    shift = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return timezone(-shift if offset[1] == "-" else shift)
