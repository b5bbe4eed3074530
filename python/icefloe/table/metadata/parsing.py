"""Parsing metadata files: a broken rule is an error, a harmless deviation a warning; both name the key and the file."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from icefloe.exceptions import (
    CorruptFileError,
    FeatureUnsupportedError,
    InvalidMetadataError,
    MetadataWarning,
    ValidationError,
)
from icefloe.table.metadata.deviations import conventional_json
from icefloe.table.metadata.repairs import note_harmless, with_safe_counters
from icefloe.table.metadata.versions import TableMetadataV1, TableMetadataV2, TableMetadataV3

if TYPE_CHECKING:
    from icefloe.table.metadata.table_metadata import TableMetadata

_VERSIONS: dict[int, type[TableMetadata]] = {1: TableMetadataV1, 2: TableMetadataV2, 3: TableMetadataV3}
_ADVICE = "Restore the file, or register an earlier one with register_table()"


class TableMetadataUtil:
    """Reads metadata of any format version."""

    @staticmethod
    def parse_raw(data: str | bytes, location: str | None = None) -> TableMetadata:
        """Return the metadata in a file's text.

        Args:
            data: JSON text.
            location: The file's location, for error messages.

        Raises:
            CorruptFileError: The text is truncated or not JSON.
            InvalidMetadataError: A key is missing, has a wrong type, or breaks a rule of the specification.
            FeatureUnsupportedError: The format version, a type or a transform is newer than this library.
        """
        where = f"table metadata {location}" if location is not None else "table metadata"
        if not data:
            raise CorruptFileError(f"{where} is empty")
        try:
            value = from_json(data, cache_strings="keys", allow_inf_nan=False)
        except ValueError as error:
            cut = " (the file is truncated)" if str(error).startswith("EOF") else ""
            raise CorruptFileError(f"{where} is not JSON{cut}: {error}") from error
        return _parse(value, where)

    @staticmethod
    def parse_obj(data: dict[str, Any]) -> TableMetadata:
        """Return the metadata of a JSON object; see :meth:`parse_raw`."""
        return _parse(data, "table metadata")


def _parse(value: Any, where: str) -> TableMetadata:
    if not isinstance(value, dict):
        raise InvalidMetadataError(f"{where} is not a JSON object; expected an object, got {type(value).__name__}")
    version = value.get("format-version")
    if version is None:
        raise InvalidMetadataError(f"{where} has no `format-version`; expected 1, 2 or 3")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidMetadataError(f"{where}: `format-version` must be an integer from 1 on, got {version!r}")
    if version not in _VERSIONS:
        raise FeatureUnsupportedError(
            f"{where}: format version {version} is not supported; expected one of {', '.join(map(str, _VERSIONS))}"
        )
    notes: list[str] = []
    try:
        metadata = _VERSIONS[version](**conventional_json(value, version, notes))
    except ValidationError as error:
        raise InvalidMetadataError(f"{where}: {error}. {_ADVICE}") from error
    except FeatureUnsupportedError as error:
        raise FeatureUnsupportedError(f"{where}: {error}") from error
    metadata = with_safe_counters(metadata, notes)
    note_harmless(metadata, notes)
    for note in notes:
        warnings.warn(f"{where}: {note}", MetadataWarning, stacklevel=3)
    return metadata
