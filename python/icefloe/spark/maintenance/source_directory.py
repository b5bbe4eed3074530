"""Directories of Parquet, ORC or Avro files as the sources of procedures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.io import FileIO

FORMATS = {"parquet": "Parquet", "orc": "ORC", "avro": "Avro"}
"""Names of formats in messages."""

_SOURCE = re.compile(r"`?(?P<format>parquet|orc|avro)`?\s*\.\s*(?P<path>`(?:[^`]|``)+`|\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class SourceDirectory:
    """A directory of files of one format.

    Attributes:
        file_format: `parquet`, `orc` or `avro`.
        location: The directory.
    """

    file_format: str
    location: str

    @staticmethod
    def of(source: str) -> SourceDirectory:
        """Return the directory of a source table such as ``parquet.`/data/events` `` or ``orc.`/data/events` ``.

        Raises:
            ValidationError: The source is no directory of Parquet, ORC or Avro files.
        """
        found = _SOURCE.fullmatch(source.strip())
        if found is None:
            raise ValidationError(
                "source_table: expected a directory of Parquet, ORC or Avro files, as in 'parquet.`/data/events`', "
                f"got {source!r}"
            )
        path = found["path"]
        location = path[1:-1].replace("``", "`") if path.startswith("`") else path
        return SourceDirectory(found["format"].lower(), location)

    def files(self, io: FileIO, partition_filter: Mapping[str, str]) -> list[str]:
        """Return the locations of the files, without hidden ones.

        Args:
            io: Storage.
            partition_filter: Values of ``name=value`` directories that the files must be in.

        Raises:
            ValidationError: The directory does not exist.
        """
        paths = sorted(io.core.list(self.location.rstrip("/") + "/").column("location").to_pylist())
        if not paths and not _is_empty_directory(io, self.location):
            raise ValidationError(
                f"source_table: {self.location}: expected a directory of {FORMATS[self.file_format]} files, got no such directory"
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
