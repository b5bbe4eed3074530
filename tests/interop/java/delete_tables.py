"""Tables with deletes: rows rewritten, deleted by position, deleted by the equality of columns."""

from __future__ import annotations

from typing import Any

from tests.interop.java.case import FORMATS, MERGE_ON_READ, Case, create, insert

COLUMNS = "id BIGINT, kind STRING, amount INT"
ROWS = (
    "INSERT INTO {t} SELECT id, IF(id % 5 = 0, NULL, CONCAT('k', id % 3)), CAST(id % 10 AS INT) FROM RANGE(0, 60, 1, 1)"
)
CHANGES = (
    ROWS,
    "DELETE FROM {t} WHERE id % 7 = 3",
    "UPDATE {t} SET amount = amount + 100, kind = 'changed' WHERE id % 10 = 4",
    ROWS.replace("RANGE(0, 60", "RANGE(60, 90"),
    (
        "MERGE INTO {t} USING (SELECT id, 'merged' AS kind FROM RANGE(80, 100)) s ON {t}.id = s.id WHEN MATCHED AND s.id < 83 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET kind = s.kind WHEN NOT MATCHED THEN INSERT (id, kind) VALUES (s.id, s.kind)"
    ),
    "DELETE FROM {t} WHERE kind IS NULL AND id > 20",
)
EVOLUTION = (
    ROWS,
    "DELETE FROM {t} WHERE id % 3 = 0",
    "ALTER TABLE {t} REPLACE PARTITION FIELD id_trunc WITH kind",
    "ALTER TABLE {t} RENAME COLUMN amount TO total",
    "ALTER TABLE {t} ADD COLUMN amount STRING FIRST",
    "INSERT INTO {t} SELECT 'new', id, 'k1', 5 FROM RANGE(100, 110, 1, 1)",
    "DELETE FROM {t} WHERE total = 5",
    "UPDATE {t} SET kind = 'moved' WHERE id % 4 = 1",
)
MAINTENANCE = (
    "CALL java.system.rewrite_position_delete_files(table => '{t}', options => map('rewrite-all', 'true'))",
    "CALL java.system.rewrite_manifests('{t}')",
    "DELETE FROM {t} WHERE id IN (1, 2)",
    "CALL java.system.rewrite_data_files(table => '{t}', where => 'id < 30', options => map('rewrite-all', 'true'))",
    "DELETE FROM {t} WHERE id IN (5, 6, 95)",
)
FILTERS = (
    "id >= 60",
    "kind is null",
    "kind = 'changed' and amount > 100",
    "amount in (104, 3) or id = 81",
    "kind != 'k1'",
    "id = 3",
)


def generic_writer(writer: Any, table: Any, file_format: str, ids: list[int] | None = None) -> Any:
    """Java's writer of its generic records, for equality deletes of some columns."""
    builder = getattr(writer.iceberg.data, "GenericFileWriterFactory$Builder")(table)
    kind = getattr(writer.iceberg.FileFormat, file_format.upper())
    builder = builder.dataFileFormat(kind).deleteFileFormat(kind).dataSchema(table.schema())
    if ids is not None:
        builder = builder.equalityFieldIds(writer.ints(ids)).equalityDeleteRowSchema(writer.schema_of(table, ids))
    return builder.build()


def equality(
    *columns: str,
    rows: tuple[tuple[Any, ...], ...],
    spec: int | None = None,
    partition: tuple[Any, ...] = (),
    file_format: str = "parquet",
) -> Any:
    """A step that deletes, from a partition or from the whole table, the rows that have these values in these columns."""

    def step(writer: Any, name: str) -> None:
        table = writer.load(name)
        ids = [table.schema().findField(column).fieldId() for column in columns]
        chosen = table.spec() if spec is None else table.specs().get(spec)
        delta = table.newRowDelta()
        delta.addDeletes(equality_file(writer, table, ids, rows, chosen, partition, file_format)).commit()

    return step


def equality_file(
    writer: Any, table: Any, ids: list[int], rows: Any, spec: Any, partition: tuple[Any, ...], file_format: str
) -> Any:
    maker = generic_writer(writer, table, file_format, ids)
    out = maker.newEqualityDeleteWriter(writer.output(table, file_format), spec, writer.partition(spec, partition))
    return writer.write_records(out, [table.schema().findField(each) for each in ids], rows).toDeleteFile()


def rows_and_deletes_together(file_format: str) -> Any:
    """One commit of new rows, equality deletes that spare them, and position deletes that do not."""

    def step(writer: Any, name: str) -> None:
        table = writer.load(name)
        maker = generic_writer(writer, table, file_format)
        data = maker.newDataWriter(writer.output(table, file_format), table.spec(), None)
        writer.write_records(data, list(table.schema().columns()), [(1000 + n, "k1", n) for n in range(5)])
        positions = maker.newPositionDeleteWriter(writer.output(table, file_format), table.spec(), None)
        positions.write(writer.iceberg.deletes.PositionDelete.create().set(data.toDataFile().location(), 1))
        positions.close()
        kinds = equality_file(writer, table, [2], (("k1",),), table.spec(), (), file_format)
        table.newRowDelta().addRows(data.toDataFile()).addDeletes(positions.toDeleteFile()).addDeletes(kinds).commit()

    return step


def by_statements(file_format: str) -> list[Case]:
    """Deletes by Spark's own statements; in formats other than Parquet one layout stands for all."""
    found = []
    stored = {"write.format.default": file_format}
    layouts = {"whole": "", "parts": "kind, bucket(3, id)"} if file_format == "parquet" else {"parts": "kind"}
    for granularity in ("file", "partition") if file_format == "parquet" else ("file",):
        properties = {**stored, **MERGE_ON_READ, "write.delete.granularity": granularity}
        for name, spec in layouts.items():
            made = create(COLUMNS, spec, properties=properties)
            found.append(Case(f"positions_{granularity}_{name}_{file_format}", (made, *CHANGES), FILTERS))
    evolving = (create(COLUMNS, "truncate(20, id)", properties={**stored, **MERGE_ON_READ}), *EVOLUTION)
    filters = ("total > 3", "amount is null", "kind = 'moved'", "id < 20 and kind is not null")
    found.append(Case(f"positions_and_evolution_{file_format}", evolving, filters, history=True))
    return found


def in_one_format() -> list[Case]:
    """Cases that do not depend on the format, and one table in all formats."""
    maintained = (create(COLUMNS, "bucket(2, id)", properties=MERGE_ON_READ), *CHANGES, *MAINTENANCE)
    mixed = [create(COLUMNS.replace("BIGINT", "INT"), properties=MERGE_ON_READ)]
    for place, file_format in enumerate(FORMATS):
        others = FORMATS[(place + 1) % len(FORMATS)]
        mixed += [
            f"ALTER TABLE {{t}} SET TBLPROPERTIES ('write.format.default'='{file_format}', 'write.delete.format.default'='{others}')",
            ROWS,
            f"DELETE FROM {{t}} WHERE id % 13 = {place}",
            equality("amount", "kind", rows=((place, "k0"), (5 + place, None)), file_format=others),
        ]
    return [
        *(
            Case(f"rewritten_v{version}", (create(COLUMNS, "kind", version=version), *CHANGES), FILTERS, history=True)
            for version in (1, 2)
        ),
        Case("compacted", maintained, FILTERS, history=True),
        Case("mixed_formats", tuple(mixed), FILTERS, history=True),
    ]


def by_equality(file_format: str) -> list[Case]:
    stored = {"write.format.default": file_format}
    narrow = COLUMNS.replace("BIGINT", "INT")
    whole = create(narrow, properties=stored)
    parted = create(narrow, "kind", properties=stored)
    whole_story = file_format == "parquet"
    several = (
        whole,
        ROWS,
        equality("id", rows=((3,), (4,), (1000,)), file_format=file_format),
        equality("kind", "amount", rows=(("k1", 7), (None, 5), ("k2", None)), file_format=file_format),
        ROWS,
        equality("amount", rows=((None,), (9,)), file_format=file_format),
        "DELETE FROM {t} WHERE id = 10",
    )
    scoped = (
        parted,
        ROWS,
        equality("amount", rows=((1,), (2,)), partition=("k1",), file_format=file_format),
        equality("amount", rows=((5,),), partition=(None,), file_format=file_format),
        "ALTER TABLE {t} DROP PARTITION FIELD kind",
        equality("amount", rows=((3,),), file_format=file_format),
        ROWS,
        equality("id", rows=((11,), (59,)), file_format=file_format),
    )
    # Not its whole history: before the column was widened, Java does not find the numbers that delete rows.
    evolved = (
        whole,
        ROWS,
        equality("kind", rows=(("k1",),), file_format=file_format),
        equality("amount", "id", rows=((2, 2), (3, 3), (4, 5)), file_format=file_format),
        "ALTER TABLE {t} ALTER COLUMN amount TYPE BIGINT",
        "ALTER TABLE {t} RENAME COLUMN amount TO total",
        "ALTER TABLE {t} DROP COLUMN kind",
        "ALTER TABLE {t} ADD COLUMN sort STRING",
        "INSERT INTO {t} VALUES (100, 7, 'k1'), (101, 5000000000, 'k2'), (102, NULL, NULL)",
        equality("total", rows=((7,), (8,)), file_format=file_format),
        "ALTER TABLE {t} CREATE TAG widened",
        "INSERT INTO {t} VALUES (103, 7, 'k1')",
        equality("sort", "id", rows=((None, 0), (None, 102), ("k2", 100)), file_format=file_format),
    )
    # Java refuses to read this one: two of its fields have one name.
    reborn = (
        whole,
        insert("(1, 'a', 1)", "(2, 'b', 2)", "(3, NULL, 3)"),
        equality("kind", rows=(("a",),), file_format=file_format),
        "ALTER TABLE {t} DROP COLUMN kind",
        "ALTER TABLE {t} ADD COLUMN kind STRING",
        "INSERT INTO {t} VALUES (4, 4, 'a'), (5, 5, NULL)",
        equality("kind", "id", rows=((None, 2), (None, 5), ("a", 3)), file_format=file_format),
        "INSERT INTO {t} VALUES (6, 6, 'a')",
    )
    left = "VALUES (3, 3, CAST(NULL AS STRING)), (4, 4, 'a'), (6, 6, 'a') AS t(id, amount, kind)"
    together = (whole, ROWS, rows_and_deletes_together(file_format), insert("(2000, 'k1', 1)"))
    return [
        Case(f"equality_{file_format}", several, FILTERS, history=whole_story),
        Case(f"equality_in_partitions_{file_format}", scoped, FILTERS, history=whole_story),
        Case(
            f"equality_and_evolution_{file_format}",
            evolved,
            ("total > 5", "sort = 'k1'", "sort is null and id < 30", "id = 102"),
            reads=("widened",),
        ),
        Case(
            f"equality_on_a_name_used_again_{file_format}",
            reborn,
            ("kind = 'a'", "kind is null", "amount > 3"),
            answered_by=left,
        ),
        Case(f"equality_and_rows_together_{file_format}", together, FILTERS, history=whole_story),
    ]


def cases() -> list[Case]:
    in_formats = [case for each in FORMATS for case in (*by_statements(each), *by_equality(each))]
    return [*in_formats, *in_one_format()]
