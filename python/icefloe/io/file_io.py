"""Access to files by location, through the object store of the Rust core."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FileAlreadyExistsError, ValidationError
from icefloe.io.property_names import PY_IO_IMPL
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe._core import FileIo, UnsyncedFiles

WORKING_DIRECTORY = "file.working-directory"
"""Property: the absolute path that relative locations start from."""

STORAGE_PREFIXES = ("adls.", "client.", "file.", "gcs.", "hdfs.", "http.", "io.", "s3.")
"""Prefixes of the catalog properties that reach the store; other properties, such as database passwords, do not."""

IMPLEMENTATIONS = (
    "icefloe.io.FileIO",
    "icefloe.io.pyarrow.PyArrowFileIO",
    "pyiceberg.io.pyarrow.PyArrowFileIO",
    "pyiceberg.io.fsspec.FsspecFileIO",
)
"""The values of `py-io-impl` that are accepted: names of this storage, and PyIceberg's own classes, which it stands in for."""

REMOTE_SIGNING = "s3.remote-signing-enabled"
"""The property by which the store has a REST catalog sign its requests to S3."""

REFRESH_ENDPOINTS = (
    "client.refresh-credentials-endpoint",
    "gcs.oauth2.refresh-credentials-endpoint",
    "adls.refresh-credentials-endpoint",
)
"""Properties with an address of a REST catalog that renews lent credentials, which the store requests by itself."""

CREDENTIALS_LOCATION = "client.refresh-credentials-location"
"""The property with the table's location, which selects one of several renewed credentials."""


class FileIO:
    """Access to files, defined by properties; picklable to other processes.

    Args:
        properties: Catalog and storage properties; only properties with a prefix in ``STORAGE_PREFIXES`` reach the store.
        working_directory: The absolute path that relative locations start from; if None, the current working directory of the
            process. The property ``file.working-directory`` takes precedence.

    >>> files = FileIO()
    >>> with files.new_output("/tmp/icefloe-example/hello").create(overwrite=True) as stream:
    ...     _ = stream.write(b"hello")
    >>> files.new_input("/tmp/icefloe-example/hello").open().read()
    b'hello'
    """

    __slots__ = ("_core", "_working_directory", "properties")
    properties: dict[str, str]
    _core: FileIo | None
    _working_directory: str | None

    def __init__(self, properties: Mapping[str, str] = EMPTY_DICT, working_directory: str | None = None) -> None:
        self.properties = {key: str(value) for key, value in properties.items()}
        self._working_directory = current_directory() if working_directory is None else working_directory
        self._core = None

    @property
    def core(self) -> FileIo:
        """The object store in the Rust core."""
        if self._core is None:
            from icefloe import _core

            prefixes = (*STORAGE_PREFIXES, *self._prefixes_of_renewal())
            properties = {key: value for key, value in self.properties.items() if key.startswith(prefixes)}
            if self._working_directory is not None:
                properties.setdefault(WORKING_DIRECTORY, self._working_directory)
            self._core = _core.FileIo(properties)
        return self._core

    def deferring(self, unsynced: UnsyncedFiles) -> FileIO:
        """Return the same access, whose new local files are added to `unsynced` instead of synced by each write."""
        access = FileIO(self.properties, self._working_directory)
        access._core = self.core.deferring(unsynced)
        return access

    def _prefixes_of_renewal(self) -> tuple[str, ...]:
        """Return the prefixes of what requests to a REST catalog need, none without an address that renews credentials."""
        renews = any(name in self.properties for name in (*REFRESH_ENDPOINTS, REMOTE_SIGNING))
        is_rest = self.properties.get("uri", "").startswith(("http://", "https://"))
        return ("uri", "token", "header.") if renews and is_rest else ()

    def new_input(self, location: str) -> InputFile:
        """Return a file for reading, without any request."""
        return InputFile(location, self)

    def new_output(self, location: str) -> OutputFile:
        """Return a file for writing, without any request."""
        return OutputFile(location, self)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete a file.

        Raises:
            MissingFileError: The file does not exist.
        """
        self.core.delete(location if isinstance(location, str) else location.location)

    def __eq__(self, other: object) -> bool:
        return self.properties == other.properties if isinstance(other, FileIO) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.properties.items()))

    def __repr__(self) -> str:
        return f"FileIO({', '.join(sorted(self.properties))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return FileIO, (self.properties, self._working_directory)


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file for reading."""

    location: str
    file_io: FileIO

    def exists(self) -> bool:
        """Return whether the file exists."""
        return self.file_io.core.exists(self.location)

    def open(self, seekable: bool = True) -> io.BytesIO:
        """Return the bytes of the file as a seekable stream.

        Raises:
            MissingFileError: The file does not exist.
        """
        del seekable
        return io.BytesIO(self.file_io.core.read(self.location))

    def __len__(self) -> int:
        return self.file_io.core.size(self.location)

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file for writing."""

    location: str
    file_io: FileIO

    def exists(self) -> bool:
        """Return whether the file exists."""
        return self.file_io.core.exists(self.location)

    def to_input_file(self) -> InputFile:
        """Return the file for reading."""
        return InputFile(self.location, self.file_io)

    def create(self, overwrite: bool = False) -> OutputStream:
        """Return a stream whose bytes are stored atomically when it is closed.

        Args:
            overwrite: Whether an existing file is replaced.

        Raises:
            FileAlreadyExistsError: The file exists and `overwrite` is false; raised here, or by closing the stream if another
                writer created the file in between.
        """
        if not overwrite and self.exists():
            raise FileAlreadyExistsError(f"file {self.location} exists already; pass overwrite=True to replace it")
        return OutputStream(self, overwrite)

    def __len__(self) -> int:
        return self.file_io.core.size(self.location)

    def __bool__(self) -> bool:
        return True


class OutputStream(io.BytesIO):
    """A buffer whose bytes are stored when it is closed; an exception in its ``with`` block discards them."""

    def __init__(self, file: OutputFile, overwrite: bool) -> None:
        super().__init__()
        self._file, self._overwrite = file, overwrite

    def close(self) -> None:
        """Store the bytes."""
        if not self.closed:
            data = self.getvalue()
            super().close()
            self._file.file_io.core.write(self._file.location, data, overwrite=self._overwrite)

    def __exit__(self, *error: object) -> None:
        if error and error[0] is not None:
            super().close()
        else:
            self.close()

    def __del__(self) -> None:
        # Only close() marks the bytes as complete, so a stream that is garbage-collected stores nothing.
        super().close()


def current_directory() -> str | None:
    """Return the working directory of the process; None if it has been deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - a str is needed
    except OSError:
        return None


def load_file_io(
    properties: Mapping[str, str] = EMPTY_DICT, location: str | None = None, working_directory: str | None = None
) -> FileIO:
    """Return the access to files that properties define.

    Args:
        properties: Catalog and storage properties.
        location: Accepted for PyIceberg and ignored; schemes are checked when a file is used.
        working_directory: The directory that relative locations start from; see :class:`FileIO`.

    Raises:
        ValidationError: ``py-io-impl`` names a class that is not in ``IMPLEMENTATIONS``.
    """
    del location
    check_implementation("", properties)
    return FileIO(properties, working_directory)


def check_implementation(subject: str, properties: Mapping[str, str]) -> None:
    """Raise ValidationError if ``py-io-impl`` is neither a name of this storage nor a class of PyIceberg.

    Args:
        subject: The start of the message, such as ``catalog 'lake': ``.
        properties: Catalog properties.
    """
    implementation = properties.get(PY_IO_IMPL)
    if implementation is not None and implementation not in IMPLEMENTATIONS:
        raise ValidationError(
            f"{subject}property {PY_IO_IMPL}: not supported, since the storage of icefloe is not implemented in Python; expected no such "
            f"property or one of {', '.join(IMPLEMENTATIONS)}, got {implementation!r}: remove it"
        )
