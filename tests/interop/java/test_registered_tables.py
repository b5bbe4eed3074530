"""Tables of files whose registered partitions are not their directories, added by the Java reference and by icefloe."""

from __future__ import annotations

import pytest
from icefloe.catalog import load_catalog

from tests.exact_rows import exact
from tests.interop.java.registered_tables import FILTERS, FORMATS, NAMESPACE
from tests.interop.java.test_added_files import entries

IDS = {"all": [1, 2, 3, 4, 6], "one": [1, 3, 6]}

pytestmark = [
    pytest.mark.interop,
    pytest.mark.parametrize("key", FILTERS),
    pytest.mark.parametrize("file_format", FORMATS),
]


def test_entries_are_those_of_the_registered_partitions_as_in_java(java, file_format, key):
    java.check(f"registered-{file_format}")
    catalog = load_catalog("ours", type="hadoop", warehouse=str(java.folder / "warehouse"))
    names = (f"registered_{file_format}_{key}_{side}" for side in ("theirs", "ours"))
    theirs, ours = (entries(catalog.load_table(f"{NAMESPACE}.{name}")) for name in names)
    assert len(ours) == len(IDS[key])
    # Java leaves out where added files may be split.
    assert [{**row, "split_offsets": None} for row in ours] == [{**row, "split_offsets": None} for row in theirs]


def test_rows_are_those_of_the_registered_partitions_as_in_java(java, file_format, key):
    java.check(f"registered-{file_format}")
    theirs, ours = (java.answer(f"registered-{file_format}", f"{key}-{side}") for side in ("theirs", "ours"))
    assert ours.column("id").to_pylist() == IDS[key]
    assert exact(ours) == exact(theirs)
