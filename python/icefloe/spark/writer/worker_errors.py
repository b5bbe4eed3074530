"""Failures of executors, raised on the driver as what they were."""

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
    """Raise an icefloe exception that failed a Spark job as itself, with Spark's report as its cause.

    Spark reports what a Python worker raised only as the text of a traceback.
    """
    try:
        yield
    except PySparkException as error:
        found = _RAISED.findall(str(error))
        # An error that a stream carried through Arrow is quoted within that of its consumer: the last is the first cause.
        name, message = found[-1] if found else ("", "")
        kind = getattr(exceptions, name, None)
        if kind is None:
            raise
        raise kind(message) from error
