"""Exceptions of executors, raised on the driver as icefloe's exceptions."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from icefloe import exceptions

if TYPE_CHECKING:
    from collections.abc import Iterator

_RAISED = re.compile(r"^\s*icefloe\.exceptions\.(\w+): (.*)$", re.MULTILINE)


@contextmanager
def worker_errors() -> Iterator[None]:
    """Raise the icefloe exception that failed a Spark job in the block, with Spark's exception as its cause.

    Spark reports an exception of a Python worker as the text of its traceback.
    """
    try:
        yield
    except PySparkException as error:
        found = _RAISED.findall(str(error))
        # An exception that passed through an Arrow stream is quoted in the exception of its consumer: the last match is the cause.
        name, message = found[-1] if found else ("", "")
        kind = getattr(exceptions, name, None)
        if kind is None:
            raise
        raise kind(message) from error
