"""The start of ``foreachBatch`` over Spark Connect, for the jobs that ``test_connect.py`` runs."""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.connect.streaming.query import StreamingQuery

LATE_WORKER = "Timed out while waiting for the Python worker to connect back"


def started(sink: Any, attempts: int = 30) -> StreamingQuery:
    """Start the query of a ``DataStreamWriter``, again if its Python worker was late.

    The server gives a worker ten seconds to import PySpark and connect, a limit that no setting changes and that
    a machine with much other work exceeds. The query does not exist yet at that moment, so nothing has run.
    """
    try:
        return sink.start()
    except PySparkException as error:
        if attempts == 1 or LATE_WORKER not in str(error):
            raise
    return started(sink, attempts - 1)
