"""The enumerations of manifests: contents, statuses, file formats. Spec: Manifests."""

from __future__ import annotations

from enum import Enum

from icefloe.exceptions import ValidationError


class DataFileContent(int, Enum):
    """Content of a data or delete file."""

    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2

    @staticmethod
    def from_rest_type(content_type: str) -> DataFileContent:
        """Return the content that the REST catalog protocol spells, such as ``position-deletes``."""
        names = {content.name.lower().replace("_", "-"): content for content in DataFileContent}
        if content_type not in names:
            raise ValidationError(
                f"Invalid file content value: {content_type}; expected one of {', '.join(sorted(names))}"
            )
        return names[content_type]

    def __repr__(self) -> str:
        return f"DataFileContent.{self.name}"

    __str__ = __repr__


class ManifestContent(int, Enum):
    """Content of the files that a manifest lists."""

    DATA = 0
    DELETES = 1

    def __repr__(self) -> str:
        return f"ManifestContent.{self.name}"

    __str__ = __repr__


class ManifestEntryStatus(int, Enum):
    """Change that a snapshot made to a file."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2

    def __repr__(self) -> str:
        return f"ManifestEntryStatus.{self.name}"

    __str__ = __repr__


class FileFormat(str, Enum):
    """Format of a file."""

    AVRO = "AVRO"
    PARQUET = "PARQUET"
    ORC = "ORC"
    PUFFIN = "PUFFIN"

    @classmethod
    def _missing_(cls, value: object) -> FileFormat | None:
        """Accept any case, as writers differ."""
        return cls.__members__.get(str(value).upper())

    def __repr__(self) -> str:
        return f"FileFormat.{self.name}"

    __str__ = __repr__
