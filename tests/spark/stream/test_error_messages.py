"""Every error of a stream names its subject and what was expected."""

from __future__ import annotations

import pickle
import re
import tempfile
from pathlib import Path

import icefloe.spark.stream
import pytest
from icefloe.exceptions import IcebergError
from icefloe.partitioning import PartitionSpec
from icefloe.spark.stream import admission
from icefloe.spark.stream.epoch import epoch_branch
from icefloe.spark.stream.limits import Limits
from icefloe.spark.stream.offset import StreamOffset
from icefloe.spark.stream.options import SinkOptions, SourceOptions
from icefloe.spark.stream.sink import EpochFiles, IcefloeStreamWriter
from icefloe.spark.stream.sink_table import FILE_NAME, check_sink_table
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.wap import AuditSettings
from icefloe.table.update.actions import RemoveSnapshotsUpdate
from icefloe.types import IntegerType, LongType

from tests.spark.raised_texts import raised_texts, texts_without_a_case
from tests.spark.stream.conftest import BY_KIND, HAS_ADMISSION_CONTROL, SCHEMA, numbered
from tests.spark.stream.engine import Query

UNREACHABLE = {
    " has been committed": "the sink catches it",
    **({"options streaming-max-*: ": "this Spark has limits"} if HAS_ADMISSION_CONTROL else {}),
}


class Cases:
    """The ways to cause each error, each with a table of its own."""

    def __init__(self, spark, new_table, options):
        self.spark, self.new_table, self.options = spark, new_table, options

    def table(self, spec=BY_KIND):
        table = self.new_table(SCHEMA, spec)
        table.append(numbered(0, 4, kinds=2))
        return table

    def query(self, table, **options):
        named = {key.replace("_", "-"): value for key, value in options.items()}
        return Query({**self.options, "path": ".".join(table.name()), **named})

    def after(self, change, spec=BY_KIND, **options):
        """Change a table between two micro-batches of a query."""
        table = self.table(spec)
        query = self.query(table, **options)
        query.batch()
        change(table)
        query.batch()

    def expired(self, **options):
        table = self.table()
        query = self.query(table)
        query.batch()
        for start in (4, 6, 8):
            table.append(numbered(start, start + 2))
        gone = tuple(entry.snapshot_id for entry in table.history()[:-1])
        table.transaction().apply_updates((RemoveSnapshotsUpdate(snapshot_ids=gone),)).commit_transaction()
        (self.query(table, **options) if options else query).batch()

    def expired_parent(self, table):
        table.delete("id = 1")
        gone = (table.history()[0].snapshot_id,)
        table.transaction().apply_updates((RemoveSnapshotsUpdate(snapshot_ids=gone),)).commit_transaction()

    def replaced(self, table):
        catalog = table.catalog
        catalog.drop_table(table.name())
        catalog.create_table(table.name(), table.schema()).append(numbered(0, 2))

    def recreated(self):
        table = self.table()
        query = self.query(table)
        query.batch()
        self.replaced(table)
        query.restart()
        query.batch()

    def promoted(self, table):
        table.update_spec().remove_field("kind").commit()
        table.update_schema().update_column("kind", LongType()).commit()

    def replaced_column(self, table):
        table.update_schema().delete_column("kind").add_column("kind", IntegerType()).commit()

    def rolled_back(self):
        table = self.table()
        first = table.current_snapshot().snapshot_id
        table.append(numbered(4, 6))
        query = self.query(table)
        start, end = query.next_end()
        table.manage_snapshots().rollback_to_snapshot(first).commit()
        query.new_reader().partitions(start, end)

    def beyond_the_files(self):
        query = self.query(self.table())
        _, end = query.next_end()
        query.new_reader().partitions(
            {**end, "position": 98, "scan_all_files": False}, {**end, "position": 99, "scan_all_files": False}
        )

    def tagged(self):
        table = self.table()
        table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "release").commit()
        self.query(table, branch="release").batch()

    def sink(self):
        table = self.table()
        options = SinkOptions.parse({**self.options, "path": ".".join(table.name())})
        return IcefloeStreamWriter(options, to_spark_schema(table.schema()), overwrite=False)

    def staged(self):
        table = self.table()
        with table.update_properties() as update:
            update.set_properties({"write.wap.enabled": "true"})
        epoch_branch(AuditSettings(wap_id="nightly"), table, None)

    def recorded(self, table_uuid=None, record=None):
        """Write a record into a checkpoint, or none, and check a table against it."""
        table = self.table()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "metadata").write_text("{}")
            if record is not None:
                Path(folder, FILE_NAME).write_text(record)
            given = {} if table_uuid is None else {"table-uuid": table_uuid}
            check_sink_table(table, SinkOptions.parse({"path": "db.t", "checkpointLocation": folder, **given}))

    def pickled_merge(self):
        table = self.table()
        state = pickle.dumps(icefloe.spark.stream.merge_batches(table, ["id"], query_id="q"))
        self.replaced(table)
        pickle.loads(state)

    def source_options(self, **options):
        named = {key.replace("_", "-"): value for key, value in options.items()}
        return SourceOptions.parse({**self.options, "path": "db.t", **named})

    def causes(self):
        table = self.table()
        rows = self.spark.createDataFrame([(1, 1)], "id long, kind int")
        limits = {} if HAS_ADMISSION_CONTROL else {"limits": lambda: admission.check_limits(Limits(files=2))}
        return {
            **limits,
            "deleted rows": lambda: self.after(lambda table: table.delete("id = 1")),
            "positions beyond the files": self.beyond_the_files,
            "expired snapshots": self.expired,
            "expired parent": lambda: self.after(self.expired_parent, changes="true"),
            "expired snapshots of a time": lambda: self.expired(stream_from_timestamp="1"),
            "stream of a tag": self.tagged,
            "table created again": self.recreated,
            "unknown first snapshot": lambda: self.query(table, start_snapshot_id="7").batch(),
            "merge of clauses that return nothing": lambda: icefloe.spark.stream.merge_batches(
                table, ["id"], lambda _: None, query_id="q"
            )(rows, 0),
            "merge on no keys": lambda: icefloe.spark.stream.merge_batches(table, []),
            "merge outside of a query": lambda: icefloe.spark.stream.merge_batches(table, ["id"])(rows, 0),
            "offset of another version": lambda: StreamOffset.from_json({"version": 9}, changes=False),
            "offset of another stream": lambda: StreamOffset.from_json(
                {"version": 1, "table_uuid": "u", "snapshot_id": 1}, changes=True
            ),
            "unknown option": lambda: self.source_options(end_snapshot_id="1"),
            "option of no boolean": lambda: self.source_options(changes="perhaps"),
            "option of no number": lambda: self.source_options(streaming_max_rows_per_micro_batch="ten"),
            "option of no positive number": lambda: self.source_options(streaming_max_rows_per_micro_batch="0"),
            "two starts": lambda: self.source_options(stream_from="latest", start_snapshot_id="1"),
            "unknown start": lambda: self.source_options(stream_from="now"),
            "option of another stream": lambda: self.source_options(compute_updates="true"),
            "write to a location": lambda: SinkOptions.parse({**self.options, "path": table.metadata_location}),
            "write outside of a query": lambda: self.sink().write(iter(())),
            "write to a table created again": lambda: self.sink().commit(
                [EpochFiles(None, "q", "another", AuditSettings())], 0
            ),
            "write of a session that stages": self.staged,
            "sink of a table created again": lambda: self.recorded(
                record='{"version": 1, "table": "db.t", "table_uuid": "u"}'
            ),
            "sink of another table than the option's": lambda: self.recorded(table_uuid="u"),
            "sink with a record of no version": lambda: self.recorded(record="nothing"),
            "merge into a table created again": self.pickled_merge,
            "table rolled back": self.rolled_back,
            "partition of another reader": lambda: self.query(table).new_reader().read("x"),
            "column of another type": lambda: self.after(self.promoted),
            "column of another id": lambda: self.after(self.replaced_column, spec=PartitionSpec()),
        }


@pytest.fixture(scope="module")
def errors(spark, catalog, lake_options):
    """The error of each cause, by its name."""
    from icefloe.spark import schema_from_spark

    numbers = iter(range(100))

    def new_table(schema, spec):
        return catalog.create_table(f"db.stream_errors_{next(numbers)}", schema_from_spark(schema), partition_spec=spec)

    found = {}
    for name, cause in Cases(spark, new_table, lake_options).causes().items():
        with pytest.raises(IcebergError) as caught:
            cause()
        found[name] = caught.value
    return found


def test_errors_name_subject_and_expectation(errors):
    wrong = {
        name: str(error)
        for name, error in errors.items()
        if not (re.match(r"[^;\n]+: ", str(error)) and "expected" in str(error)) or "\n" in str(error)
    }
    assert wrong == {}


def test_every_error_of_the_room_has_a_case(errors):
    with pytest.raises(AttributeError) as caught:
        _ = icefloe.spark.stream.nope
    assert texts_without_a_case(raised_texts(["stream"]), {**errors, "module": caught.value}, UNREACHABLE) == {}


def test_unreachable_errors_are_still_raised():
    texts = [text for text, _ in raised_texts(["stream"])]
    assert [known for known in UNREACHABLE if not any(text.startswith(known) for text in texts)] == []
