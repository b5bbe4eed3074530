"""``DataFrame.mapInArrow`` for column names with dots or backticks, and the exceptions of its workers."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkException

from icefloe import exceptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

_MISSING = re.compile(
    r"ModuleNotFoundError: No module named '(icefloe|pyarrow|pandas|numpy|pydantic|typing_extensions)'"
)
_RAISED = re.compile(r"^\s*icefloe\.exceptions\.(\w+): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class WithNames:
    """A function of batches, called with restored column names.

    Args:
        function: Function from batches to batches.
        names: Column names of the batches that it gets.
    """

    function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of the function."""
        names = list(self.names)
        return self.function(pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)


def map_in_arrow(
    frame: DataFrame, function: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]], schema: Any
) -> DataFrame:
    """Return ``frame.mapInArrow(function, schema)``, which alone would take a column ``a.b`` for a field of a column ``a``.

    Args:
        frame: Rows.
        function: Function from batches to batches.
        schema: Schema of the batches that it yields.
    """
    names = tuple(frame.columns)
    if not any("." in name or "`" in name for name in names):
        return frame.mapInArrow(function, schema)
    plain = frame.toDF(*[f"column_{index}" for index in range(len(names))])
    return plain.mapInArrow(WithNames(function, names), schema)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Raise the icefloe exception that failed a Spark job in the block, with Spark's exception as its cause.

    Spark reports an exception of a Python worker as the text of its traceback.

    Raises:
        NotInstalledError: The interpreter that Spark starts for its workers lacks icefloe or a package that it needs.
    """
    try:
        yield
    except PySparkException as error:
        missing = _MISSING.search(str(error))
        if missing is not None:
            raise exceptions.NotInstalledError(
                f"Spark workers: expected an interpreter with icefloe, got one that has no package {missing[1]}; install icefloe there, or, on "
                f"one machine, set the environment variable PYSPARK_PYTHON to {sys.executable} before the session starts: Spark else takes the "
                "python3 of PATH"
            ) from error
        found = _RAISED.findall(str(error))
        # An exception that passed through an Arrow stream is quoted in the exception of its consumer: the last match is the cause.
        name, message = found[-1] if found else ("", "")
        kind = getattr(exceptions, name, None)
        if kind is None:
            raise
        raise kind(message) from error
