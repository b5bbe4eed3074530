"""Tables whose changes Java reports. Java cannot report changes of tables with delete files."""

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
# Numbers of the snapshot before the range and of the last snapshot of the range.
RANGES: dict[str, tuple[int | None, int | None]] = {"": (None, None), "_since": (1, None), "_between": (1, 5)}
# Java reports no updates of tables in which rows share an identifier.
TWINS = "changed_twins"


def views_of_cases() -> list[tuple[str, str, str]]:
    """Every case, view and range that there is an answer to."""
    return [(case.name, view, span) for case in cases() for view in _views(case.name) for span in RANGES]


def answers(case: str) -> str:
    """The directory of the answers about the changes of a case."""
    return f"{case}_changes"


def reported(case: str) -> Any:
    """A step that asks for the changes in every way."""

    def ask(writer: Any, table: str) -> None:
        found = writer.spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at").collect()
        for name in _views(case):
            for suffix, span in RANGES.items():
                view = f"{case}_{name}{suffix}"
                ends = zip(("start-snapshot-id", "end-snapshot-id"), span, strict=True)
                given = [f"'{option}', '{found[number][0]}'" for option, number in ends if number is not None]
                options = f", options => map({', '.join(given)})" if given else ""
                call = f"create_changelog_view(table => '{table}', changelog_view => '{view}'{VIEWS[name][0]}{options})"
                writer.spark.sql(f"CALL java.system.{call}")
                writer.answer(f"SELECT * FROM {view}", answers(case), f"{name}{suffix}")

    return ask


def cases() -> list[Case]:
    return [
        _case("changed", _changed()),
        _case("changed_partitions", _changed(), "kind"),
        _case("changed_buckets", _changed(), "bucket(3, id)"),
        _case("changed_back", _undone()),
        _case("changed_back_partitions", _undone(), "kind"),
        _case(
            "changed_shape", _undone("ALTER TABLE {t} ADD COLUMN more INT", "ALTER TABLE {t} ADD PARTITION FIELD kind")
        ),
        _case(TWINS, (_twins(), _twins("(8, 'd', 8.0, NULL)"), *_undone(), *_more_twins())),
    ]


def _case(name: str, steps: tuple[str, ...], partitioned: str = "") -> Case:
    return Case(name, (create(COLUMNS, partitioned), *steps, reported(name)))


def _views(case: str) -> list[str]:
    return [view for view in VIEWS if view != "updates" or case != TWINS]


def _changed() -> tuple[str, ...]:
    return (
        insert(
            "(1, 'a', 0.5, named_struct('x', 1, 'l', array('p', NULL)))",
            "(2, 'b', NULL, NULL)",
            "(3, NULL, DOUBLE('NaN'), named_struct('x', NULL, 'l', array()))",
            "(4, 'b', 4.0, NULL)",
        ),
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


def _undone(*evolution: str) -> tuple[str, ...]:
    """Steps that undo and repeat what others did, and change the same rows twice."""
    return (
        insert(
            "(1, 'a', 1.0, NULL)",
            "(2, 'b', NULL, NULL)",
            "(3, NULL, DOUBLE('NaN'), NULL)",
            "(NULL, 'n', 4.0, NULL)",
            "(4, 'b', 3.5, named_struct('x', 4, 'l', array('q')))",
        ),
        insert("(6, 'e', 6.0, named_struct('x', 6, 'l', array('q')))"),
        "DELETE FROM {t} WHERE id = 2",
        "INSERT INTO {t} (id, kind) VALUES (2, 'b'), (7, 'g')",
        *evolution,
        "UPDATE {t} SET value = value + 1 WHERE id IN (3, 4, 6)",
        "DELETE FROM {t} WHERE id = 7",
        "UPDATE {t} SET value = 40.0, kind = 'b' WHERE id IS NULL",
        "UPDATE {t} SET value = CASE WHEN id = 6 THEN 6.0 ELSE 3.0 END WHERE id IN (4, 6)",
        "DELETE FROM {t} WHERE id IS NULL",
        "INSERT INTO {t} (id, kind, value) VALUES (8, 'b', 8.0)",
    )


def _twins(*more: str) -> str:
    return insert("(5, 'd', 5.0, NULL)", "(5, 'd', 5.0, NULL)", *more)


def _more_twins() -> tuple[str, ...]:
    return (
        "DELETE FROM {t} WHERE id = 8",
        _twins(),
        "UPDATE {t} SET value = 6.0 WHERE id = 5",
        "UPDATE {t} SET value = 5.0 WHERE id = 5",
        _twins("(5, 'd', 6.0, NULL)"),
        "DELETE FROM {t} WHERE value = 6.0",
        _twins(),
    )
