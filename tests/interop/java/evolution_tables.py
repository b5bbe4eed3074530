"""Tables whose columns changed between their files."""

from __future__ import annotations

from tests.interop.java.case import FORMATS, Case, create, insert

STEPS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "added": (
        "id BIGINT, a INT",
        (
            insert("(1, 10)"),
            "ALTER TABLE {t} ADD COLUMNS (b STRING, c DOUBLE)",
            insert("(2, 20, 'x', 0.5)"),
            "ALTER TABLE {t} ADD COLUMN d STRUCT<x: INT, y: ARRAY<STRING>> AFTER id",
            insert("(3, NAMED_STRUCT('x', 1, 'y', ARRAY('y')), 30, NULL, -0.0D)"),
        ),
        ("b is null", "c = 0.5 -- c = 0.5D", "d.x = 1", "d.x is null", "b != 'x'"),
    ),
    "dropped_and_added_again": (
        "id BIGINT, a INT, b STRING",
        (
            insert("(1, 10, 'old')"),
            "ALTER TABLE {t} DROP COLUMN b",
            insert("(2, 20)"),
            "ALTER TABLE {t} ADD COLUMN b STRING",
            insert("(3, 30, 'new')"),
            "ALTER TABLE {t} DROP COLUMN a",
            "ALTER TABLE {t} ADD COLUMN a STRING FIRST",
            insert("('text', 4, 'newer')"),
        ),
        ("b = 'old'", "b is null", "a = 'text'", "a is null and b = 'new'"),
    ),
    "renamed": (
        "id BIGINT, a INT, b INT, c STRING",
        (
            insert("(1, 10, 11, 'x')"),
            "ALTER TABLE {t} RENAME COLUMN a TO z",
            "ALTER TABLE {t} RENAME COLUMN b TO a",
            "ALTER TABLE {t} RENAME COLUMN z TO b",
            insert("(2, 20, 21, 'y')"),
            "ALTER TABLE {t} RENAME COLUMN c TO `a.b c-d`",
            insert("(3, 30, 31, 'z')"),
        ),
        ("a = 11", "a = 31 or b = 10", "`a.b c-d` = 'x'"),
    ),
    "moved": (
        "id BIGINT, a INT, s STRUCT<x: INT, y: STRING>, b STRING",
        (
            insert("(1, 10, NAMED_STRUCT('x', 1, 'y', 'p'), 'q')"),
            "ALTER TABLE {t} ALTER COLUMN b FIRST",
            "ALTER TABLE {t} ALTER COLUMN s.y FIRST",
            "ALTER TABLE {t} ALTER COLUMN a AFTER s",
            insert("('r', 2, NAMED_STRUCT('y', 'o', 'x', 2), 20)"),
        ),
        ("s.y = 'p'", "b = 'r'", "a < 20"),
    ),
    "widened": (
        "id BIGINT, i INT, f FLOAT, m DECIMAL(4, 2), n DECIMAL(9, 2), o DECIMAL(18, 2), s STRUCT<i: INT, f: FLOAT>, a ARRAY<INT>, v MAP<STRING, FLOAT>",
        (
            insert(
                "(1, -2147483648, 0.1, -99.99, -1.25, 1.25, NAMED_STRUCT('i', 1, 'f', 0.1), ARRAY(1, NULL), MAP('k', 0.1))",
                "(2, NULL, CAST('NaN' AS FLOAT), NULL, NULL, NULL, NULL, NULL, NULL)",
            ),
            "ALTER TABLE {t} ALTER COLUMN i TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
            "ALTER TABLE {t} ALTER COLUMN m TYPE DECIMAL(10, 2)",
            "ALTER TABLE {t} ALTER COLUMN n TYPE DECIMAL(19, 2)",
            "ALTER TABLE {t} ALTER COLUMN o TYPE DECIMAL(38, 2)",
            "ALTER TABLE {t} ALTER COLUMN s.i TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN s.f TYPE DOUBLE",
            "ALTER TABLE {t} ALTER COLUMN a.element TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN v.value TYPE DOUBLE",
            insert(
                "(3, 9223372036854775807, 0.1D, 99999999.99, 1.25, 1.25, NAMED_STRUCT('i', 5000000000, 'f', 0.1D), ARRAY(5000000000), MAP('k', 0.1D))"
            ),
        ),
        (
            "i < 0",
            "i > 5000000000",
            "f > 0.1 -- f > 0.1D AND NOT isnan(f)",
            "f = 0.1 -- f = 0.1D",
            "m = -99.99",
            "n = 1.25",
            "o <= 1.25",
            "s.i >= 1",
            "s.f < 0.2 -- s.f < 0.2D",
        ),
    ),
    "nested": (
        "id BIGINT, s STRUCT<a: INT, b: STRUCT<c: STRING>>, l ARRAY<STRUCT<a: INT, b: STRING>>, m MAP<STRING, STRUCT<a: INT>>",
        (
            insert(
                "(1, NAMED_STRUCT('a', 1, 'b', NAMED_STRUCT('c', 'x')), ARRAY(NAMED_STRUCT('a', 1, 'b', 'x'), NULL), MAP('k', NAMED_STRUCT('a', 1)))"
            ),
            "ALTER TABLE {t} ADD COLUMN s.b.d INT",
            "ALTER TABLE {t} ADD COLUMN l.element.c DOUBLE",
            "ALTER TABLE {t} ADD COLUMN m.value.b STRING FIRST",
            "ALTER TABLE {t} RENAME COLUMN s.b.c TO e",
            "ALTER TABLE {t} RENAME COLUMN l.element.a TO z",
            "ALTER TABLE {t} DROP COLUMN s.a",
            "ALTER TABLE {t} ADD COLUMN s.a STRING",
            insert(
                "(2, NAMED_STRUCT('b', NAMED_STRUCT('e', 'y', 'd', 2), 'a', 'new'), ARRAY(NAMED_STRUCT('z', 2, 'b', 'y', 'c', 0.5D)), "
                "MAP('k', NAMED_STRUCT('b', 'v', 'a', 2), 'n', NULL))"
            ),
            "ALTER TABLE {t} DROP COLUMN l.element.z",
            "ALTER TABLE {t} DROP COLUMN s.b.e",
            insert("(3, NAMED_STRUCT('b', NULL, 'a', NULL), ARRAY(), MAP())"),
        ),
        ("s.a = 'new'", "s.a is null", "s.b.d = 2", "s.b.d is null"),
    ),
    "all_fields_new": (
        "id BIGINT, s STRUCT<a: INT>, l ARRAY<STRUCT<a: INT>>",
        (
            insert(
                "(1, NAMED_STRUCT('a', 1), ARRAY(NAMED_STRUCT('a', 1), NULL))",
                "(2, NULL, NULL)",
                "(3, NAMED_STRUCT('a', NULL), ARRAY())",
            ),
            "ALTER TABLE {t} ADD COLUMN s.b STRING",
            "ALTER TABLE {t} DROP COLUMN s.a",
            "ALTER TABLE {t} ADD COLUMN l.element.b STRING",
            "ALTER TABLE {t} DROP COLUMN l.element.a",
        ),
        ("s.b is null",),
    ),
    "made_optional": (
        "id BIGINT NOT NULL, a INT NOT NULL, s STRUCT<x: INT NOT NULL> NOT NULL",
        (
            insert("(1, 10, NAMED_STRUCT('x', 1))"),
            "ALTER TABLE {t} ALTER COLUMN a DROP NOT NULL",
            "ALTER TABLE {t} ALTER COLUMN s.x DROP NOT NULL",
            "ALTER TABLE {t} ALTER COLUMN s DROP NOT NULL",
            insert("(2, NULL, NULL)", "(3, 3, NAMED_STRUCT('x', NULL))"),
        ),
        ("a is null", "s.x is null", "a > 3"),
    ),
    "every_column_replaced": (
        "a INT, b INT",
        (
            insert("(1, 2)", "(3, 4)"),
            "ALTER TABLE {t} ADD COLUMN c INT",
            "ALTER TABLE {t} DROP COLUMNS a, b",
            insert("(5)"),
        ),
        ("c is null", "c = 5"),
    ),
}
PARTITIONED: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "renamed_partition_source": (
        "id BIGINT, a INT, s STRING",
        "a, truncate(2, s)",
        (
            insert("(1, 1, 'abc')", "(2, NULL, NULL)"),
            "ALTER TABLE {t} RENAME COLUMN a TO b",
            "ALTER TABLE {t} RENAME COLUMN s TO c",
            insert("(3, 1, 'abd')", "(4, 2, 'x')"),
        ),
        ("b = 1", "c like 'abd%'", "c is null", "b != 1"),
    ),
    "widened_partition_source": (
        "id BIGINT, i INT, j INT, k INT, m DECIMAL(9, 2), f FLOAT",
        "i, bucket(4, j), truncate(10, k), m, f",
        (
            insert(
                "(1, 1, 34, -11, 1.25, 0.5)",
                "(2, NULL, NULL, NULL, NULL, NULL)",
                "(3, 5, 5, 5, -5.00, CAST('NaN' AS FLOAT))",
            ),
            "ALTER TABLE {t} ALTER COLUMN i TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN j TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN k TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN m TYPE DECIMAL(20, 2)",
            "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
            insert("(4, 5000000000, 5000000000, 5000000000, 5000000000.25, 0.1D)"),
        ),
        ("i = 5", "j = 34", "j = 5000000000", "k < 0", "m = 1.25", "m > 5", "f = 0.5 -- f = 0.5D", "i is null"),
    ),
    "dropped_partition_source": (
        "id BIGINT, a INT, b STRING",
        "bucket(2, a), b",
        (
            insert("(1, 1, 'x')", "(2, 2, 'y')"),
            "ALTER TABLE {t} DROP PARTITION FIELD a_bucket",
            "ALTER TABLE {t} DROP PARTITION FIELD b",
            "ALTER TABLE {t} DROP COLUMN b",
            insert("(3, 3)"),
        ),
        ("a = 1", "a > 1"),
    ),
    "sorted": (
        "id BIGINT, a INT, b STRING",
        "bucket(2, id)",
        (
            "ALTER TABLE {t} WRITE ORDERED BY a DESC NULLS LAST, b",
            insert("(1, 5, 'x')", "(2, NULL, 'y')", "(3, 7, NULL)", "(5, 7, 'a')"),
            "ALTER TABLE {t} WRITE UNORDERED",
            insert("(4, 0, '')"),
        ),
        ("a >= 7", "a is null", "b < 'b'"),
    ),
}


def cases() -> list[Case]:
    found = []
    for file_format in FORMATS:
        properties = {"write.format.default": file_format}
        for name, (columns, steps, filters) in STEPS.items():
            made = create(columns, properties=properties)
            found.append(
                Case(
                    f"evolved_{name}_{file_format}",
                    (made, *steps),
                    filters,
                    history=name == "renamed" and file_format == "parquet",
                )
            )
        for name, (columns, spec, steps, filters) in PARTITIONED.items():
            found.append(
                Case(f"evolved_{name}_{file_format}", (create(columns, spec, properties=properties), *steps), filters)
            )
    return found
