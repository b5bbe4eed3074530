"""The Parquet files of a directory, for ``add_files``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.io import FileIO

_SOURCE = re.compile(r"`?parquet`?\s*\.\s*(?P<path>`(?:[^`]|``)+`|\S+)", re.IGNORECASE)


def parquet_paths(io: FileIO, source: str, partition_filter: Mapping[str, str]) -> list[str]:
    """Return the files of a source table such as ``parquet.`/data/events` ``.

    Args:
        io: Storage.
        source: The source table.
        partition_filter: Values of ``name=value`` directories that the files must be in.

    Raises:
        ValidationError: The source is no directory of Parquet files, or does not exist.
    """
    directory = parquet_directory(source)
    paths = sorted(io.core.list(directory.rstrip("/") + "/").column("location").to_pylist())
    if not paths and not _is_empty_directory(io, directory):
        raise ValidationError(
            f"source_table: {directory}: expected a directory of Parquet files, got no such directory"
        )
    wanted = [f"{key}={value}" for key, value in partition_filter.items()]
    return [
        one
        for one in paths
        if not one.rsplit("/", 1)[-1].startswith(("_", "."))
        and all(part in [unquote(level) for level in one.split("/")] for part in wanted)
    ]


def _is_empty_directory(io: FileIO, directory: str) -> bool:
    """Return whether a directory without files exists, which on object stores none does."""
    parent, _, name = io.core.absolute(directory).rstrip("/").rpartition("/")
    is_root = parent.endswith("/")
    return not is_root and name in io.core.children(parent + "/")[0]


def is_directory(source: str) -> bool:
    """Return whether a source table is written as a directory, as in ``parquet.`/data/events` ``."""
    return _SOURCE.fullmatch(source.strip()) is not None


def parquet_directory(source: str) -> str:
    """Return the directory of a source table such as ``parquet.`/data/events` ``.

    Raises:
        ValidationError: The source is no directory of Parquet files.
    """
    found = _SOURCE.fullmatch(source.strip())
    if found is None:
        raise ValidationError(
            f"source_table: expected a directory of Parquet files, as in 'parquet.`/data/events`', got {source!r}"
        )
    path = found["path"]
    return path[1:-1].replace("``", "`") if path.startswith("`") else path
