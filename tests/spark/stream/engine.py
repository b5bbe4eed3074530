"""The protocol by which Spark drives a streaming reader, without a JVM: offsets as JSON, tasks pickled, readers replaced at a restart."""

from __future__ import annotations

import json
import pickle

import pyarrow as pa
from icefloe.spark.data_source import IcefloeDataSource
from icefloe.spark.stream.options import SourceOptions
from icefloe.spark.stream.source import IcefloeStreamReader


class Query:
    """One query with its checkpoint.

    Args:
        options: Options of the source, the table among them.
    """

    def __init__(self, options):
        self.options = dict(options)
        self.offset = None
        self.restart()

    def restart(self, **options):
        """Replace the reader, as a new driver does, with some options changed; the offset stays."""
        self.options |= {key.replace("_", "-"): value for key, value in options.items()}
        self.schema = IcefloeDataSource(self.options).schema()
        self.reader = self.new_reader()

    def new_reader(self):
        """Return a reader, as Spark makes one for planning and others for reading."""
        return IcefloeStreamReader(SourceOptions.parse(self.options), self.schema)

    def next_end(self):
        """Return the ends of the next micro-batch, equal if there are no new rows."""
        start = self._as_json(self.reader.initialOffset()) if self.offset is None else self.offset
        return start, self._as_json(self.reader.latestOffset(start))

    def rows(self, start, end):
        """Return the rows between two offsets, one table for each task with rows."""
        batches = []
        for task in self.reader.partitions(start, end):
            reader = pickle.loads(pickle.dumps(self.new_reader()))
            found = list(reader.read(pickle.loads(pickle.dumps(task))))
            if found:  # changes of a task may cancel each other
                batches.append(pa.Table.from_batches(found))
        return batches

    def batch(self):
        """Read the next micro-batch and return its rows as dicts; None if there are no new rows."""
        start, end = self.next_end()
        if start == end:
            return None
        found = [row for table in self.rows(start, end) for row in table.to_pylist()]
        self.offset = end
        self.reader.commit(end)
        return found

    def ids(self):
        """Read all micro-batches and return the ids of each, sorted."""
        found = []
        while (rows := self.batch()) is not None:
            found.append(sorted(row["id"] for row in rows))
        return found

    @staticmethod
    def _as_json(offset):
        return json.loads(json.dumps(offset))
