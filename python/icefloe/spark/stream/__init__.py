"""Structured Streaming: a source of appended or changed rows, a sink that commits each micro-batch once, and merges of micro-batches.

``merge_batches`` is loaded at its first use, because executors need only the modules of their tasks.

Examples:
    >>> options = {"catalog": "lake", "catalog.type": "hadoop", "catalog.warehouse": warehouse}
    >>> icefloe.spark.register(spark)
    >>> spark.readStream.format("icefloe").options(**options).load("db.events").columns
    ['id', 'name']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefloe.spark.stream.micro_batch_merge import MergeBatches, merge_batches

__all__ = ["MergeBatches", "merge_batches"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'icefloe.spark.stream' has no attribute {name!r}")
    from icefloe.spark.stream import micro_batch_merge

    value = globals()[name] = getattr(micro_batch_merge, name)
    return value
