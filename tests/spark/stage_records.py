"""The rows that the stages of Spark jobs read from files and from shuffles."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def recorded_stages(spark) -> Iterator[Callable[[], tuple[int, int]]]:
    """Yield a function that returns the numbers of rows that the block's jobs read by Spark's own readers, and from shuffles."""
    context, group = spark.sparkContext, uuid.uuid4().hex
    context.setJobGroup(group, "recorded")

    def records() -> tuple[int, int]:
        context._jsc.sc().listenerBus().waitUntilEmpty()
        store, tracker = context._jsc.sc().statusStore(), context.statusTracker()
        stages = {one for job in tracker.getJobIdsForGroup(group) for one in tracker.getJobInfo(job).stageIds}
        read = shuffled = 0
        for stage in stages:
            try:
                found = store.lastStageAttempt(stage)
            except Py4JJavaError:
                # A stage whose output an earlier job left is skipped.
                continue
            read += found.inputRecords()
            shuffled += found.shuffleReadRecords()
        return read, shuffled

    try:
        yield records
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
