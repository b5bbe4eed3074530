"""Programs of SQL statements that the Java reference and icefloe both run, each on tables of its own."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """Statements in order, with `{t}` for a table, `{u}` for another one, `{d}` for their namespace and `{f}` for the format.

    Attributes:
        name: Of the program and of its tables.
        statements: The statements; Java and icefloe return the same rows, or both refuse.
        settings: Settings of the session.
    """

    name: str
    statements: tuple[str, ...]
    settings: dict[str, str] = field(default_factory=dict)


ALL = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
TABLE = ("CREATE TABLE {t} (id BIGINT, p STRING) USING {f}", "INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, NULL)")
SOURCE = "CREATE OR REPLACE TEMPORARY VIEW src AS SELECT * FROM VALUES (1L, 'x'), (2L, 'y'), (9L, 'z') AS v(id, s)"


def merge(name: str, source: str, clauses: str, columns: str = "id BIGINT, p STRING", rows: str = "") -> Program:
    """Return a MERGE WITH SCHEMA EVOLUTION into a table of some columns and rows."""
    return Program(
        f"evolution_{name}",
        (
            f"CREATE TABLE {{t}} ({columns}) USING {{f}}",
            f"INSERT INTO {{t}} VALUES {rows or _ROWS}",
            f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} t USING ({source}) s ON t.id = s.id {clauses}",
            "DESCRIBE {t}",
        ),
    )


_ROWS = "(1, 'a'), (2, 'b')"
_STRUCT = {"columns": "id BIGINT, p STRUCT<a: INT>", "rows": "(1, named_struct('a', 1)), (2, NULL)"}
_WIDE = "SELECT 1L id, named_struct('a', 2, 'b', 3) p"
EVOLUTION = (
    merge("all", "SELECT 1L id, 'q' p, 7 extra UNION ALL SELECT 9L, 'n', 8", ALL),
    merge("fewer", "SELECT 1L id, 7 extra UNION ALL SELECT 9L, 8", ALL),
    merge("same", "SELECT 1L id, 'q' p", ALL),
    merge("case", "SELECT 1L ID, 'q' P, 7 Extra", ALL),
    merge("not_null", "SELECT id, p, coalesce(x, 0) z FROM VALUES (1L, 'q', 3) v(id, p, x)", ALL),
    merge("named", "SELECT 1L id, 'q' p, 7 extra, 8 other", "WHEN MATCHED THEN UPDATE SET extra = s.extra"),
    merge("inserted", "SELECT 9L id, 7 extra", "WHEN NOT MATCHED THEN INSERT (id, extra) VALUES (s.id, s.extra)"),
    merge("unused", "SELECT 1L id, 7 extra", "WHEN MATCHED THEN UPDATE SET p = s.extra"),
    merge("computed", "SELECT 1L id, 7 extra", "WHEN MATCHED THEN UPDATE SET extra = s.extra + 1"),
    merge("literal", "SELECT 1L id, 7 extra", "WHEN MATCHED THEN UPDATE SET extra = 5"),
    merge("deleted", "SELECT 1L id, 7 extra", "WHEN MATCHED THEN DELETE"),
    merge("condition", "SELECT 1L id, 'q' p, 7 extra", "WHEN MATCHED AND t.extra IS NULL THEN UPDATE SET *"),
    merge("rest", "SELECT 1L id, 'q' p, 7 e", f"{ALL} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET e = 1"),
    merge("no_row", "SELECT 77L id, 'q' p, 7 extra", "WHEN MATCHED THEN UPDATE SET *"),
    merge("int", "SELECT 5000000000L id, 'q' p", ALL, "id INT, p STRING"),
    merge("float", "SELECT 1L id, 1.5D p", ALL, "id BIGINT, p FLOAT", "(1, 2)"),
    merge("decimal", "SELECT 1L id, 1.5BD * 100000000 p", ALL, "id BIGINT, p DECIMAL(9, 1)", "(1, 2)"),
    merge("text_to_int", "SELECT 1L id, 5 p", ALL),
    merge("int_to_text", "SELECT 1L id, 'x' p", ALL, "id BIGINT, p INT", "(1, 2)"),
    merge("int_to_double", "SELECT 1L id, 1.5D p", ALL, "id BIGINT, p INT", "(1, 2)"),
    merge(
        "out_of_range",
        "SELECT 1L id, 5000000000L p",
        "WHEN MATCHED THEN UPDATE SET p = s.p + 1",
        "id BIGINT, p INT",
        "(1, 2)",
    ),
    merge("field", f"{_WIDE} UNION ALL SELECT 9L, named_struct('a', 4, 'b', 5)", ALL, **_STRUCT),
    merge("field_order", "SELECT 1L id, named_struct('b', 3, 'a', 9L) p", ALL, **_STRUCT),
    merge("field_named", _WIDE, "WHEN MATCHED THEN UPDATE SET p.b = s.p.b", **_STRUCT),
    merge("struct_named", _WIDE, "WHEN MATCHED THEN UPDATE SET p = s.p", **_STRUCT),
    merge(
        "element",
        "SELECT 1L id, array(named_struct('a', 2, 'b', 3)) p",
        ALL,
        "id BIGINT, p ARRAY<STRUCT<a: INT>>",
        "(1, array(named_struct('a', 1))), (2, NULL)",
    ),
    merge(
        "value",
        "SELECT 1L id, map('k', named_struct('a', 2, 'b', 3)) p",
        ALL,
        "id BIGINT, p MAP<STRING, STRUCT<a: INT>>",
        "(1, map('k', named_struct('a', 1))), (2, NULL)",
    ),
    Program(
        "evolution_off",
        (
            "CREATE TABLE {t} (id BIGINT, p STRING) USING {f} TBLPROPERTIES ('write.spark.auto-schema-evolution.enabled' = 'false')",
            f"INSERT INTO {{t}} VALUES {_ROWS}",
            f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} t USING (SELECT 1L id, 'q' p, 7 e) s ON t.id = s.id {ALL}",
            "DESCRIBE {t}",
        ),
    ),
    Program(
        "evolution_exact_case",
        (*TABLE, f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} t USING (SELECT 1L id, 'q' P) s ON t.id = s.id {ALL}"),
        {"spark.sql.caseSensitive": "true"},
    ),
)
_SEVERAL = (
    "FROM (SELECT id, upper(s) u FROM src) x INSERT INTO TABLE {t} SELECT x.id, x.u "
    "INSERT OVERWRITE TABLE {u} SELECT id, u, 2 GROUP BY id, u ORDER BY id LIMIT 2"
)
_WITH_SECRETS = (
    "CREATE TABLE {t} (id BIGINT NOT NULL, p STRING, s STRUCT<b: INT NOT NULL> NOT NULL, ts TIMESTAMP) USING {f} "
    "PARTITIONED BY (p) COMMENT 'hey' TBLPROPERTIES ('k' = 'v', 'my.secret' = 'pw', 'url' = 'u', 'x' = 'a token')"
)
_METADATA_TABLES = ("files", "all_delete_files", "entries", "partitions", "manifests", "snapshots", "refs", "history")
_PATTERNS = (
    "PATT*",
    "x|patterns",
    "patt.rns",
    "pattern[st]",
    " patterns ",
    "patt%",
    "patt_rns",
    "x | patterns",
    "(",
    "(|patterns",
    "",
)
STATEMENTS = (
    Program(
        "multi_insert",
        (
            SOURCE,
            *TABLE,
            "CREATE TABLE {u} (id BIGINT, q STRING, r INT) USING {f}",
            "FROM src INSERT INTO {t} SELECT id, s WHERE id = 1 INSERT INTO {u} SELECT id, s, 1 WHERE id > 1",
            "SELECT * FROM {u}",
            _SEVERAL,
            "FROM {t} INSERT INTO {t} SELECT id + 100, p WHERE id = 1 INSERT INTO {t} SELECT id + 200, p WHERE id = 2",
            "WITH w AS (SELECT 55L id, 'w' s) FROM w INSERT INTO {t} SELECT id, s INSERT INTO {u} SELECT id, s, 5",
            "FROM src INSERT INTO {t} BY NAME SELECT s AS p, id INSERT INTO {u} (r, id) SELECT 3, id",
            "FROM src LATERAL VIEW explode(array(1, 2)) e AS n INSERT INTO {t} SELECT n, s",
            "FROM src, src b INSERT INTO {t} SELECT src.id, b.s WHERE src.id = b.id",
            "FROM src INSERT INTO {t} SELECT id, s INSERT INTO {u} SELECT id",
            "FROM src INSERT INTO {t} SELECT id, s INSERT INTO {d}.absent SELECT id",
            "FROM src SELECT id, s INSERT INTO {t} SELECT id, s",
            "FROM src INSERT INTO {t} SELECT id, s UNION ALL SELECT 1, 'x'",
            "SELECT * FROM {u}",
        ),
    ),
    Program(
        "properties",
        (
            _WITH_SECRETS,
            "SHOW TBLPROPERTIES {t}",
            "ALTER TABLE {t} WRITE ORDERED BY p DESC, bucket(4, id) ASC NULLS LAST, days(ts), truncate(2, p)",
            "ALTER TABLE {t} SET IDENTIFIER FIELDS s.b",
            "SHOW TBLPROPERTIES {t}",
            *(
                f"SHOW TBLPROPERTIES {{t}} ({key})"
                for key in ("'k'", "k", "'format'", "'provider'", "'comment'", "a.b")
            ),
            "SHOW TBLPROPERTIES {t}.snapshots",
            "SHOW TBLPROPERTIES {d}.absent",
            "DESCRIBE {t}",
            "DESCRIBE {t} id",
        ),
    ),
    Program(
        "partitioning",
        (
            "CREATE TABLE {t} (id BIGINT COMMENT 'i', p STRUCT<a: INT>, ts TIMESTAMP) USING {f} PARTITIONED BY (id, p.a)",
            "DESCRIBE {t}",
            "ALTER TABLE {t} ADD PARTITION FIELD days(ts)",
            "DESCRIBE {t}",
            "ALTER TABLE {t} DROP PARTITION FIELD id",
            "DESCRIBE {t}",
        ),
    ),
    Program(
        "lists",
        (
            SOURCE,
            *TABLE,
            "SHOW VIEWS IN {d}",
            "SHOW VIEWS FROM {d} LIKE 's*'",
            "SHOW VIEWS IN {d} LIKE 'zz'",
            "SHOW TABLE EXTENDED IN {d} LIKE 'zz*'",
            "SHOW TABLES IN {d} LIKE 'zz*'",
            "REFRESH {t}",
            "CREATE EXTERNAL TABLE {u} (id INT) USING {f}",
            "SELECT * FROM {u}",
        ),
    ),
    Program(
        "metadata_columns",
        (
            "CREATE TABLE {t} (id BIGINT, p STRING) USING {f} PARTITIONED BY (p)",
            *(f"DESCRIBE {{t}}.{name}" for name in _METADATA_TABLES),
        ),
    ),
    Program(
        "patterns",
        (
            *TABLE,
            *(f"SHOW TABLES IN {{d}} LIKE '{one}'" for one in _PATTERNS),
            "SHOW NAMESPACES IN {c} LIKE 'statement%'",
            "SHOW NAMESPACES IN {c} LIKE 'Statement*'",
            "SHOW USER FUNCTIONS IN {d} LIKE 'b%'",
        ),
    ),
    Program(
        "refused",
        (
            *TABLE,
            *(
                text.replace("KEY", key)
                for key in ("owner", "external", "provider", "location")
                for text in (
                    "CREATE TABLE {u} (id INT) USING {f} TBLPROPERTIES ('KEY' = 'x')",
                    "ALTER TABLE {t} SET TBLPROPERTIES ('KEY' = 'x')",
                    "ALTER TABLE {t} UNSET TBLPROPERTIES ('KEY')",
                    "CREATE NAMESPACE {d}.inner WITH PROPERTIES ('KEY' = 'x')",
                )
            ),
            "SHOW TBLPROPERTIES {t} ('owner')",
            "SHOW PARTITIONS {t}",
            "ANALYZE TABLE {t} COMPUTE STATISTICS",
            "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
            "CREATE VIEW {d}.v AS SELECT * FROM {t}",
            "SHOW PROCEDURES IN {d}",
            "SHOW PROCEDURES IN {c}.absent",
            "SHOW PROCEDURES IN {c} LIKE 'r*'",
            "DESCRIBE PROCEDURE {d}.expire_snapshots",
            "DESCRIBE PROCEDURE {c}.system.absent",
        ),
    ),
    Program(
        "nondeterministic",
        (
            SOURCE,
            *TABLE,
            *(
                f"{change} WHERE {condition}"
                for change in ("DELETE FROM {t}", "UPDATE {t} SET p = 'x'")
                for condition in (
                    "rand() < 2",
                    "id > 100 AND uuid() IS NULL",
                    "monotonically_increasing_id() = 1",
                    "id IN (SELECT int(rand() * 0) + 1)",
                    "EXISTS (SELECT 1 FROM src WHERE rand() < 2)",
                )
            ),
            "DELETE FROM {t} WHERE id > 2 AND current_timestamp() IS NOT NULL AND upper(p) IS NULL",
            "UPDATE {t} SET p = string(rand() < 2) WHERE id = 1",
            *(
                f"MERGE INTO {{t}} t USING src s ON t.id = s.id {rest}"
                for rest in (
                    "AND rand() < 2 WHEN MATCHED THEN DELETE",
                    "AND rand() < s.id WHEN MATCHED THEN DELETE",
                    "WHEN MATCHED AND rand() < 2 THEN DELETE",
                    "WHEN NOT MATCHED AND rand() < 2 THEN INSERT (id) VALUES (s.id)",
                    "WHEN NOT MATCHED BY SOURCE AND rand() < 2 THEN DELETE",
                    "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, string(rand() < 2))",
                )
            ),
        ),
    ),
    Program(
        "raw_texts",
        (
            *TABLE,
            "INSERT INTO {t} VALUES (4, r'it''s'), (5, r'c:\\new'), (6, 'it''s')",
            "SELECT id FROM {t} WHERE p = r'it''s'",
            'SELECT id FROM {t} WHERE p = R"i"\'t\' r"s"',
            "SELECT id, r'a' r'\\b\\' AS x, 'a''b' AS y FROM {t} WHERE p = r'c:\\new'",
            "UPDATE {t} SET p = r'd''\\t' WHERE p = r'c:\\new'",
            "DELETE FROM {t} WHERE p = r'it''s'",
        ),
    ),
    Program(
        "pipes",
        (
            SOURCE,
            *TABLE,
            "FROM {t} |> WHERE id = 1 |> SELECT p",
            "FROM {t} |> AGGREGATE count(*) AS n GROUP BY p |> ORDER BY p",
            "TABLE {t} |> EXTEND id + 1 AS j |> DROP p |> WHERE j = 2",
            "FROM {t} |> AS x |> JOIN src USING (id) |> SELECT id, s |> ORDER BY id",
            "FROM {t} |> UNION ALL SELECT * FROM {t} |> WHERE id = 3",
            "FROM {t} |> UNION ALL SELECT z.* FROM {t} AS z |> WHERE id = 3",
            "FROM {t} |> UNION ALL SELECT z.* FROM {t} AS z |> WHERE nope = 3",
            "WITH RECURSIVE r(n) AS (SELECT min(id) FROM {t} UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
        ),
    ),
    Program(
        "names_and_texts",
        (
            *TABLE,
            "SELECT * FROM IDENTIFIER('{t}') WHERE id = 1",
            "SELECT IDENTIFIER('id') FROM IDENTIFIER('{d}.' || 'names_and_texts') WHERE IDENTIFIER('id') = 1",
            "INSERT INTO IDENTIFIER('{t}') VALUES (88, 'i')",
            "UPDATE IDENTIFIER('{t}') SET p = 'u' WHERE id = 2",
            "DELETE FROM IDENTIFIER('{t}') WHERE id = 88",
            "DESCRIBE IDENTIFIER('{t}')",
            "DECLARE OR REPLACE VARIABLE q STRING DEFAULT 'SELECT count(*) AS n FROM {t}'",
            "EXECUTE IMMEDIATE q",
            "EXECUTE IMMEDIATE 'SELECT * FROM {t} WHERE id = :a' USING (1 AS a)",
            "EXECUTE IMMEDIATE 'SELECT * FROM {t} WHERE id = ? OR id = ?' USING 1, 1 + 1",
            "EXECUTE IMMEDIATE 'INSERT INTO {t} VALUES (77, NULL)'",
            "DECLARE OR REPLACE VARIABLE n BIGINT",
            "EXECUTE IMMEDIATE 'SELECT max(id) FROM {t}' INTO n",
            "SELECT n",
            "EXECUTE IMMEDIATE 'SELECT id FROM {t} WHERE id = 1000' INTO n",
            "SELECT n",
            "EXECUTE IMMEDIATE 'SELECT id FROM {t}' INTO n",
            "SET VAR n = (SELECT min(id) FROM {t})",
            "SELECT n",
            "SET VARIABLE (n, q) = (SELECT id, p FROM {t} WHERE id = 2)",
            "SELECT n, q",
            "SET VAR n = 1 + (SELECT count(*) FROM {t}), q = 'x'",
            "SELECT n, q",
            "CACHE TABLE cached AS SELECT * FROM {t}",
            "SELECT count(*) AS n FROM cached",
            "CACHE TABLE cached AS SELECT * FROM {t}",
            "UNCACHE TABLE cached",
            "DROP TEMPORARY VARIABLE n",
        ),
    ),
)
_TYPED = (
    "SELECT 34L id, 'iceberg' n, DATE '2017-11-16' d, TIMESTAMP '1969-12-31 22:31:08' ts, TIMESTAMP_NTZ '2017-11-16 22:31:08' tn, "
    "-14.20BD c, X'000102' b, 7 i UNION ALL SELECT -1L, 'é😀', NULL, NULL, NULL, NULL, NULL, NULL"
)
CATALOGS = (
    Program(
        "catalog_functions",
        (
            f"CREATE TABLE {{t}} USING {{f}} AS {_TYPED}",
            *(
                "SELECT " + ", ".join(f"{{c}}.system.bucket(16, {name}) AS {name}" for name in names) + " FROM {t}"
                for names in (("id", "n", "d", "ts"), ("tn", "c", "b", "i"))
            ),
            "SELECT {c}.system.truncate(10, id) a, {c}.system.truncate(2, n) b, {c}.system.truncate(3, c) c, {c}.system.truncate(1, b) d FROM {t}",
            *(
                "SELECT {c}.system."
                + f", {{c}}.system.{name}(ts) b, {{c}}.system.{name}(tn) c FROM {{t}}".replace(
                    ", ", f"{name}(d) a, ", 1
                )
                for name in ("years", "months", "days")
            ),
            "SELECT {c}.system.hours(ts) a, {c}.system.hours(tn) b FROM {t}",
            "SELECT {c}.system.hours(d) a FROM {t}",
            "SELECT {c}.system.bucket(i, id) a, {c}.system.bucket(4L, id) b FROM {t}",
            "SELECT {c}.system.bucket(i, id) a FROM {t} WHERE {c}.system.truncate(10, id) = 30",
            "SELECT {c}.system.bucket(4, id) a, count(*) n FROM {t} GROUP BY {c}.system.bucket(4, id) HAVING count(*) = 1",
            "UPDATE {t} SET i = {c}.system.bucket(8, n) WHERE {c}.system.bucket(16, id) = 3",
            (
                "MERGE INTO {t} t USING (SELECT 34L k) s ON {c}.system.bucket(16, t.id) = {c}.system.bucket(16, s.k) WHEN MATCHED THEN "
                "UPDATE SET n = {c}.system.truncate(1, t.n)"
            ),
            "DELETE FROM {t} WHERE {c}.system.truncate(10, id) = -10",
        ),
    ),
    Program(
        "current_namespace",
        (
            *TABLE,
            "USE {d}",
            "SELECT count(*) n FROM current_namespace",
            "SELECT current_database() AS s",
            "INSERT INTO current_namespace VALUES (9, 'z')",
            "UPDATE current_namespace SET p = 'y' WHERE current_namespace.id = 9",
            "WITH current_namespace AS (SELECT 1 AS n) SELECT * FROM current_namespace",
            "SHOW TABLES LIKE 'current_namesp*'",
            "SHOW COLUMNS IN current_namespace",
            "SHOW USER FUNCTIONS",
            "SELECT * FROM current_namespace.snapshots",
            "SELECT count(*) n FROM statements.current_namespace.snapshots",
            "USE absent",
            "CACHE TABLE current_namespace",
            "DELETE FROM current_namespace WHERE id = 9",
            "SELECT max(id) n FROM current_namespace",
            "UNCACHE TABLE current_namespace",
            "UNCACHE TABLE absent",
            "UNCACHE TABLE IF EXISTS absent",
            "DROP VIEW IF EXISTS absent",
            "DROP VIEW absent",
            "USE spark_catalog.default",
            "SELECT * FROM current_namespace",
            "ALTER TABLE {t} DEFAULT COLLATION UTF8_LCASE",
            "ALTER TABLE {t} DEFAULT COLLATION absent",
        ),
    ),
)
PROGRAMS = (*EVOLUTION, *STATEMENTS, *CATALOGS)
