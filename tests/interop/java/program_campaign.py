"""Compare many random programs in DuckDB, in icefloe in Python and in Spark, and in the Java reference, in one JVM.

Each line of the log is a program whose outcomes differ, or the count of the programs so far.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TextIO

import icefloe.spark
from icefloe.catalog import load_catalog
from pyspark.sql import SparkSession

from tests.interop.java.program_tables import SqlTable
from tests.property.typed_model import TypedModel
from tests.property.typed_outcome import JAVA_ALONE, Engine, disagreement
from tests.property.typed_program import TypedProgram, statement_text
from tests.property.typed_table import PythonTable

CATALOG = "java"
PIECE = 50


class Campaign:
    """Programs in one JVM.

    Args:
        spark: Session of the Java reference.
        folder: Folder of its warehouse, and for other tables.
        share: Run one of this many programs by icefloe in Spark as well; 0 for none.
    """

    def __init__(self, spark: SparkSession, folder: Path, share: int) -> None:
        self.folder, self.share = folder, share
        self.spark = spark.newSession()
        # Compiling the code of a query takes longer than its few rows.
        self.spark.conf.set("spark.sql.codegen.wholeStage", "false")
        self.spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        self.plain = load_catalog("plain", type="memory")
        self.plain.create_namespace("db")
        self.ours = load_catalog("ours", type="hadoop", warehouse=f"{folder}/typed")
        self.ours.create_namespace_if_not_exists("db")
        icefloe.spark.attach(self.spark, self.ours, "ours", views=False)

    def run(self, seed: int) -> dict[str, Any] | None:
        """Run a program, and return its record if outcomes differ."""
        program = TypedProgram(seed)
        name = f"p{seed}"
        engines: dict[str, Engine] = {"duckdb": TypedModel(program)}
        if not program.sql_only:
            engines["icefloe"] = PythonTable(self.plain, f"db.{name}", program)
        engines["java"] = SqlTable.of_java(self.spark, f"{CATALOG}.db.{name}", program)
        if self.share and seed % self.share == 0:
            engines["icefloe in Spark"] = SqlTable.of_icefloe(self.spark, self.ours, f"db.{name}", program)
        found = disagreement(program, engines)
        if not program.sql_only:
            self.plain.drop_table(f"db.{name}")
        for folder in ("warehouse", "typed"):
            shutil.rmtree(self.folder / folder / "db" / name, ignore_errors=True)
        if found is None:
            return None
        problem, number, outcomes = found
        statement = "" if number == 0 else statement_text(program.statements[number - 1], "t", program.others)
        told = {
            name: (one.refused, [f"{count} x {row}" for row, count in one.rows.items()])
            for name, one in outcomes.items()
        }
        return {
            "seed": seed,
            "problem": problem,
            "number": number,
            "statement": statement,
            "layout": repr(program.layout)[:600],
            **told,
        }


def attempt(campaign: Campaign, seed: int) -> dict[str, Any] | None:
    """Run a program; an error of the comparison itself is a record as well."""
    try:
        return campaign.run(seed)
    except Exception as error:  # noqa: BLE001  the log has every failure
        return {"seed": seed, "problem": f"{type(error).__name__}: {str(error)[:1500]}"}


def compare(campaign: Campaign, seeds: range, threads: int, log: TextIO) -> int:
    """Run programs, write the log, and return the number of programs whose outcomes differ."""
    started, wrong, of_java = time.monotonic(), 0, 0
    with ThreadPoolExecutor(threads) as pool:
        for start in range(seeds.start, seeds.stop, PIECE):
            piece = range(start, min(start + PIECE, seeds.stop))
            for record in pool.map(lambda seed: attempt(campaign, seed), piece):
                if record is not None:
                    is_of_java = record["problem"].startswith(JAVA_ALONE)
                    wrong, of_java = wrong + (not is_of_java), of_java + is_of_java
                    print(json.dumps(record, ensure_ascii=False), file=log, flush=True)
            done = piece.stop - seeds.start
            progress = {
                "programs": done,
                "differ": wrong,
                "faults of Java": of_java,
                "seconds": round(time.monotonic() - started),
            }
            print(json.dumps(progress), file=log, flush=True)
            print(json.dumps(progress), flush=True)
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jar")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--spark-share", type=int, default=10, help="run one of this many programs by icefloe in Spark as well"
    )
    parser.add_argument("--log", type=Path, required=True)
    given = parser.parse_args()
    from tests.interop.java.writer import session

    with tempfile.TemporaryDirectory() as folder, given.log.open("a") as log:
        spark = session(given.jar, Path(folder, "warehouse"))
        spark.sparkContext.setLogLevel("OFF")
        campaign = Campaign(spark, Path(folder), given.spark_share)
        seeds = range(given.first, given.first + given.programs)
        wrong = compare(campaign, seeds, given.threads, log)
        spark.stop()
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
