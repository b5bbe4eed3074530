"""What was being read when reading failed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


@contextmanager
def naming(origin: str) -> Iterator[None]:
    """Have failures of reading, which name a file, name the table and the snapshot too."""
    try:
        yield
    except (CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, StorageError) as error:
        error.args = (f"{error} (reading {origin})",)
        raise


def read_from(origin: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; a failure names where they come from."""
    with naming(origin):
        yield from batches
