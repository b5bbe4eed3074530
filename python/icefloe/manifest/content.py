"""Enumerations of manifests: contents, entry statuses and file formats. Spec: Manifests."""

from __future__ import annotations

from enum import Enum

from icefloe.exceptions import ValidationError


class DataFileContent(int, Enum):
    """The content of a data or delete file."""

    DATA = 0
    POSITION_DELETES = 1
    EQUALITY_DELETES = 2

    @staticmethod
    def from_rest_type(content_type: str) -> DataFileContent:
        """Return the content of a name of the REST specification, such as ``position-deletes``.

        Raises:
            ValidationError: The name is not that of a content.

        >>> DataFileContent.from_rest_type("position-deletes")
        DataFileContent.POSITION_DELETES
        """
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
    """The content of the files in a manifest."""

    DATA = 0
    DELETES = 1

    def __repr__(self) -> str:
        return f"ManifestContent.{self.name}"

    __str__ = __repr__


class ManifestEntryStatus(int, Enum):
    """The status of a manifest entry."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2

    def __repr__(self) -> str:
        return f"ManifestEntryStatus.{self.name}"

    __str__ = __repr__


class FileFormat(str, Enum):
    """The format of a data or delete file."""

    AVRO = "AVRO"
    PARQUET = "PARQUET"
    ORC = "ORC"
    PUFFIN = "PUFFIN"

    @classmethod
    def _missing_(cls, value: object) -> FileFormat | None:
        """Return the format of a name in any case, since writers differ."""
        return cls.__members__.get(str(value).upper())

    def __repr__(self) -> str:
        return f"FileFormat.{self.name}"

    __str__ = __repr__
