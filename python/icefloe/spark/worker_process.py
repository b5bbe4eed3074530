"""Fixed costs of the tasks that Spark runs in one of its Python worker processes.

Spark reuses a worker for many tasks and repeats this work for each. Before a task it invalidates all import caches, so Python reads
the directory of ``pyspark.zip`` again: 70 to 100 ms of CPU. After a task it collects garbage over every object that the modules hold. A micro-batch of a stream has four such tasks:
the writer on the driver, read, write and commit.
"""

from __future__ import annotations

import functools
import gc
import sys
import zipimport
from pathlib import Path

_DAEMON = "pyspark.daemon"


def reduce_fixed_costs() -> None:
    """Make the next tasks of this process start and end faster, in a worker that Spark's daemon forked; do nothing elsewhere.

    The directory of an archive is read again only if its file changed, and the garbage collector leaves out the objects that exist
    now, which are modules for the most part. Repeated calls in one process change nothing.
    """
    if is_forked_worker():
        check_archives()
        _freeze_objects()


def is_forked_worker() -> bool:
    """Return whether Spark's daemon forked this process for tasks; the daemon itself runs no code of tasks."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == _DAEMON


def check_archives() -> None:
    """Replace the importers of ``.zip`` archives on the path by importers that read a directory again only if the file changed."""
    for path, finder in list(sys.path_importer_cache.items()):
        if type(finder) is zipimport.zipimporter:
            sys.path_importer_cache[path] = CheckedArchive(path)


@functools.cache
def _freeze_objects() -> None:
    """Leave the objects that exist now out of all garbage collections of this process."""
    gc.collect()
    gc.freeze()


class CheckedArchive(zipimport.zipimporter):
    """An importer from an archive that keeps the archive's directory for as long as the file is the same.

    Args:
        path: Path of the archive, or of a directory in it.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        # The first call reads the directory: the file may have changed since the importer that this one replaces read it.
        self._version: tuple[int, int, int, int] | None = None

    def invalidate_caches(self) -> None:
        """Read the directory of the archive again if the file's size, time, device or inode changed, or the file is gone."""
        version = _version(self.archive)
        if version is None or version != self._version:
            super().invalidate_caches()
            self._version = version


def _version(archive: str) -> tuple[int, int, int, int] | None:
    """Return the size, time, device and inode of a file, which change when it is written or replaced; None for no file."""
    try:
        status = Path(archive).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino
