"""Files by location, over the store in the Rust core."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FileAlreadyExistsError, ValidationError
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe._core import FileIo

WORKING_DIRECTORY = "file.working-directory"
"""Property: the absolute path that relative locations start from."""

STORAGE_PREFIXES = ("adls.", "client.", "file.", "gcs.", "hdfs.", "http.", "io.", "s3.")
"""What storage may know of a catalog's properties; names and passwords of databases stay behind."""


class FileIO:
    """Access to files, described by properties alone; small, and picklable to other processes.

    Args:
        properties: Catalog and storage properties; only those of storage reach the store.
        working_directory: The absolute path that relative locations start from; the process's working directory if None, as it
            is now. The property ``file.working-directory`` goes before both.

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
        """The store in the Rust core."""
        if self._core is None:
            from icefloe import _core

            properties = {key: value for key, value in self.properties.items() if key.startswith(STORAGE_PREFIXES)}
            if self._working_directory is not None:
                properties.setdefault(WORKING_DIRECTORY, self._working_directory)
            self._core = _core.FileIo(properties)
        return self._core

    def new_input(self, location: str) -> InputFile:
        """Return a file to read; nothing is read yet."""
        return InputFile(location, self)

    def new_output(self, location: str) -> OutputFile:
        """Return a file to write; nothing is written yet."""
        return OutputFile(location, self)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Delete a file; MissingFileError if there is none."""
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
    """A file to read."""

    location: str
    file_io: FileIO

    def exists(self) -> bool:
        """Return whether something is stored there."""
        return self.file_io.core.exists(self.location)

    def open(self, seekable: bool = True) -> io.BytesIO:
        """Return the file's bytes as a seekable stream; MissingFileError if there is none."""
        del seekable
        return io.BytesIO(self.file_io.core.read(self.location))

    def __len__(self) -> int:
        return self.file_io.core.size(self.location)

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write."""

    location: str
    file_io: FileIO

    def exists(self) -> bool:
        """Return whether something is stored there."""
        return self.file_io.core.exists(self.location)

    def to_input_file(self) -> InputFile:
        """Return the file for reading."""
        return InputFile(self.location, self.file_io)

    def create(self, overwrite: bool = False) -> OutputStream:
        """Return a stream whose bytes are stored, whole or not at all, when it is closed.

        Raises:
            FileAlreadyExistsError: Something is there and may not be overwritten; raised now, or at closing if another was faster.
        """
        if not overwrite and self.exists():
            raise FileAlreadyExistsError(f"{self.location} exists")
        return OutputStream(self, overwrite)

    def __len__(self) -> int:
        return self.file_io.core.size(self.location)

    def __bool__(self) -> bool:
        return True


class OutputStream(io.BytesIO):
    """Bytes on their way to a file; leaving a ``with`` block by an exception stores nothing."""

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
        # A forgotten stream stores nothing: only closing says that the bytes are whole.
        super().close()


def current_directory() -> str | None:
    """Return the working directory of the process, None if it has been deleted."""
    try:
        return os.getcwd()  # noqa: PTH109 - text is needed
    except OSError:
        return None


def load_file_io(
    properties: Mapping[str, str] = EMPTY_DICT, location: str | None = None, working_directory: str | None = None
) -> FileIO:
    """Return access to files of any location.

    Args:
        properties: Catalog and storage properties. ``py-io-impl`` names another implementation, which is not supported.
        location: A location that must be accessible; its scheme is checked at first use.
        working_directory: The directory that relative locations start from, see :class:`FileIO`.
    """
    del location
    if "py-io-impl" in properties:
        raise ValidationError("property py-io-impl is not supported: storage is accessed by the Rust core")
    return FileIO(properties, working_directory)
