"""The Arrow inputs that the core accepts."""

from typing import Protocol, TypeAlias

import pyarrow as pa

class ArrowArrayExportable(Protocol):
    """Anything that exports an Arrow array or batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class ArrowStreamExportable(Protocol):
    """Anything that exports a stream of Arrow batches."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

ArrayLike: TypeAlias = ArrowArrayExportable | pa.ChunkedArray
BatchLike: TypeAlias = ArrowArrayExportable | ArrowStreamExportable
