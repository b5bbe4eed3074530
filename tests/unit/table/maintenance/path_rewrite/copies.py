"""Tables, their copies by the list of `rewrite_table_path`, and the copying itself."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from tests.unit.table.maintenance.every_file import SCHEMA, rows


def path_of(location):
    return Path(location.removeprefix("file://"))


def copied(result):
    """Copy the files of a result's list; return its lines."""
    with path_of(result.file_list_location).open(newline="") as lines:
        pairs = list(csv.reader(lines))
    for source, target in pairs:
        path_of(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path_of(source), path_of(target))
    return pairs


def rewritten(table, target, **arguments):
    return table.maintenance.rewrite_table_path(table.location(), str(target), **arguments)


def hidden(table):
    """Make a table's files unreachable, so that a copy that refers to them fails."""
    path_of(table.location()).rename(f"{path_of(table.location())}-away")


def merge_on_read(catalog, name="db.t", **properties):
    table = catalog.create_table(name, SCHEMA, properties={"write.delete.mode": "merge-on-read", **properties})
    for start in (0, 10, 20):
        table.append(rows(*range(start, start + 6)))
    table.delete("id in (1, 12)")
    return table
