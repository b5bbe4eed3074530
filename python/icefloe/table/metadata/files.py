"""Table metadata files: their names, and reading and writing them.

The name alone determines the compression: `x.gz.metadata.json` (and `x.metadata.json.gz` of old writers) is gzip.
"""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING

from icefloe.exceptions import CorruptFileError, MissingFileError, NoSuchTableError
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.metadata.absolute_locations import with_absolute_locations
from icefloe.table.metadata.parsing import TableMetadataUtil
from icefloe.table.properties.definitions import METADATA_COMPRESSION, METADATA_PATH

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata.table_metadata import TableMetadata

METADATA_DIRECTORY = "metadata"
DATA_DIRECTORY = "data"
LEFTOVER_PREFIX = ".icefloe-"
"""Prefix of files and directories that are renamed when they are complete; a killed writer leaves them behind."""
VERSION_HINT = "version-hint.text"
_SUFFIXES = {"none": ".metadata.json", "gzip": ".gz.metadata.json"}
_CATALOG_VERSION = re.compile(r"^(\d+)-")
_HADOOP_VERSION = re.compile(r"^v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?$")


def read_metadata(io: FileIO, location: str, known: TableMetadata | None = None) -> TableMetadata:
    """Read and check a metadata file. Relative locations in it become absolute ones.

    Args:
        io: Storage.
        location: The metadata file.
        known: Metadata that is returned, without parsing, if the file has exactly its text.

    Raises:
        MissingFileError: The file does not exist.
        CorruptFileError: The file does not decompress, or is not JSON.
        InvalidMetadataError: The file is JSON, but not the metadata of a table.
    """
    if known is None or _is_gzip(location):
        data = _uncompressed(io.core.read(location), location)
        if known is not None and data == known.json_bytes():
            return known
    else:
        other = io.core.read_unless(location, known.json_pieces())
        if other is None:
            return known
        data = other
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptFileError(f"table metadata {location} is not UTF-8 text: {error}") from error
    return with_absolute_locations(TableMetadataUtil.parse_raw(text, location), io)


def _uncompressed(data: bytes, location: str) -> bytes:
    if not _is_gzip(location):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptFileError(
            f"{location}: expected gzip, as its name ends, got data that does not decompress: {error}"
        ) from error


def metadata_content(metadata: TableMetadata, location: str) -> list[bytes]:
    """Return the content of a metadata file for `location`, in pieces."""
    return [gzip.compress(metadata.json_bytes(), mtime=0)] if _is_gzip(location) else metadata.json_pieces()


def metadata_directory(metadata: TableMetadata) -> str:
    """Return the directory of a table's metadata files, without a trailing slash."""
    own = METADATA_PATH.of(metadata.properties)
    return own.rstrip("/") if own is not None else f"{metadata.location.rstrip('/')}/{METADATA_DIRECTORY}"


def next_catalog_location(metadata: TableMetadata, previous: str | None, environment: Environment = SYSTEM) -> str:
    """Return a fresh name, `<version>-<uuid>.metadata.json`, one version after `previous`.

    A previous name without a version counts as version -1, so that the next version is 00000.
    """
    version = -1
    if previous is not None:
        match = _CATALOG_VERSION.match(previous.rsplit("/", 1)[-1])
        version = int(match.group(1)) if match is not None else -1
    return f"{metadata_directory(metadata)}/{version + 1:05d}-{environment.new_uuid()}{_suffix(metadata)}"


def hadoop_location(metadata: TableMetadata, version: int) -> str:
    """Return `<location>/metadata/v<version>.metadata.json`, or its gzip form if the table properties select it."""
    return f"{metadata.location.rstrip('/')}/{METADATA_DIRECTORY}/v{version}{_suffix(metadata)}"


def hadoop_candidates(table_location: str, version: int) -> list[str]:
    """Return every possible location of a version in a table directory, the usual one first."""
    stem = f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}/v{version}"
    return [f"{stem}.metadata.json", f"{stem}.gz.metadata.json", f"{stem}.metadata.json.gz"]


def hadoop_version(location: str) -> int | None:
    """Return the version in the name of a hadoop table's metadata file, None for any other name."""
    match = _HADOOP_VERSION.match(location.rsplit("/", 1)[-1])
    return int(match.group(1)) if match is not None else None


def newest_hadoop_location(io: FileIO, table_location: str) -> str | None:
    """Return the newest metadata file of a table directory, or None.

    The search starts at the version hint and probes higher versions until one is missing.
    """
    hinted = _hinted_version(io, table_location)
    found = _existing(io, table_location, hinted) if hinted is not None else None
    if found is None:
        hinted = _highest_listed_version(io, table_location)
        found = _existing(io, table_location, hinted) if hinted is not None else None
    while found is not None and hinted is not None:
        after = _existing(io, table_location, hinted + 1)
        if after is None:
            break
        found, hinted = after, hinted + 1
    return found


def newest_location(io: FileIO, table_location: str) -> str:
    """Return the newest metadata file of a table directory that any catalog wrote.

    Raises:
        NoSuchTableError: The directory has no metadata files.
    """
    hinted_file = _hinted_file(io, table_location)
    if hinted_file is not None:
        return hinted_file
    found = newest_hadoop_location(io, table_location)
    if found is not None:
        return found
    names = [name for name in _listed(io, table_location) if _CATALOG_VERSION.match(name.rsplit("/", 1)[-1])]
    if not names:
        raise NoSuchTableError(f"{table_location}: expected a table directory with metadata/*.metadata.json, got none")
    return max(names, key=lambda name: int(name.rsplit("/", 1)[-1].split("-", 1)[0]))


def _suffix(metadata: TableMetadata) -> str:
    return _SUFFIXES[METADATA_COMPRESSION.of(metadata.properties)]


def _is_gzip(location: str) -> bool:
    return location.endswith((".gz.metadata.json", ".metadata.json.gz"))


def _hint_text(io: FileIO, table_location: str) -> str | None:
    try:
        text = io.core.read(f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}/{VERSION_HINT}")
    except MissingFileError:
        return None
    return text.decode("utf-8", errors="replace").split("\n", 1)[0].strip()


def _hinted_version(io: FileIO, table_location: str) -> int | None:
    text = _hint_text(io, table_location)
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _hinted_file(io: FileIO, table_location: str) -> str | None:
    """Return the file in a version hint: some writers put a file name there instead of a number."""
    text = _hint_text(io, table_location)
    if text is None or text.isdigit() or "/" in text:
        return None
    directory = f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}"
    names = [f"{directory}/{text}", f"{directory}/{text}.metadata.json"]
    return next((name for name in names if name.endswith(".json") and io.core.exists(name)), None)


def _existing(io: FileIO, table_location: str, version: int) -> str | None:
    return next((name for name in hadoop_candidates(table_location, version) if io.core.exists(name)), None)


def _highest_listed_version(io: FileIO, table_location: str) -> int | None:
    versions = [version for name in _listed(io, table_location) if (version := hadoop_version(name)) is not None]
    return max(versions, default=None)


def _listed(io: FileIO, table_location: str) -> list[str]:
    try:
        batch = io.core.list(f"{table_location.rstrip('/')}/{METADATA_DIRECTORY}/")
    except MissingFileError:
        return []
    names: list[str] = batch.column("location").to_pylist()
    return [name for name in names if name.endswith((".metadata.json", ".metadata.json.gz"))]
