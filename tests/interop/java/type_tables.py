"""Tables of every type, in every codec."""

from __future__ import annotations

from typing import Any

from tests.interop.java.case import FORMATS, Case, create, insert

PRIMITIVES = (
    "id BIGINT NOT NULL, yes BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, small DECIMAL(9, 2), middle DECIMAL(18, 6), "
    "large DECIMAL(38, 10), day DATE, local TIMESTAMP_NTZ, instant TIMESTAMP, s STRING, b BINARY"
)
NOTHING = "(1" + ", NULL" * 13 + ")"
LEAST = (
    "(2, false, -2147483648, -9223372036854775808, CAST('-Infinity' AS FLOAT), CAST('-Infinity' AS DOUBLE), -9999999.99, "
    "-999999999999.999999, -9999999999999999999999999999.9999999999, DATE '0001-01-01', TIMESTAMP_NTZ '0001-01-01 00:00:00', "
    "TIMESTAMP '0001-01-01 00:00:00', '', X'')"
)
MOST = (
    "(3, true, 2147483647, 9223372036854775807, CAST('Infinity' AS FLOAT), CAST('Infinity' AS DOUBLE), 9999999.99, "
    "999999999999.999999, 9999999999999999999999999999.9999999999, DATE '9999-12-31', TIMESTAMP_NTZ '9999-12-31 23:59:59.999999', "
    "TIMESTAMP '9999-12-31 23:59:59.999999', '\U0010ffff\U0001f600 é', X'FFFFFFFF')"
)
NAN = (
    "(4, true, 0, 0, CAST('NaN' AS FLOAT), CAST('NaN' AS DOUBLE), 0.00, 0.000000, 0, DATE '1970-01-01', "
    "TIMESTAMP_NTZ '1970-01-01 00:00:00', TIMESTAMP '1969-12-31 23:59:59.999999', 'a\\u0000b', X'00')"
)
MINUS_ZERO = (
    "(5, false, -1, -1, CAST('-0.0' AS FLOAT), CAST('-0.0' AS DOUBLE), -0.01, -1.000001, -1.0000000001, DATE '1969-12-31', "
    "TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', TIMESTAMP '2024-02-29 12:00:00.5', 'a string of more than sixteen characters', "
    "X'000102030405060708090A0B0C0D0E0F1011')"
)
MANY = (
    "INSERT INTO {t} SELECT id, id % 2 = 0, CAST(id AS INT), id * 1000003, CAST(id / 3 AS FLOAT), id / 7, "
    "CAST(id / 100 AS DECIMAL(9, 2)), CAST(id / 1000 AS DECIMAL(18, 6)), CAST(id AS DECIMAL(38, 10)) * 1000000000000, "
    "DATE_ADD(DATE '1969-12-01', CAST(id AS INT)), TIMESTAMP_NTZ '1970-01-01 00:00:00' + MAKE_DT_INTERVAL(0, id), "
    "TIMESTAMP '2020-01-01 00:00:00' + MAKE_DT_INTERVAL(0, 0, id, 0.000001), CONCAT('row ', id), UNHEX(HEX(id)) FROM RANGE(10, 120)"
)
FILTERS = (
    "id > 100",
    "yes = true",
    "yes != true",
    "i = -2147483648",
    "i >= 2147483647",
    "i in (0, 11, 12, 500)",
    "i not in (0, 11) -- i NOT IN (0, 11)",
    "l < 0",
    "f is nan -- isnan(f)",
    "f is not nan -- NOT isnan(f)",
    "f < 0.5 -- f < CAST(0.5 AS FLOAT)",
    "d > 3.5 -- d > 3.5D AND NOT isnan(d)",
    "d <= 0 -- d <= 0D",
    "not d > 3.5 -- d <= 3.5D",
    "small = -0.01",
    "small between 0.5 and 0.75",
    "middle > 0.1",
    "large < -1",
    "day < date '1970-01-01'",
    "day = '9999-12-31'",
    "local >= '1970-01-01T00:50:00'",
    "instant < '1970-01-01T00:00:00+00:00' -- instant < TIMESTAMP '1970-01-01 00:00:00'",
    "instant >= '2020-01-01T01:00:00+00:00' and id < 100 -- instant >= TIMESTAMP '2020-01-01 01:00:00' AND id < 100",
    "s like 'row 1%'",
    "s not like 'row%' -- s NOT LIKE 'row%'",
    "s = ''",
    "s > 'row 9' -- s > 'row 9'",
    "b = X''",
    "b >= X'FF'",
    "large is null",
    "not (day is null or i = 0)",
)
NESTED = (
    "id BIGINT, point STRUCT<x: INT, y: DOUBLE, deep: STRUCT<name: STRING, none: BIGINT>>, numbers ARRAY<INT>, words MAP<STRING, STRING>, "
    "structs ARRAY<STRUCT<a: INT, b: STRING>>, lists ARRAY<ARRAY<BIGINT>>, maps MAP<INT, STRUCT<v: DECIMAL(9, 2), w: DATE>>, "
    "mixed STRUCT<list: ARRAY<MAP<STRING, ARRAY<INT>>>>"
)
NESTED_ROWS = (
    "(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "(2, NAMED_STRUCT('x', NULL, 'y', NULL, 'deep', NULL), ARRAY(), MAP(), ARRAY(), ARRAY(), MAP(), NAMED_STRUCT('list', NULL))",
    (
        "(3, NAMED_STRUCT('x', 1, 'y', CAST('NaN' AS DOUBLE), 'deep', NAMED_STRUCT('name', 'n', 'none', NULL)), ARRAY(1, NULL, 3), "
        "MAP('a', 'b', 'c', NULL), ARRAY(NULL, NAMED_STRUCT('a', NULL, 'b', 'x')), ARRAY(NULL, ARRAY(), ARRAY(NULL, 5)), "
        "MAP(1, NULL, 2, NAMED_STRUCT('v', 1.25, 'w', NULL)), NAMED_STRUCT('list', ARRAY(NULL, MAP(), MAP('k', ARRAY(1, NULL), 'n', NULL))))"
    ),
    (
        "(4, NAMED_STRUCT('x', 2, 'y', -0.0D, 'deep', NAMED_STRUCT('name', NULL, 'none', 9)), ARRAY(4), MAP('', ''), "
        "ARRAY(NAMED_STRUCT('a', 1, 'b', NULL)), ARRAY(ARRAY(1, 2), ARRAY(3)), MAP(-1, NAMED_STRUCT('v', NULL, 'w', DATE '2020-01-01')), "
        "NAMED_STRUCT('list', ARRAY(MAP('z', ARRAY()))))"
    ),
)
NESTED_FILTERS = (
    "point.x = 1",
    "point.x is null",
    "point.y is nan -- isnan(point.y)",
    "point.deep.name is not null",
    "point.deep.none > 5 or id = 1",
    "point.deep.name != 'n'",
)
REQUIRED = (
    "id BIGINT NOT NULL, s STRUCT<a: INT NOT NULL, b: STRUCT<c: STRING NOT NULL> NOT NULL> NOT NULL, "
    "l ARRAY<INT> NOT NULL, t TIMESTAMP NOT NULL"
)
CODECS = {
    "parquet": ("zstd", "snappy", "gzip", "uncompressed", "lz4"),
    "avro": ("gzip", "snappy", "zstd", "uncompressed"),
    "orc": ("zlib", "snappy", "zstd", "lz4", "none"),
}
REQUIRED_ROW = "(1, NAMED_STRUCT('a', 1, 'b', NAMED_STRUCT('c', 'x')), ARRAY(1, NULL), TIMESTAMP '2020-01-01 00:00:00')"
API_ROWS = (
    "(1, 'f79c3e09-677c-4bbd-a479-3f349cb785e7', X'01020304050607', NAMED_STRUCT('u', NULL))",
    "(2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', X'FFFFFFFFFFFFFF', NAMED_STRUCT('u', '00000000-0000-0000-0000-000000000000'))",
    "(3, NULL, NULL, NULL)",
)
API_FILTERS = (
    "u = 'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
    "fixed = X'01020304050607'",
    "u is null",
    "fixed >= X'01020304050608'",
)


def stored_as(file_format: str) -> dict[str, str]:
    return {"write.format.default": file_format}


def typed_by_api(writer: Any, table: str) -> None:
    """Types that Spark's SQL has no name for."""
    types = writer.types
    writer.create(
        table,
        ("id", types.LongType.get()),
        ("u", types.UUIDType.get()),
        ("fixed", types.FixedType.ofLength(7)),
        ("nested", types.StructType.of([types.NestedField.optional(100, "u", types.UUIDType.get())])),
    )


def cases() -> list[Case]:
    return [case for file_format in FORMATS for case in (*typed(file_format), *compressed(file_format))]


def extremes(file_format: str) -> tuple[str, str]:
    """The least and the most of every type; timestamps in ORC as far as nanoseconds reach, which pyarrow decodes them to."""
    if file_format != "orc":
        return LEAST, MOST
    return (
        LEAST.replace("'0001-01-01 00:00:00'", "'1677-09-22 00:00:00'"),
        MOST.replace("'9999-12-31 23:59:59.999999'", "'2262-04-11 00:00:00'"),
    )


def typed(file_format: str) -> list[Case]:
    properties = stored_as(file_format)
    by_api = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.format.default'='{file_format}')"
    primitives = [
        Case(
            f"primitives_v{version}_{file_format}",
            (
                create(PRIMITIVES, version=version, properties=properties),
                insert(NOTHING, *extremes(file_format), NAN, MINUS_ZERO),
                MANY,
            ),
            FILTERS,
        )
        for version in ((1, 2) if file_format == "parquet" else (2,))
    ]
    return [
        *primitives,
        Case(f"nested_{file_format}", (create(NESTED, properties=properties), insert(*NESTED_ROWS)), NESTED_FILTERS),
        Case(
            f"required_{file_format}",
            (create(REQUIRED, properties=properties), insert(REQUIRED_ROW)),
            ("s.b.c = 'x'", "s.a > 1"),
        ),
        Case(f"api_types_{file_format}", (typed_by_api, by_api, insert(*API_ROWS)), API_FILTERS),
    ]


def compressed(file_format: str) -> list[Case]:
    rows = "INSERT INTO {t} SELECT id, CONCAT('text ', id % 7), id / 3 FROM RANGE(0, 1000, 1, 1)"
    found = []
    for codec in CODECS[file_format]:
        properties = stored_as(file_format) | {f"write.{file_format}.compression-codec": codec}
        made = create("id BIGINT, s STRING, d DOUBLE", properties=properties)
        found.append(Case(f"codec_{codec}_{file_format}", (made, rows), ("id >= 990", "s = 'text 3'")))
    return found
