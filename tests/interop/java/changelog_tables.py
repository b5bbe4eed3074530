"""Tables of which Java tells the changes. It cannot where delete files are."""

from __future__ import annotations

from typing import Any

from tests.interop.java.case import Case, create, insert

COLUMNS = "id BIGINT, kind STRING, value DOUBLE, at STRUCT<x: INT, l: ARRAY<STRING>>"
# Arguments of the procedure, and what they are called here.
VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "all": ("", {}),
    "updates": (", identifier_columns => array('id')", {"identifier_columns": ("id",)}),
    "net": (", net_changes => true", {"net_changes": True}),
}


def answers(case: str) -> str:
    """Where the answers about the changes of a case are."""
    return f"{case}_changes"


def told(case: str) -> Any:
    """A step that asks for the changes in every way, all of them and those after the second snapshot."""

    def ask(writer: Any, table: str) -> None:
        second = writer.spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at").collect()[1][0]
        ranges = {"": "", "_since": f", options => map('start-snapshot-id', '{second}')"}
        for name, (arguments, _) in VIEWS.items():
            for suffix, options in ranges.items():
                view = f"{case}_{name}{suffix}"
                call = f"create_changelog_view(table => '{table}', changelog_view => '{view}'{arguments}{options})"
                writer.spark.sql(f"CALL java.system.{call}")
                writer.answer(f"SELECT * FROM {view}", answers(case), f"{name}{suffix}")

    return ask


def cases() -> list[Case]:
    first = insert(
        "(1, 'a', 0.5, named_struct('x', 1, 'l', array('p', NULL)))",
        "(2, 'b', NULL, NULL)",
        "(3, NULL, DOUBLE('NaN'), named_struct('x', NULL, 'l', array()))",
        "(4, 'b', 4.0, NULL)",
    )
    steps = (
        first,
        insert("(5, 'a', 5.0, NULL)", "(6, 'c', 6.0, named_struct('x', 6, 'l', NULL))"),
        "UPDATE {t} SET value = 20.0 WHERE id = 2",
        "DELETE FROM {t} WHERE id IN (1, 5)",
        """MERGE INTO {t} USING (SELECT * FROM VALUES (3, 'moved'), (7, 'new') AS s(id, kind)) s ON {t}.id = s.id
           WHEN MATCHED THEN UPDATE SET kind = s.kind WHEN NOT MATCHED THEN INSERT (id, kind) VALUES (s.id, s.kind)""",
        "CALL java.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",
        insert("(1, 'a', 0.5, named_struct('x', 1, 'l', array('p', NULL)))"),
        "DELETE FROM {t} WHERE kind = 'c'",
        "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE id <> 4",
    )
    return [
        Case("changed", (create(COLUMNS), *steps, told("changed"))),
        Case("changed_partitions", (create(COLUMNS, "kind"), *steps, told("changed_partitions"))),
        Case("changed_buckets", (create(COLUMNS, "bucket(3, id)"), *steps, told("changed_buckets"))),
    ]
