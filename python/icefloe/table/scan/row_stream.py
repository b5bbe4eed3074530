"""Streams of rows: what a plan opens, and the table's name in failures of reading."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

STREAM_BATCH_BYTES = 3 * 512 * 1024
"""Bytes of a batch of a stream: batches that a consumer releases hold little memory however wide rows are."""

TABLE_BATCH_BYTES = 20 * 1024 * 1024
"""Bytes of a batch of rows that stay in memory together: the largest part of a row group that one thread decodes.

Arrow and Polars keep every batch as a chunk of each column, and each chunk costs microseconds.
"""

TABLE_BATCH_ROWS = 320 * 1024
"""Rows of a batch of rows that stay in memory together; see `TABLE_BATCH_BYTES`."""


class RowStream(Protocol):
    """A stream of record batches; each consumer reads it from the beginning."""

    @property
    def schema(self) -> pa.Schema:
        """Schema of every batch."""

    def named(self, origin: str) -> RowStream:
        """Return the stream with the origin that failures name."""

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...


class RowSource(Protocol):
    """A plan that opens as a stream of rows."""

    @property
    def max_rows(self) -> int | None:
        """The number of rows at most, before deletes and the filter; None if planning does not count them."""

    def stream(
        self,
        *,
        string_views: bool = False,
        extension_types: bool = False,
        batch_size: int = 65536,
        batch_bytes: int = STREAM_BATCH_BYTES,
    ) -> RowStream:
        """Return the rows as a stream; see `ScanPlan.stream`."""


@contextmanager
def failures_name(origin: str) -> Iterator[None]:
    """Add the table and snapshot to the messages of failures, which name only a file."""
    try:
        yield
    except (CorruptFileError, FeatureUnsupportedError, SchemaMismatchError, StorageError) as error:
        error.args = (f"{error} (reading {origin})",)
        raise


def read_from(origin: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield batches; failures name their origin."""
    with failures_name(origin):
        yield from batches
