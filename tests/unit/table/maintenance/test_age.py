"""Ages and points in time."""

from datetime import datetime, timedelta, timezone

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.age import age_ms, iso_time, moment_ms

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        ("7d", 7 * 24 * HOUR),
        ("12h", 12 * HOUR),
        ("1d12h", 36 * HOUR),
        ("2w", 14 * 24 * HOUR),
        ("5m", HOUR // 12),
        ("5ms", 5),
        ("1s5ms", 1005),
        (" 3s ", 3000),
        ("0s", 0),
        (timedelta(days=1, microseconds=1999), 24 * HOUR + 1),
    ],
)
def test_age_is_milliseconds(age, expected):
    assert age_ms(age) == expected


@pytest.mark.parametrize(
    "age", ["", "7", "d", "7 d", "7y", "-1d", "1.5d", "7d,", "٣d", "9" * 19 + "d", "999999999999999999w", 7, None]
)
def test_age_of_another_form_is_refused(age):
    with pytest.raises(ValidationError, match=r"older_than: expected an age such as 7d"):
        age_ms(age, "older_than")


def test_negative_age_is_refused():
    with pytest.raises(ValidationError, match=r"age: expected an age that is not negative, got -1 day"):
        age_ms(timedelta(days=-1))


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("1h", 9 * HOUR),
        (timedelta(hours=2), 8 * HOUR),
        (datetime(1970, 1, 1, 1), HOUR),
        (datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
        ("1970-01-01T01:00Z", HOUR),
        ("1970-01-01T01:00:00.250+00:00", HOUR + 250),
        ("1970-01-02", 24 * HOUR),
    ],
)
def test_moment_is_milliseconds_since_1970(moment, expected):
    assert moment_ms(moment, 10 * HOUR) == expected


@pytest.mark.parametrize("moment", ["", "yesterday", "2026-13-01"])
def test_moment_of_another_form_is_refused(moment):
    with pytest.raises(ValidationError, match=r"older_than: expected a time such as 2026-11-01T00:00Z or an age"):
        moment_ms(moment, 0)


def test_number_is_no_moment():
    with pytest.raises(ValidationError, match=r"older_than: expected an age such as 7d"):
        moment_ms(5, 0)


def test_time_that_no_date_has_is_shown_in_milliseconds():
    assert iso_time(2**62) == f"{2**62} ms"
