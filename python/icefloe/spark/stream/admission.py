"""Admission control of Spark 4.2 and later, which earlier versions lack: read limits, and the end of a query with availableNow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pyspark

from icefloe.exceptions import FeatureUnsupportedError

if TYPE_CHECKING:
    from icefloe.spark.stream.limits import Limits

try:
    import pyspark.sql.streaming.datasource as _admission
except ImportError:  # Spark 4.0 and 4.1
    _admission = None


Reader = TypeVar("Reader")


def support_available_now(reader: type[Reader]) -> type[Reader]:
    """Declare that a reader has ``prepareForTriggerAvailableNow``."""
    if _admission is not None:
        _admission.SupportsTriggerAvailableNow.register(reader)
    return reader


def ignores_limits(limit: Any) -> bool:
    """Return whether Spark asks for everything available, whatever limits the options set."""
    return _admission is not None and isinstance(limit, _admission.ReadAllAvailable)


def read_limit(limits: Limits) -> Any:
    """Return Spark's form of the first limit; ``latestOffset`` applies all of them."""
    if _admission is None:
        return None
    if limits.files is not None:
        return _admission.ReadMaxFiles(limits.files)
    if limits.rows is not None:
        return _admission.ReadMaxRows(limits.rows)
    return _admission.ReadAllAvailable() if limits.size is None else _admission.ReadMaxBytes(limits.size)


def check_limits(limits: Limits) -> None:
    """Raise FeatureUnsupportedError for limits on a Spark without admission control.

    Spark 4.0 and 4.1 fix the end of a query with the trigger availableNow by its first batch: with a limit the query would end there.
    """
    if _admission is None and not limits.is_unlimited:
        raise FeatureUnsupportedError(
            "options streaming-max-*: Spark has no limits for Python sources before version 4.2, where a query with the trigger "
            f"availableNow would end after its first batch; expected Spark 4.2 or later, got {pyspark.__version__}: leave the "
            "options out"
        )
