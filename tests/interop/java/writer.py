"""Runs the Java reference through Spark in a process of its own: writes every table and asks it for its rows."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from tests.interop.java import added_files, continued
from tests.interop.java.case import ANSWER_COLUMN, Case
from tests.interop.java.concurrent_histories import HISTORIES, history, java_outcome
from tests.interop.java.continued import shared_catalogs, sqlite_driver
from tests.interop.java.java_steps import JavaSteps
from tests.interop.java.metadata_tables import write_metadata_tables
from tests.interop.java.procedure_cases import CALLS
from tests.interop.java.procedure_runner import run_call, signatures
from tests.interop.java.pruned_queries import plan_queries
from tests.interop.java.random_programs import run_program
from tests.interop.java.registered_tables import FORMATS, add_registered
from tests.interop.java.same_steps import SCRIPTS, Script
from tests.interop.java.statement_programs import PROGRAMS
from tests.interop.java.statement_runner import run_statements
from tests.interop.java.summaries import overwrites, summaries
from tests.interop.java.tables import CASES, REFUSED

CATALOG = "java"
THREADS = 3


def session(jar: str, warehouse: Path) -> SparkSession:
    """A small Spark whose catalog `java` is the Java runtime's."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    catalog = f"spark.sql.catalog.{CATALOG}"
    driver = sqlite_driver()
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.extraClassPath": jar if driver is None else f"{jar}:{driver}",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.local.dir": str(warehouse.parent / "spark"),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": str(warehouse),
        f"{catalog}.cache-enabled": "false",
    }
    # A task is tried three times, as on a cluster: the machine is busy while the reference runs, and a lost worker is no answer.
    builder = SparkSession.builder.master("local[2,3]").appName("java reference")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


class Writer:
    """The session, the table and the files of the steps of a case."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder

    @property
    def iceberg(self) -> Any:
        return self.spark._jvm.org.apache.iceberg

    @property
    def types(self) -> Any:
        return self.iceberg.types.Types

    @property
    def catalog(self) -> Any:
        """The Java catalog itself."""
        hadoop = self.spark._jsc.hadoopConfiguration()
        return self.iceberg.hadoop.HadoopCatalog(hadoop, str(self.folder / "warehouse"))

    def load(self, table: str) -> Any:
        return self.catalog.loadTable(self.identifier(table))

    def identifier(self, table: str) -> Any:
        return self.iceberg.catalog.TableIdentifier.parse(table.removeprefix(f"{CATALOG}."))

    def create(self, table: str, *columns: tuple[str, Any]) -> Any:
        """Create a table of optional columns, named and typed by the API, and return it."""
        fields = [self.types.NestedField.optional(n, *column) for n, column in enumerate(columns, 1)]
        return self.catalog.createTable(self.identifier(table), self.iceberg.Schema(fields))

    def write_records(self, out: Any, fields: list[Any], rows: list[tuple[Any, ...]]) -> Any:
        """Write generic records by a writer of Java's, and return it closed."""
        plain = all(str(field.type()) in {"int", "string"} for field in fields)
        for record in (self.made if plain else self.read_back)(fields, rows):
            out.write(record)
        out.close()
        return out

    def made(self, fields: list[Any], rows: list[tuple[Any, ...]]) -> Iterator[Any]:
        record = self.iceberg.data.GenericRecord.create(self.iceberg.Schema(fields))
        for row in rows:
            for place, value in enumerate(row):
                record.set(place, value)
            yield record.copy()

    def read_back(self, fields: list[Any], rows: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Records of longs, from a table of them: py4j has but one kind of whole number."""
        name = f"{CATALOG}.records.r{uuid.uuid4().hex}"
        names = [f"c{place}" for place in range(len(fields))]
        table = self.create(name, *zip(names, (field.type() for field in fields), strict=True))
        kinds = self.spark.table(name).schema
        self.spark.createDataFrame(rows, kinds).coalesce(1).writeTo(name).append()
        table.refresh()
        found = self.iceberg.data.IcebergGenerics.read(table).build().iterator()
        while found.hasNext():
            yield found.next().copy()

    def schema_of(self, table: Any, ids: list[int]) -> Any:
        """The schema of some columns, in the order of their ids in the list."""
        return self.iceberg.Schema([table.schema().findField(each) for each in ids])

    def output(self, table: Any, file_format: str) -> Any:
        """A new file of a table."""
        place = f"{table.location()}/data/{uuid.uuid4()}.{file_format}"
        return self.iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(table.io().newOutputFile(place))

    def partition(self, spec: Any, values: tuple[Any, ...]) -> Any:
        """A partition tuple, None where there are no partitions."""
        if not values:
            return None
        found = self.iceberg.PartitionData(spec.partitionType())
        for place, value in enumerate(values):
            found.put(place, value)
        return found

    def write(self, case: Case) -> None:
        """Write a table and the answers about it."""
        table = f"{CATALOG}.db.{case.name}"
        for step in case.steps:
            if callable(step):
                step(self, table)
            else:
                self.spark.sql(step.replace("{t}", table))
        if case in REFUSED:
            return
        filters = [f"COALESCE({text}, false) AS `{ANSWER_COLUMN}{n}`" for n, text in enumerate(case.filters_there())]
        place = case.answered_by.format(t=table, folder=self.folder)
        self.answer(f"SELECT {', '.join(['*', *filters])} FROM {place}", case.name, "head")
        snapshots = self.spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect() if case.history else []
        for version in (*case.reads, *(str(row.snapshot_id) for row in snapshots)):
            at = version if version.isdigit() else repr(version)
            self.answer(f"SELECT * FROM {table} VERSION AS OF {at}", case.name, version)

    def carry_out(self, script: Script) -> None:
        """Carry out the steps of a script, and note the metadata file after each."""
        table = self.table_of_steps(
            f"steps.{script.name}", {"format-version": str(script.version), **script.properties}
        )
        self.note("steps", script.name, JavaSteps(self.iceberg, table, self.ints([1])).run(script))

    def table_of_steps(self, name: str, properties: dict[str, str]) -> Any:
        """Create the table that steps change, partitioned by `part`."""
        fields = [
            self.types.NestedField.optional(1, "id", self.types.LongType.get()),
            self.types.NestedField.optional(2, "part", self.types.StringType.get()),
        ]
        schema = self.iceberg.Schema(fields)
        spec = self.iceberg.PartitionSpec.builderFor(schema).identity("part").build()
        return self.catalog.createTable(self.identifier(name), schema, spec, properties)

    def run_history(self, seed: int) -> dict[str, Any]:
        """Carry out a random history of concurrent commits."""
        table = self.table_of_steps(f"histories.h{seed}", {})
        return java_outcome(JavaSteps(self.iceberg, table, self.ints([1])), history(seed))

    def run_program(self, seed: int) -> None:
        """Run a random program in Java's SQL and in icefloe's, and note what each statement left."""
        self.note("programs", str(seed), run_program(self.spark, self.folder, seed))

    def ints(self, values: list[int]) -> Any:
        """A Java array of ints."""
        found = self.spark.sparkContext._gateway.new_array(self.spark._jvm.int, len(values))
        for place, each in enumerate(values):
            found[place] = each
        return found

    def note(self, kind: str, name: str, value: Any) -> None:
        """Write a JSON file for a test."""
        path = self.folder / kind / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    def answer(self, query: str, case: str, name: str) -> None:
        self.keep(self.spark.sql(query).toArrow(), case, name)

    def add_files(self, source: added_files.Source, layout: str) -> None:
        """Add existing files to tables, and keep the rows that Java reads from them."""
        for name, rows in added_files.add_files(self.spark, CATALOG, self.folder, source, layout).items():
            self.keep(rows, f"added-{source.name}-{layout}", name)

    def add_registered(self, file_format: str) -> None:
        """Add tables of files of Spark's own catalog, and keep the rows that Java reads from them."""
        for name, rows in add_registered(self.spark, CATALOG, self.folder, file_format).items():
            self.keep(rows, f"registered-{file_format}", name)

    def keep(self, rows: pa.Table, case: str, name: str) -> None:
        path = self.folder / "answers" / case / f"{name}.arrow"
        path.parent.mkdir(parents=True, exist_ok=True)
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as out:
            out.write_table(rows)


def attempt(writer: Writer, name: str, work: Callable[[], None]) -> None:
    """Run a piece of work; a failure is left beside the answers, for the tests of this name to report."""
    started = time.monotonic()
    try:
        work()
    except Exception:  # noqa: BLE001  the test reports every failure
        failures = writer.folder / "failures"
        failures.mkdir(exist_ok=True)
        (failures / name).write_text(traceback.format_exc())
    print(f"{time.monotonic() - started:6.2f} s  {name}", flush=True)


def main(jar: str, folder: Path, seeds: range, names: list[str]) -> None:
    spark = session(jar, folder / "warehouse")
    writer = Writer(spark, folder)
    # Java calls functions of this process.
    ensure_callback_server_started(spark.sparkContext._gateway)
    work: dict[str, Callable[[], None]] = {
        **{case.name: partial(writer.write, case) for case in (*CASES, *REFUSED)},
        "metadata-tables": lambda: write_metadata_tables(writer),
        "summaries-statements": lambda: writer.note("summaries", "statements", summaries(spark)),
        "summaries-overwrites": lambda: writer.note("summaries", "overwrites", overwrites(spark)),
        **{f"steps-{script.name}": partial(writer.carry_out, script) for script in SCRIPTS},
        "histories-replacements": lambda: writer.note(
            "histories", "replacements", [writer.run_history(seed) for seed in range(HISTORIES)]
        ),
        "procedures-signatures": lambda: writer.note("procedures", "signatures", signatures(spark, CATALOG)),
        **{
            f"added-{one.name}-{layout}": partial(writer.add_files, one, layout)
            for one in added_files.SOURCES
            for layout in added_files.LAYOUTS
        },
        "pruned-queries": lambda: writer.note("pruned", "queries", plan_queries(spark, CATALOG, folder)),
        **{f"registered-{one}": partial(writer.add_registered, one) for one in FORMATS},
        **{
            f"procedures-{call.name}": lambda call=call: writer.note(
                "procedures", call.name, run_call(spark, CATALOG, folder, call)
            )
            for call in CALLS
        },
        **{
            f"statements-{one.name}": lambda one=one: writer.note(
                "statements", one.name, run_statements(spark, CATALOG, folder, one)
            )
            for one in PROGRAMS
        },
        **{f"programs-{seed}": partial(writer.run_program, seed) for seed in seeds},
    }
    with ThreadPoolExecutor(THREADS) as pool, contextlib.ExitStack() as stack:
        if sqlite_driver() is not None:
            catalogs = stack.enter_context(shared_catalogs(spark, folder / "shared"))
            for name, one in continued.work(catalogs).items():
                work[f"continued-{name}"] = lambda name=name, one=one: writer.note("continued", name, one())
        chosen = {name: one for name, one in work.items() if not names or name in names}
        list(pool.map(lambda name: attempt(writer, name, chosen[name]), chosen))
    spark.stop()


if __name__ == "__main__":
    first, count = map(int, sys.argv[3:5])
    main(sys.argv[1], Path(sys.argv[2]), range(first, first + count), sys.argv[5:])
