"""Storage."""

from typing import final

import pyarrow as pa

@final
class UnsyncedFiles:
    """New local files, complete under their final names, that a power cut can still lose.

    A commit collects its files here, and syncs them before the step that makes them part of the table.

    >>> unsynced = UnsyncedFiles()
    >>> FileIo({}).deferring(unsynced).write("/tmp/icefloe-example/new", b"hello", overwrite=False)
    >>> unsynced.sync()
    >>> FileIo({}).delete("/tmp/icefloe-example/new")
    """

    def __new__(cls) -> UnsyncedFiles: ...
    def sync(self) -> None:
        """Wait until the added files and the directories that lead to them are on disk, each path synced once, all concurrently.

        Raises:
            StorageError: A sync failed. Every later call raises the same error: the system reports a lost write to one sync only.
        """

@final
class FileIo:
    """Access to storage, described by properties alone.

    Frozen and picklable; a copy in another process builds its own clients. A location is a path, ``file:/path``,
    ``file:///path``, ``s3://bucket/key`` (also ``s3a``, ``s3n``), ``gs://bucket/key`` (also ``gcs``),
    ``abfss://container@account.dfs.core.windows.net/key`` (also ``abfs``, ``wasb``, ``wasbs``, ``az``), or, to read,
    ``http://host/path`` and ``https://host/path``. Its characters are used as written (``%20`` is three characters), except in
    HTTP locations, which are URLs. Other schemes raise FeatureUnsupportedError. A relative path starts from
    the property ``file.working-directory``, an absolute path.

    Properties have the names of Iceberg's FileIO (``s3.endpoint``, ``gcs.oauth2.token``, ``adls.account-key``, ...). A wrong one
    raises ValidationError with its name when a location of its service is first used. Without credentials in the properties, the credentials of
    the environment are used.

    Failed requests are repeated with growing pauses, ``s3.retry.num-retries`` times (``gcs.``, ``adls.``, ``http.`` likewise).

    >>> io = FileIo({})
    >>> io.write("/tmp/icefloe-example/hello", b"hello", overwrite=True)
    >>> io.read("/tmp/icefloe-example/hello")
    b'hello'
    """

    def __new__(cls, properties: dict[str, str] = ...) -> FileIo: ...
    def deferring(self, unsynced: UnsyncedFiles) -> FileIo:
        """Return the same access, whose new local files are added to ``unsynced`` instead of synced by each write.

        Files that replace others and published files are synced by their writes. Pickling drops the set.
        """

    @property
    def properties(self) -> dict[str, str]:
        """The properties of this FileIo."""

    def absolute(self, location: str) -> str:
        """Return a relative path joined to the property ``file.working-directory``, and any other location unchanged.

        Leading ``..`` segments go up from that directory. Without the property, relative paths are unchanged, and storage
        refuses them.
        """

    def read(self, location: str) -> bytes:
        """Return the whole of a file.

        Raises:
            MissingFileError: Nothing is stored there.
            StorageError: Storage failed.
        """

    def read_unless(self, location: str, data: bytes | list[bytes]) -> bytes | None:
        """Return the whole of a file, or None if it is exactly ``data``, the pieces of a list one after the other.

        Raises:
            MissingFileError: Nothing is stored there.
            StorageError: Storage failed.
        """

    def write(self, location: str, data: bytes | list[bytes], *, overwrite: bool) -> None:
        """Store a file atomically and durably; missing directories are created. The pieces of a list are stored one after the other.

        Raises:
            FileAlreadyExistsError: ``overwrite`` is false and the file exists. Of two concurrent writers, exactly one succeeds. On
                file systems on which :meth:`publish` fails others may see the file while it is empty, and a crash may leave it so.
            StorageError: Storage failed. Remote storage may still have stored the bytes.
        """

    def publish(self, location: str, data: bytes | list[bytes]) -> None:
        """Store a new file in one step: no reader sees a part of it, even after a crash. ``data`` as for :meth:`write`.

        Raises:
            FileAlreadyExistsError: The file exists. Of two concurrent writers, exactly one succeeds.
            StorageError: Storage failed, or the file system has neither hard links nor a rename that refuses to replace.
            FeatureUnsupportedError: The server has no conditional writes (``s3.conditional-writes`` is false).
        """

    def exists(self, location: str) -> bool:
        """Return whether a file is stored at a location."""

    def size(self, location: str) -> int:
        """Return the size of a file in bytes; MissingFileError if there is none."""

    def sizes(self, locations: list[str]) -> pa.Int64Array:
        """Return the sizes of files in bytes, in the order given, looking up several at once; MissingFileError if one is missing."""

    def delete(self, location: str) -> None:
        """Delete a file; MissingFileError if there is none."""

    def delete_many(self, locations: list[str]) -> list[tuple[str, str]]:
        """Delete files, several at once; return ``(location, reason)`` of each that could not be deleted.

        A missing file is not a failure.
        """

    def delete_directory(self, location: str) -> list[tuple[str, str]]:
        """Delete a directory with everything below it; return ``(location, reason)`` of each file or directory still there.

        Links of the local file system are deleted, not followed. Missing files are not failures.
        """

    def children(self, location: str) -> tuple[list[str], list[str]]:
        """Return the names of the directories and of the files directly in a directory, each sorted.

        Both are empty if the directory does not exist. Links of the local file system to directories are directories.
        """

    def list(self, prefix: str) -> pa.RecordBatch:
        """Return every file below a directory, at any depth, ordered by location.

        Returns:
            ``location`` utf8 (spelled like ``prefix``), ``size`` int64 in bytes, ``last_modified_ms`` int64 since the epoch.
            No rows if the directory does not exist.
        """

    def __reduce__(self) -> tuple[type[FileIo], tuple[dict[str, str]]]: ...
