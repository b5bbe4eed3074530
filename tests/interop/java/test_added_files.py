"""ORC and Avro files that exist, added to tables by the Java reference and by icefloe: the entries, and the rows that both read."""

from __future__ import annotations

from typing import Any

import pytest
from icefloe.catalog import load_catalog
from icefloe.table import Table

from tests.exact_rows import exact
from tests.interop.java.added_files import LAYOUTS, NAMESPACE, SOURCES, Source

pytestmark = [
    pytest.mark.interop,
    pytest.mark.parametrize("layout", LAYOUTS),
    pytest.mark.parametrize("source", [pytest.param(one, id=one.name) for one in SOURCES]),
]

ORC_HEADER_BYTES = 3


def tables(java: Any, source: Source, layout: str) -> list[Table]:
    """Return the table that Java added the files to, and icefloe's."""
    java.check(f"added-{source.name}-{layout}")
    catalog = load_catalog("ours", type="hadoop", warehouse=str(java.folder / "warehouse"))
    names = (f"{source.name}_{layout}", f"{source.name}_{layout}_ours")
    return [catalog.load_table(f"{NAMESPACE}.{name}") for name in names]


def entries(table: Table) -> list[dict[str, Any]]:
    """Return the rows of the metadata table `files`, with metrics in the order of ids and locations without a scheme."""
    found = []
    for row in table.inspect.files().drop_columns("readable_metrics").to_pylist():
        plain = {
            key: sorted(value) or None if isinstance(value, list) and key != "split_offsets" else value
            for key, value in row.items()
        }
        found.append({**plain, "file_path": row["file_path"].removeprefix("file:")})
    return sorted(found, key=lambda row: row["file_path"])


def test_entries_are_those_of_java(java, source, layout):
    theirs, ours = (entries(table) for table in tables(java, source, layout))
    # Java leaves out where its own ORC files may be split.
    offsets = [ORC_HEADER_BYTES] if source.file_format == "orc" else None
    assert ours == [{**row, "split_offsets": offsets} for row in theirs]
    assert len(ours) == (1 if layout == "plain" else 2)


def test_java_reads_equal_rows_of_both_tables(java, source, layout):
    name = f"added-{source.name}-{layout}"
    tables(java, source, layout)
    theirs, ours = java.answer(name, "theirs"), java.answer(name, "ours")
    assert ours.num_rows == 8
    assert exact(ours) == exact(theirs)


def test_both_tables_have_the_rows_of_java(java, source, layout):
    expected = java.answer(f"added-{source.name}-{layout}", "theirs")
    for table in tables(java, source, layout):
        assert exact(table.scan().to_arrow()) == exact(expected)


def test_filters_find_equal_rows_in_both_tables(java, source, layout):
    theirs, ours = tables(java, source, layout)
    for text in source.filters:
        found = theirs.scan(text).to_arrow()
        assert 0 < found.num_rows <= 8
        assert exact(ours.scan(text).to_arrow()) == exact(found), text


def test_name_mappings_are_those_of_java(java, source, layout):
    theirs, ours = tables(java, source, layout)
    assert ours.name_mapping() == theirs.name_mapping()
