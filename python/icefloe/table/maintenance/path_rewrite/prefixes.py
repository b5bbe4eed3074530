"""Replacement of the prefix of locations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    import pyarrow as pa

_VERB = "rewrite_table_path"


@dataclass(frozen=True)
class Prefixes:
    """A directory, and the directory that stands for it. Both are literal and end at a separator.

    Attributes:
        source: The directory, without a trailing slash.
        target: The new directory, without a trailing slash.
    """

    source: str
    target: str

    @classmethod
    def of(cls, source: str, target: str) -> Prefixes:
        """Return two prefixes, which may have trailing slashes.

        Raises:
            ValidationError: A prefix is empty, or both are equal.
        """
        for name, prefix in (("source_prefix", source), ("target_prefix", target)):
            if not isinstance(prefix, str) or not prefix.strip("/"):
                raise ValidationError(f"{_VERB}: {name}: expected a directory, got {prefix!r}")
        found = cls(source.rstrip("/"), target.rstrip("/"))
        if found.source == found.target:
            raise ValidationError(f"{_VERB}: target_prefix: expected another directory than the source, got {target!r}")
        return found

    def of_location(self, location: str) -> str:
        """Return a location below the target.

        Raises:
            ValidationError: The location is not below the source.

        Examples:
            >>> Prefixes.of("s3://a/t/", "s3://b/t").of_location("s3://a/t/data/x")
            's3://b/t/data/x'
        """
        if location != self.source and not location.startswith(f"{self.source}/"):
            raise self._outside(location)
        return f"{self.target}{location[len(self.source) :]}"

    def of_column(self, locations: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Return locations below the target; nulls stay.

        Raises:
            ValidationError: A location is not below the source.
        """
        outside = locations.filter(pc.invert(pc.fill_null(pc.starts_with(locations, f"{self.source}/"), True)))
        if len(outside) > 0:
            raise self._outside(outside[0].as_py())
        return pc.utf8_replace_slice(locations, 0, len(self.source), self.target)

    def _outside(self, location: str) -> ValidationError:
        return ValidationError(
            f"{_VERB}: {location}: expected a location below the source prefix {self.source}; pass a prefix that all files of the table "
            "have, or rewrite the file into the table's directory before"
        )
