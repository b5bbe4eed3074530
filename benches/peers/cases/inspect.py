"""The metadata table `files` of 400,000 data files, as PyIceberg and icefloe return it, and selections that only icefloe has."""

from __future__ import annotations

import importlib
from pathlib import Path

from peers.case import Case, Work
from peers.metadata_only import Layout, metadata_only_table
from peers.tables import metadata_file

FILES = Layout("inspected", 40, 10_000)
NARROW = ("file_path", "record_count", "partition")


def prepare(data: Path) -> None:
    metadata_only_table(data, FILES)


def location(data: Path) -> str:
    return metadata_file(metadata_only_table(data, FILES))


def files(package: str):
    """All columns; the packages have the same names."""

    def setup(data: Path) -> Work:
        tables = importlib.import_module(f"{package}.table")
        path = location(data)
        return lambda: tables.StaticTable.from_metadata(path).inspect.files().num_rows

    return setup


def partitions(package: str):
    def setup(data: Path) -> Work:
        tables = importlib.import_module(f"{package}.table")
        path = location(data)
        return lambda: tables.StaticTable.from_metadata(path).inspect.partitions().num_rows

    return setup


def narrow(data: Path) -> Work:
    from icefloe.table import StaticTable

    path = location(data)
    scan = StaticTable.from_metadata(path).inspect.scan("files", selected_fields=NARROW)
    return lambda: scan.to_arrow().num_rows


CASES = [
    Case(
        "inspect_files",
        "inspect.files() of 400,000 files in 40 manifests, all columns",
        prepare,
        {"icefloe": files("icefloe"), "PyIceberg": files("pyiceberg")},
    ),
    Case(
        "inspect_partitions",
        "inspect.partitions() of 400,000 files in 40 manifests",
        prepare,
        {"icefloe": partitions("icefloe"), "PyIceberg": partitions("pyiceberg")},
    ),
    Case(
        "inspect_narrow",
        "path, row count and partition of 400,000 files in 40 manifests",
        prepare,
        {"icefloe": narrow},
    ),
]
