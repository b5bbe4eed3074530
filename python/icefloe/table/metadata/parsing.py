"""Parsing metadata files: types are checked strictly, and errors name the key and the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, ValidationError
from icefloe.table.metadata.versions import TableMetadataV1, TableMetadataV2, TableMetadataV3

if TYPE_CHECKING:
    from icefloe.table.metadata.table_metadata import TableMetadata

_VERSIONS: dict[int, type[TableMetadata]] = {1: TableMetadataV1, 2: TableMetadataV2, 3: TableMetadataV3}


class TableMetadataUtil:
    """Reads metadata of any format version."""

    @staticmethod
    def parse_raw(data: str | bytes, location: str | None = None) -> TableMetadata:
        """Return the metadata in a file's text.

        Args:
            data: JSON text.
            location: The file's location, for error messages.

        Raises:
            CorruptFileError: The text is truncated or not JSON, or a key is missing or has a wrong type.
            FeatureUnsupportedError: The format version is newer than this library.
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
        raise CorruptFileError(f"{where} is not a JSON object")
    version = value.get("format-version")
    if version is None:
        raise CorruptFileError(f"{where} has no `format-version`")
    if not isinstance(version, int) or isinstance(version, bool):
        raise CorruptFileError(f"{where}: `format-version` must be an integer, got {version!r}")
    if version not in _VERSIONS:
        raise FeatureUnsupportedError(
            f"{where}: format version {version} is not supported; expected one of {', '.join(map(str, _VERSIONS))}"
        )
    try:
        return _VERSIONS[version](**value)
    except ValidationError as error:
        raise CorruptFileError(f"{where}: {error}") from error
