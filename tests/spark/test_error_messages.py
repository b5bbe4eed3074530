"""Every error that a user of `icefloe.spark` can cause names its subject, what was expected and what was given."""

from __future__ import annotations

import re
from functools import reduce
from operator import or_

import icefloe.spark
import pandas as pd
import pyarrow as pa
import pytest
from icefloe.exceptions import IcebergError, ResolveError, SchemaMismatchError
from icefloe.expressions import EqualTo
from icefloe.expressions.tree import MAX_DEPTH
from icefloe.schema import Schema
from icefloe.spark import data_source, functions
from icefloe.spark.dml import copy_on_write
from icefloe.spark.dml.written_files import run
from icefloe.spark.metadata_tables import metadata_rows
from icefloe.spark.session import settings
from icefloe.spark.table_options import TableOptions
from icefloe.spark.transform_udf import transformed
from icefloe.spark.types.stored_types import to_stored_types
from icefloe.spark.types.uuid_text import text_to_uuid
from icefloe.spark.writer.column_filter import MAX_CONDITIONS, filter_of_column
from icefloe.table import StaticTable
from icefloe.types import LongType, NestedField, StringType, TimeType
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as T  # noqa: N812  the name everyone uses
from pyspark.sql.connect import functions as connect_functions

from tests.spark.raised_texts import raised_texts, texts_without_a_case

OTHER_ROOMS = ("statements", "lexer", "stream", "maintenance")
"""Rooms whose errors have cases in their own tests."""
SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "name", StringType()))
TIMES = Schema(NestedField(1, "at", TimeType()))
BOTH_CASES = Schema(NestedField(1, "ID", LongType()), NestedField(2, "id", LongType()))
NESTED_UUID = (
    '{"type":"struct","fields":[{"id":1,"name":"u","required":false,'
    '"type":{"type":"list","element-id":2,"element":"uuid","element-required":false}}]}'
)
UNREACHABLE = {
    "; expected columns without maps, which Spark cannot compare": "statements alone have such conditions",
    "; install icefloe there, or, on one machine, ": "test_failures.py has workers of another Python",
    "module 'icefloe.spark' has no attribute ": "an error of Python, in its words",
    "option merge-schema: another commit changed the table's columns": "a commit between two processes of Spark",
    "arrow_udf: expected Spark 4.1 or newer, got ": "the Spark of the tests has Arrow UDFs",
    "SQL functions: pandas gets timestamps without their zone; ": "the Spark of the tests has Arrow UDFs",
    "partition: expected a ReadTask or ChangeTask of this reader, got a ": "Spark passes the reader's own tasks",
    "filter: unknown operator; expected an operator of the REST specification, got ": "the core has parsed the filter",
    "filter: a Spark column has no transform of the table format; expected a column name, got ": "the plan refuses them",
    "filter: there is no column ": "the core has resolved the names",
    "partition spec or sort order: the schema has no column with field id ": "metadata with an unknown source id",
    "position deletes: expected one of the ": "test_scan_deletes.py has corrupt delete files",
    ": the session has spark.sql.caseSensitive=true": "test_case_sensitive.py has such sessions",
}


class Cases:
    """The ways to cause each error, with a table of two rows."""

    def __init__(self, spark, table):
        self.spark, self.table = spark, table
        self.rows = spark.createDataFrame([(1, "x")], "id long, name string")
        self.twice = spark.createDataFrame([(1, "x"), (1, "y")], "id long, name string")

    def merge(self, source=None, on=("id",)):
        return icefloe.spark.merge_into(self.table, self.rows if source is None else source, on=on)

    def write(self, mode="append", **options):
        named = {key.replace("_", "-"): value for key, value in options.items()}
        icefloe.spark.write(self.rows, self.table, mode, named)

    def overwrite(self, condition):
        icefloe.spark.write_to(self.rows, self.table).overwrite(condition)

    def read(self, source=None, **arguments):
        return icefloe.spark.read(self.table if source is None else source, spark=self.spark, **arguments)

    def scan(self, **options):
        named = {key.replace("_", "-"): value for key, value in options.items()}
        return TableOptions.parse({"path": self.table.metadata_location, **named}).scan()

    def staged(self, values, **options):
        with settings(self.spark, {f"spark.wap.{key}": value for key, value in values.items()}):
            self.write(**options)

    def places(self):
        place = icefloe.spark.schema_from_spark(T.StructType.fromDDL("id long, place struct<city: string>"))
        return self.table.catalog.create_table_if_not_exists("db.places_with_errors", place)

    def changing_source(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(copy_on_write, "run", lambda *arguments: run(*arguments)[1:])
            self.merge().when_matched_update_all().execute()

    def without_session(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SparkSession, "getActiveSession", staticmethod(lambda: None))
            patch.setattr(SparkSession, "_instantiatedSession", None)
            icefloe.spark.read(self.table)

    def writer(self, path, **options):
        named = {key.replace("_", "-"): value for key, value in options.items()}
        parsed = TableOptions.parse({"path": path, **named})
        data_source.IcefloeWriter.make(parsed, self.rows.schema, overwrite=True)

    def replaced_while_writing(self):
        schema = icefloe.spark.schema_from_spark(self.rows.schema)
        catalog, name = self.table.catalog, "db.replaced_while_writing"
        catalog.create_table(name, schema)
        given = {f"catalog.{key}": catalog.properties[key] for key in ("uri", "warehouse")}
        parsed = TableOptions.parse({"path": name, "catalog": "lake", "catalog.type": "sql", **given})
        writer = data_source.IcefloeWriter.make(parsed, self.rows.schema, overwrite=False)
        catalog.drop_table(name)
        catalog.create_table(name, schema)
        writer.commit([])

    def data_source_read(self, schema):
        source = data_source.IcefloeDataSource({"path": self.table.metadata_location})
        source.reader(T.StructType.fromDDL(schema)).partitions()

    def causes(self):
        return {
            "merge on no keys": lambda: self.merge(on=[]),
            "merge on an expression": lambda: self.merge(on=EqualTo("id", 1)),
            "merge without clauses": lambda: self.merge().execute(),
            "merge with an unknown key": lambda: self.merge(on={"id": "nope"}).when_matched_delete().execute(),
            "merge with an unknown key of the table": lambda: (
                self.merge(on={"nope": "id"}).when_matched_delete().execute()
            ),
            "merge with no values": lambda: self.merge().when_matched_update({}),
            "merge of an unknown column": lambda: self.merge().when_matched_update({"nope": "1"}).execute(),
            "merge of an unknown name": lambda: self.merge().when_matched_update({"name": "nope"}).execute(),
            "merge with wrong SQL": lambda: self.merge().when_matched_delete("source.id = ").execute(),
            "merge without a required value": lambda: (
                self.merge().when_not_matched_insert({"name": "source.name"}).execute()
            ),
            "merge from a source without a column": lambda: (
                self.merge(self.rows.select("id")).when_matched_update_all().execute()
            ),
            "merge from a source of another type": lambda: (
                self.merge(self.rows.selectExpr("id", "array(name) AS name")).when_matched_update_all().execute()
            ),
            "merge of two rows into one": lambda: self.merge(self.twice).when_matched_update_all().execute(),
            "merge of a source that changes": self.changing_source,
            "metadata table of no name": lambda: metadata_rows(self.table, "nope"),
            "metadata table of no version": lambda: metadata_rows(self.table, "snapshots", 1),
            "update of no column": lambda: icefloe.spark.update(self.table, {}, spark=self.spark),
            "update of an unknown column": lambda: icefloe.spark.update(self.table, {"no": "1"}, spark=self.spark),
            "truncate without a type": lambda: functions.truncate(4, "name"),
            "bucket out of range": lambda: functions.bucket(0, "id"),
            "merge on an aggregate": lambda: (
                self.merge(on="target.id = source.id AND max(source.id) = 1").when_matched_delete().execute()
            ),
            "transform of another type": lambda: functions.transform(self.rows, "day", "id"),
            "unknown transform": lambda: functions.transform(self.rows, "halve", "id"),
            "read of two versions": lambda: self.read(tag="a", branch="b"),
            "read of a scan's range": lambda: self.read(self.table.scan(), start_snapshot_id=1),
            "read of an end alone": lambda: self.read(end_snapshot_id=1),
            "read of a range's version": lambda: self.read(
                self.table.incremental_append_scan(
                    from_snapshot_id_exclusive=self.table.history()[0].snapshot_id, to_snapshot_id_inclusive=None
                ),
                tag="a",
            ),
            "read of a name": lambda: self.read("db.events"),
            "schema of a text": lambda: icefloe.spark.to_spark_schema("long"),
            "write option of no text": lambda: icefloe.spark.write(
                self.rows, self.table, options={"fanout-enabled": None}
            ),
            "no session": self.without_session,
            "text as a session": lambda: icefloe.spark.read(self.table, spark="local"),
            "delete of no condition": lambda: icefloe.spark.delete_from(self.table, None, spark=self.spark),
            "update of a struct with other fields": lambda: icefloe.spark.update(
                self.places(), {"place": "struct(id)"}, spark=self.spark
            ),
            "delete of a condition that is not deterministic": lambda: icefloe.spark.delete_from(
                self.table, F.rand() < 1, spark=self.spark
            ),
            "option of a time without offset": lambda: self.scan(timestampasof="2026-01-31 12:00:00"),
            "option of a time that does not exist": lambda: self.scan(timestampasof="2026-13-31 12:00:00+01:00"),
            "overwrite of a column of a DataFrame": lambda: self.overwrite(self.rows["id"] > 1),
            "overwrite of an unknown column": lambda: self.overwrite(F.col("nope") > 1),
            "overwrite of a column of Spark Connect": lambda: self.overwrite(connect_functions.col("id") > 1),
            "overwrite of a type without literals": lambda: filter_of_column(F.col("at") > 1, TIMES),
            "overwrite of columns that differ in case": lambda: filter_of_column(F.col("Id") > 1, BOTH_CASES),
            "overwrite of a function": lambda: self.overwrite(F.rand() > 1),
            "overwrite of a long chain": lambda: self.overwrite(reduce(or_, [F.col("id") == 1] * (MAX_CONDITIONS + 1))),
            "overwrite of a deep condition": lambda: self.overwrite(
                reduce(
                    lambda one, _: (one | F.col("id").isNull()) & F.col("id").isNotNull(), range(MAX_DEPTH), F.lit(True)
                )
            ),
            "option of no number": lambda: self.scan(snapshot_id="new"),
            "option unknown": lambda: self.scan(snapshotid="1"),
            "option of writes": lambda: self.scan(overwrite_filter="id = 1"),
            "option of no table": lambda: TableOptions.parse({}),
            "options of two versions": lambda: self.scan(tag="a", branch="b"),
            "option of changes alone": lambda: self.scan(net_changes="true"),
            "option of a time alone": lambda: self.scan(start_timestamp="1"),
            "option of an end alone": lambda: self.scan(end_snapshot_id="1"),
            "option of no boolean": lambda: self.scan(case_sensitive="perhaps"),
            "write to a location": lambda: self.writer(self.table.metadata_location),
            "unknown overwrite mode": lambda: self.writer("db.events", overwrite_mode="loud"),
            "rows that do not fit": lambda: icefloe.spark.write(self.spark.range(1).toDF("other"), self.table),
            "schema of a type that Iceberg lacks": lambda: icefloe.spark.schema_from_spark(
                T.StructType([T.StructField("n", T.NullType())])
            ),
            "schema of no Spark schema": lambda: icefloe.spark.schema_from_spark(self.rows),
            "schema with a field twice": lambda: icefloe.spark.schema_from_spark(
                T.StructType.fromDDL("s struct<a: int, a: int>")
            ),
            "rows of a nested uuid": lambda: to_stored_types(pa.record_batch({"u": [["a"]]}), iter(()), NESTED_UUID),
            "schema of a type that Spark lacks": lambda: icefloe.spark.to_spark_schema(
                Schema(NestedField(1, "at", TimeType()))
            ),
            "text of another length than a uuid": lambda: text_to_uuid(pa.array(["a"]), "u"),
            "text of no uuid": lambda: text_to_uuid(pa.array(["x" * 36]), "u"),
            "overwrite of some rows of a file": lambda: self.write("overwrite", overwrite_filter="id = 1"),
            "overwrite from no snapshot": lambda: self.write("overwrite", validate_from_snapshot_id="new"),
            "both session settings": lambda: self.staged({"id": "a", "branch": "b"}),
            "session setting of another branch": lambda: self.staged({"branch": "b"}, branch="c"),
            "session setting and a branch": lambda: self.staged({"id": "a"}, branch="b"),
            "unknown write mode": lambda: self.write("replace"),
            "unknown write option": lambda: self.write(mood="calm"),
            "filter of an append": lambda: self.write(overwrite_filter="id = 1"),
            "isolation of an append": lambda: self.write(isolation_level="snapshot"),
            "write option of the Java runtime alone": lambda: self.write(delete_format="avro"),
            "write of an unknown spec": lambda: self.write(output_spec_id="7"),
            "overwrite of partitions of a spec": lambda: self.write("overwrite-partitions", output_spec_id="0"),
            "schema merge of another type": lambda: icefloe.spark.write(
                self.rows.selectExpr("id", "array(name) AS name"), self.table, options={"merge-schema": "true"}
            ),
            "data source with a type of another schema": lambda: self.data_source_read("name long"),
            "data source of a column without nulls": lambda: self.data_source_read("name string not null"),
            "data source of a table created again": self.replaced_while_writing,
            "data source with a shuffle": lambda: self.writer("db.events", distribution_mode="hash"),
            **self.builder_causes(),
            **self.udf_causes(),
        }

    def builder_causes(self):
        def builder(table=None):
            return icefloe.spark.write_to(self.rows, self.table if table is None else table)

        return {
            "write to a name alone": lambda: builder("db.t"),
            "write to a table of no catalog": lambda: builder(
                StaticTable.from_metadata(self.table.metadata_location)
            ).replace(),
            "write to a text": lambda: icefloe.spark.write(self.rows, "db.t"),
            "write of a text": lambda: icefloe.spark.write("rows", self.table),
            "overwrite by a column of a function": lambda: builder().overwrite(F.upper("name") == "A"),
            "overwrite by a number": lambda: builder().overwrite(1),
            "write in an unknown format": lambda: builder().using("delta"),
            "append with a definition": lambda: builder().partitioned_by("id").append(),
            "replace of a branch": lambda: builder().option("branch", "b").replace(),
            "partition field of no transform": lambda: builder().partitioned_by("halve(id)").replace(),
            "partition field of a wrong type": lambda: builder().partitioned_by("days(id)").replace(),
            "partition field that is there": lambda: (
                builder().partitioned_by("bucket(4, id)", "bucket(4, id)").replace()
            ),
        }

    def udf_causes(self):
        longs, moments = pd.Series([2.0**60, None]), pd.Series(pd.to_datetime(["2020-01-01"]))
        return {
            "SQL functions with a dot": lambda: functions.register(self.spark, prefix="a.b"),
            "SQL functions of no decimal": lambda: functions.register(self.spark, decimals=["money"]),
            "pandas UDF of large longs": lambda: functions.pandas_udf.bucket(4).func(longs),
            "pandas UDF of moments": lambda: functions.pandas_udf.days().func(moments),
            "transform of bytes of another length": lambda: transformed("bucket[4]", "fixed[3]", pa.array([b"a"])),
        }


@pytest.fixture(scope="module")
def errors(spark, catalog):
    """The error of each case, by the name of the case."""
    table = catalog.create_table("db.errors", SCHEMA, properties={"write.wap.enabled": "true"})
    table.append(pa.table({"id": [1, 2], "name": ["a", "b"]}, schema=SCHEMA.as_arrow()))
    found = {}
    for name, cause in Cases(spark, table).causes().items():
        with pytest.raises(IcebergError) as caught:
            cause()
        found[name] = caught.value
    assert len(table.refresh().snapshots()) == 1
    return found


def test_errors_name_subject_and_expectation_and_what_was_given(errors):
    by_spark = {"merge of an unknown name", "merge with wrong SQL"}
    wrong = {
        name: str(error)
        for name, error in errors.items()
        if name not in by_spark
        and not (re.match(r"[^;\n]+: ", str(error)) and "expected" in str(error) and re.search("got |no ", str(error)))
    }
    assert wrong == {}


def test_errors_of_spark_name_the_clause_and_the_text(errors):
    label = r"merge, clause 1 \(when_matched_"
    assert re.match(
        label + r"update\), value of column 'name' 'nope': .*quote it", str(errors["merge of an unknown name"])
    )
    assert re.match(label + r"delete\), condition 'source\.id = ': ", str(errors["merge with wrong SQL"]))


def test_errors_contain_no_names_of_rust_and_no_second_line(errors):
    for error in errors.values():
        assert not re.search(r"Utf8|Int64|\n", str(error)), error


def test_errors_have_the_class_of_their_kind(errors):
    assert type(errors["merge with an unknown key"]) is type(errors["merge of an unknown name"]) is ResolveError
    assert type(errors["rows that do not fit"]) is SchemaMismatchError


def test_every_error_of_the_package_has_a_case(errors):
    assert texts_without_a_case(raised_texts(without=OTHER_ROOMS), errors, UNREACHABLE) == {}


def test_unreachable_errors_are_still_raised():
    texts = [text for text, _ in raised_texts(without=OTHER_ROOMS)]
    assert [known for known in UNREACHABLE if not any(text.startswith(known) for text in texts)] == []
