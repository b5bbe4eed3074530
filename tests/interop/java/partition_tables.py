"""Tables partitioned by every transform of every type that has it."""

from __future__ import annotations

from tests.interop.java.case import FORMATS, Case, create

COLUMNS = (
    "id BIGINT, yes BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, m DECIMAL(9, 2), w DECIMAL(38, 4), day DATE, local TIMESTAMP_NTZ, "
    "instant TIMESTAMP, s STRING, b BINARY, st STRUCT<x: INT, y: STRING>"
)
# Seven values of each type, null and what lies before 1970 or below zero among them, in turns.
ROWS = (
    "INSERT INTO {t} SELECT id, "
    "ELEMENT_AT(ARRAY(true, false, NULL), CAST(id % 3 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(-2147483648, -11, -1, 0, 9, 2147483647, NULL), CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(-9223372036854775808, -101L, -1L, 0L, 99L, 9223372036854775807, NULL), CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(CAST('-Infinity' AS FLOAT), CAST(-1.5 AS FLOAT), CAST(0.0 AS FLOAT), CAST(1.5 AS FLOAT), CAST('NaN' AS FLOAT), "
    "CAST('Infinity' AS FLOAT), NULL), CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(-1.5D, 0.0D, 1.5D, CAST('NaN' AS DOUBLE), NULL), CAST(id % 5 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(-9999999.99, -0.05, 0.00, 0.05, 10.65, 9999999.99, NULL), CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(-9999999999999999999999999999999999.9999, -1.2800, 0, 1.2800, NULL), CAST(id % 5 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(DATE '0001-01-01', DATE '1969-12-31', DATE '1970-01-01', DATE '2017-11-16', DATE '2017-12-01', DATE '9999-12-31', NULL), "
    "CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(TIMESTAMP_NTZ '1968-12-31 23:59:59.999999', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', TIMESTAMP_NTZ '1970-01-01 00:00:00', "
    "TIMESTAMP_NTZ '2017-11-16 22:31:08', TIMESTAMP_NTZ '2017-12-01 10:12:55.038194', NULL), CAST(id % 6 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(TIMESTAMP '1968-12-31 23:59:59.999999', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP '1970-01-01 00:00:00', "
    "TIMESTAMP '2017-11-16 22:31:08', TIMESTAMP '2017-12-01 10:12:55.038194', NULL), CAST(id % 6 AS INT) + 1), "
    "ELEMENT_AT(ARRAY('', 'iceberg', 'ice', 'a\U0001f600bcd', 'x/y=z #%+ &', 'ab', NULL), CAST(id % 7 AS INT) + 1), "
    "ELEMENT_AT(ARRAY(X'', X'00010203', X'FFFFFFFF', X'616263646566', NULL), CAST(id % 5 AS INT) + 1), "
    "IF(id % 4 = 0, NULL, NAMED_STRUCT('x', CAST(id % 3 AS INT), 'y', IF(id % 5 = 0, NULL, CONCAT('y', id % 5)))) "
    "FROM RANGE(0, 35, 1, 1)"
)
# Each must hold, and prune, whatever the partitioning.
FILTERS = (
    "i < 0",
    "i >= -1 and i <= 9",
    "i = -11 or i is null",
    "i != 9",
    "l > 99",
    "l in (-101, 99, 100)",
    "l <= -9223372036854775808",
    "yes = true",
    "f > 0 -- f > 0 AND NOT isnan(f)",
    "f is nan -- isnan(f)",
    "d = 0 -- d = 0D",
    "d is not nan and d is not null -- NOT isnan(d) AND d IS NOT NULL",
    "m >= 0.05",
    "m = 10.65",
    "m < -0.05",
    "w = 1.28",
    "w is null",
    "day < '1970-01-01'",
    "day >= '2017-11-17' and day < '2018-01-01'",
    "day = '2017-11-16' or day = '0001-01-01'",
    "local < '1970-01-01T00:00:00'",
    "local >= '2017-11-16T22:31:08' and local <= '2017-11-30T00:00:00'",
    "local != '2017-11-16T22:31:08' -- local <> TIMESTAMP_NTZ '2017-11-16 22:31:08'",
    "instant > '1969-12-31T23:59:59.999998+00:00' -- instant > TIMESTAMP '1969-12-31 23:59:59.999998'",
    "instant = '2017-12-01T10:12:55.038194+00:00' -- instant = TIMESTAMP '2017-12-01 10:12:55.038194'",
    "instant is null",
    "s like 'ice%'",
    "s not like 'ice%' -- s NOT LIKE 'ice%'",
    "s >= 'ice' and s < 'iceberh'",
    "s = 'x/y=z #%+ &'",
    "s in ('', 'iceberg', 'absent')",
    "b = X'00010203'",
    "b > X'61'",
    "st.x = 1 and st.y is not null",
    "st.y = 'y2' or i = 0",
    "st.x is null",
    "not (i = 0 or s = 'ab' or day is null)",
)
SPECS = {
    "identity_numbers": "yes, i",
    "identity_wide": "l",
    "identity_floats": "f, d",
    "identity_decimals": "m, w",
    "identity_times": "day, local",
    "identity_instant": "instant",
    "identity_text": "s",
    "identity_bytes": "b",
    "identity_nested": "st.x, truncate(1, st.y)",
    "bucket_numbers": "bucket(2, i), bucket(3, l)",
    "bucket_decimals": "bucket(2, m), bucket(3, w)",
    "bucket_times": "bucket(2, day), bucket(2, local), bucket(2, instant)",
    "bucket_text": "bucket(3, s), bucket(2, b)",
    "truncate_numbers": "truncate(10, i), truncate(100, id)",
    "truncate_decimals": "truncate(10, m), truncate(128, w)",
    "truncate_text": "truncate(2, s), truncate(1, b)",
    "years": "years(day), years(local)",
    "months": "months(day), months(instant)",
    "days": "days(day), days(local)",
    "hours": "hours(local)",
    "hours_instant": "hours(instant), days(day)",
}
# Decimals at the limit of their precision, longs at theirs: the reference cannot truncate them either.
LIMITS = {
    "truncate_numbers": ("-2147483648", "-2147483640"),
    "truncate_decimals": ("-9999999.99", "-9999999.90"),
}


def cases() -> list[Case]:
    found = []
    for name, spec in SPECS.items():
        rows = ROWS.replace(*LIMITS[name]) if name in LIMITS else ROWS
        rows = rows.replace("-9999999999999999999999999999999999.9999", "-1111111111111111111111111111111111.1111")
        found.append(Case(f"by_{name}", (create(COLUMNS, spec), rows), FILTERS))
    for file_format in FORMATS:
        made = create(COLUMNS, "i, bucket(2, s), months(day)", properties={"write.format.default": file_format})
        found.append(Case(f"by_several_{file_format}", (made, ROWS), FILTERS))
    for version in (1, 2):
        made = create(COLUMNS, "i, bucket(2, s), months(day)", version=version)
        steps = (
            made,
            ROWS,
            "ALTER TABLE {t} DROP PARTITION FIELD i",
            ROWS,
            "ALTER TABLE {t} REPLACE PARTITION FIELD day_month WITH days(day)",
            ROWS,
            "ALTER TABLE {t} DROP PARTITION FIELD s_bucket",
            "ALTER TABLE {t} ADD PARTITION FIELD truncate(100, id) AS part",
            ROWS,
            "ALTER TABLE {t} ADD PARTITION FIELD i",
            ROWS,
        )
        found.append(Case(f"changing_specs_v{version}", steps, FILTERS))
    return found
