"""The source of an import: files in a directory, and files of partitions outside of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.catalog.partition_directories import files_within, partition_directories
from icefloe.exceptions import ValidationError
from icefloe.table.metadata.files import METADATA_DIRECTORY

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.write.given_partitions import GivenPartition

_HIDDEN = re.compile(r"(?:^|/)[_.](?![^/]*=)")


@dataclass(frozen=True, kw_only=True)
class SourceFiles:
    """The files of a directory, and of partitions that are not in it.

    Attributes:
        directory: The directory.
        verb: `snapshot_directory` or `migrate_directory`, for errors.
        directories: Names of the partition directories to take, such as `day=2026-11-01`; None for all files of the directory.
        partitions: Files of partitions elsewhere.
    """

    directory: str
    verb: str
    directories: frozenset[str] | None = None
    partitions: tuple[GivenPartition, ...] = ()

    def listed(self, io: FileIO) -> pa.Table:
        """Return location and size of the files; names that begin with `_` or `.` are hidden.

        Raises:
            ValidationError: There is no file, or the directory is a table already.
        """
        files = pa.concat_tables([self._in_directory(io), *(one.files for one in self.partitions)])
        if files.num_rows == 0:
            raise ValidationError(
                f"{self.verb}: {self.directory}: expected a directory of Parquet, ORC or Avro files, got no file"
            )
        return files

    def partition_values(self, files: pa.Table) -> tuple[list[str], list[set[str]]]:
        """Return the names of the partition columns, outermost first, and the values of each.

        Raises:
            ValidationError: Files are in directories of different names or depths.
        """
        names, values = partition_directories(self.in_directory(files), self.directory, self.verb)
        for one in self.partitions:
            if not names:
                names, values = list(one.values), [set() for _ in one.values]
            for found, name in zip(values, names, strict=True):
                found.add(one.values[name])
        return names, values

    def in_directory(self, files: pa.Table) -> list[str]:
        """Return the locations of the listed files that are in the directory."""
        others = {location for one in self.partitions for location in one.locations}
        return [one for one in files.column("location").to_pylist() if one not in others]

    def _in_directory(self, io: FileIO) -> pa.Table:
        listed = pa.Table.from_batches([io.core.list(f"{self.directory}/")]).select(["location", "size"])
        names = [location[len(self.directory) + 1 :] for location in listed.column("location").to_pylist()]
        if any(name.startswith(f"{METADATA_DIRECTORY}/") and ".metadata.json" in name for name in names):
            raise ValidationError(
                f"{self.verb}: {self.directory}: the directory is an Iceberg table already; expected data files: register its metadata file"
            )
        locations = listed.column("location").to_pylist()
        if self.directories is not None:
            locations = files_within(locations, self.directory, self.directories)
        chosen = set(locations)
        visible = [
            location in chosen and _HIDDEN.search(name) is None
            for location, name in zip(listed.column("location").to_pylist(), names, strict=True)
        ]
        return listed.filter(pa.array(visible, pa.bool_())).sort_by("location")
