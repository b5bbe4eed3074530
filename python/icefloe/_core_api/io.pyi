"""Storage."""

from typing import final

import pyarrow as pa

@final
class FileIo:
    """Access to storage, described by properties alone.

    Frozen and picklable; a copy in another process builds its own clients. A location is an absolute path, ``file:/path`` or
    ``file:///path``, its characters used as written (``%20`` is three characters). Other schemes raise FeatureUnsupportedError.

    >>> io = FileIo({})
    >>> io.write("/tmp/icefloe-example/hello", b"hello", overwrite=True)
    >>> io.read("/tmp/icefloe-example/hello")
    b'hello'
    """

    def __new__(cls, properties: dict[str, str] = ...) -> FileIo: ...
    @property
    def properties(self) -> dict[str, str]:
        """The properties this was made from."""

    def read(self, location: str) -> bytes:
        """Return the whole of a file.

        Raises:
            MissingFileError: Nothing is stored there.
            StorageError: Storage failed.
        """

    def write(self, location: str, data: bytes, *, overwrite: bool) -> None:
        """Store bytes, whole or not at all, on disk when the call returns; directories are made as needed.

        Raises:
            FileAlreadyExistsError: ``overwrite`` is false and something is there. Of two racing writers exactly one succeeds.
            StorageError: Storage failed.
        """

    def exists(self, location: str) -> bool:
        """Return whether a file is stored at a location."""

    def size(self, location: str) -> int:
        """Return the size of a file in bytes; MissingFileError if there is none."""

    def delete(self, location: str) -> None:
        """Delete a file; MissingFileError if there is none."""

    def delete_many(self, locations: list[str]) -> list[tuple[str, str]]:
        """Delete files, several at once; return ``(location, reason)`` of each that could not be deleted.

        A file that is gone already is no failure.
        """

    def list(self, prefix: str) -> pa.RecordBatch:
        """Return every file below a directory, at any depth, ordered by location.

        Returns:
            ``location`` utf8 (spelled like ``prefix``), ``size`` int64 in bytes, ``last_modified_ms`` int64 since the epoch.
            No rows if the directory does not exist.
        """

    def __reduce__(self) -> tuple[type[FileIo], tuple[dict[str, str]]]: ...
