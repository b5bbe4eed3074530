"""TPC-H through PySpark and an Iceberg table, with no jar: write, query, merge, travel in time, have others read the table.

    python examples/tpch_pipeline.py [--scale-factor 1] [--work-dir .demo] [--cores 2]

Everything is made in the work directory: the data (once), a SQLite catalog, the table. Each answer is compared with the one that
Spark gives on the raw Parquet files, and the table with what DuckDB reads; any difference makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.panel import Panel
from tpch.report import Report
from tpch.session import MissingError, check_requirements, lineitem, start_spark

TABLE = "tpch.lineitem"


def create_table(folder: Path, schema: Any) -> Any:
    """Create the table in an embedded SQLite catalog."""
    from icefloe.catalog import load_catalog
    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.table.sorting import SortField, SortOrder
    from icefloe.transforms import BucketTransform, IdentityTransform, YearTransform

    catalog = load_catalog(
        "demo", type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=f"file://{folder / 'warehouse'}"
    )
    catalog.create_namespace("tpch")
    shipdate, orderkey = schema.find_field("l_shipdate").field_id, schema.find_field("l_orderkey").field_id
    return catalog.create_table(
        TABLE,
        schema=schema,
        partition_spec=PartitionSpec(
            PartitionField(source_id=shipdate, field_id=1000, transform=YearTransform(), name="l_shipdate_year"),
            PartitionField(source_id=orderkey, field_id=1001, transform=BucketTransform(4), name="l_orderkey_bucket"),
        ),
        sort_order=SortOrder(
            SortField(source_id=shipdate, transform=IdentityTransform()),
            SortField(source_id=orderkey, transform=IdentityTransform()),
        ),
        properties={"format-version": "2", "write.merge.mode": "merge-on-read"},
    )


def compare_queries(report: Report, table: Any, raw: Any) -> None:
    """Run Q1 and Q6 on the table and on the raw files."""
    import icefloe.spark
    from tpch.workload import Q1, Q1_COLUMNS, Q6, Q6_COLUMNS, Q6_FILTER, answers

    spark = raw.sparkSession
    with report.step("Q1 on the raw Parquet files"):
        raw_q1 = answers(Q1, raw)
    with report.step("Q1 on the Iceberg table"):
        our_q1 = answers(Q1, icefloe.spark.read(table, spark=spark, columns=Q1_COLUMNS))
    with report.step("Q6 on the raw Parquet files"):
        raw_q6 = answers(Q6, raw)
    with report.step("Q6 on the Iceberg table") as step:
        our_q6 = answers(Q6, icefloe.spark.read(table, spark=spark, columns=Q6_COLUMNS, filter=Q6_FILTER))
        choice = icefloe.spark.explain_read(table, spark=spark, columns=Q6_COLUMNS, filter=Q6_FILTER)
        step.note = f"{choice.files} of {choice.counters['data_files_total']} files"
    rows = [(flag, status, our, raw_q1[place][9]) for place, (flag, status, *_, our) in enumerate(our_q1)]
    report.table("Q1: lines per flag and status", ("flag", "status", "icefloe", "Spark on raw files"), rows)
    report.table("Q6: revenue", ("icefloe", "Spark on raw files"), [(our_q6[0][0], raw_q6[0][0])])
    report.compare("Q1, all ten columns of all groups", our_q1, raw_q1)
    report.compare("Q6", our_q6, raw_q6)
    report.console.print(f"  Q6 read {choice}")


def merge_changes(report: Report, table: Any, raw: Any, folder: Path) -> Any:
    """Apply the change set in one snapshot; return it as it was staged."""
    import icefloe.spark
    from tpch.workload import KEYS, changes

    with report.step("Stage the change set") as step:
        staged = folder / "changes"
        changes(raw).coalesce(2).write.mode("overwrite").parquet(str(staged))
        change_set = raw.sparkSession.read.parquet(str(staged))
        counts = {row["op"]: row["count"] for row in change_set.groupBy("op").count().collect()}
        step.rows = sum(counts.values())
    with report.step("MERGE it, merge-on-read") as step:
        merge = icefloe.spark.merge_into(table, change_set, on=KEYS).when_matched_delete("source.op = 'D'")
        merge = merge.when_matched_update_all("source.op = 'U'").when_not_matched_insert_all("source.op = 'I'")
        result = merge.execute()
        step.rows = sum(counts.values())
    done = {"U": result.rows_updated, "D": result.rows_deleted, "I": result.rows_inserted}
    report.table("MERGE", ("rows", "change set", "merged"), [(op, counts[op], done[op]) for op in ("U", "D", "I")])
    report.compare("rows updated, deleted and inserted", done, counts)
    return change_set


def compare_versions(report: Report, table: Any, before: int, raw: Any, change_set: Any) -> dict[str, list[int]]:
    """Read the table before and after the merge; return the fingerprint of what it must hold now."""
    import icefloe.spark
    from tpch.checksum import spark_fingerprint
    from tpch.workload import expected_after

    spark = raw.sparkSession
    with report.step("Fingerprints by Spark on the raw files, before and after"):
        raw_before, raw_after = spark_fingerprint(raw), spark_fingerprint(expected_after(raw, change_set))
    with report.step("Read the table as of before (time travel)") as step:
        found = spark_fingerprint(icefloe.spark.read(table, spark=spark, snapshot_id=before))
        step.rows = found["(rows)"][0]
    report.compare("every column and row, before the merge", found, raw_before)
    with report.step("Read the table as it is now") as step:
        found = spark_fingerprint(icefloe.spark.read(table, spark=spark))
        step.rows = found["(rows)"][0]
    report.compare("every column and row, after the merge", found, raw_after)
    report.console.print(f"  Now read: {icefloe.spark.explain_read(table, spark=spark)}")
    return raw_after


def show_history(report: Report, table: Any) -> None:
    """Print the snapshot log and the explanation of a scan."""
    rows = []
    for entry in table.history():
        summary = table.snapshot_by_id(entry.snapshot_id).summary
        changed = {
            key: value
            for key, value in sorted(summary.additional_properties.items())
            if key.startswith(("added-", "deleted-"))
        }
        rows.append(
            (entry.snapshot_id, summary.operation.value, ", ".join(f"{key}={value}" for key, value in changed.items()))
        )
    report.table("Snapshot log", ("snapshot", "operation", "what it did"), rows)
    report.console.print(table.scan("l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01'").explain())


def compare_peers(report: Report, table: Any, expected: dict[str, list[int]], peers: list[str]) -> None:
    """Have other implementations read the table and compare count, sums and fingerprints."""
    from tpch.peer import read_by

    seen = {}
    for peer in peers:
        with report.step(f"{peer} reads the table") as step:
            found = read_by(peer, table.metadata_location)
            step.rows = found.get("count")
        if "failure" in found:
            report.compare(f"{peer} could not read the table: {found['failure']}", found=False, expected=True)
        else:
            seen[peer] = found
    sums = {row: str(value) for row, value in _own_sums(table).items()}
    columns = ("column", "icefloe", *seen)
    rows = [("count", expected["(rows)"][0], *[found["count"] for found in seen.values()])]
    rows += [(f"sum({name})", value, *[found["sums"][name] for found in seen.values()]) for name, value in sums.items()]
    report.table("As others read it", columns, rows)
    for peer, found in seen.items():
        report.compare(f"{peer}: count and sums", (found["count"], found["sums"]), (expected["(rows)"][0], sums))
        report.compare(f"{peer}: every column and row", found["fingerprint"], expected)


def _own_sums(table: Any) -> dict[str, Any]:
    import pyarrow.compute as pc
    from tpch.peer import SUMS

    rows = table.scan(selected_fields=SUMS).to_arrow()
    return {name: pc.sum(rows.column(name)).as_py() for name in SUMS}


def run(report: Report, folder: Path, scale_factor: float, cores: int, peers: list[str]) -> int:
    """Run the pipeline and return the exit code."""
    check_requirements()
    for made in ("warehouse", "catalog.db", "changes"):
        shutil.rmtree(folder / made, ignore_errors=True) if (folder / made).is_dir() else (folder / made).unlink(
            missing_ok=True
        )
    with report.step(f"TPC-H lineitem at scale factor {scale_factor:g}"):
        source = lineitem(folder / "tpch", scale_factor)
    with report.step("Start Spark") as step:
        spark = start_spark(folder, cores)
        step.note = f"PySpark {spark.version}, local[{cores}], jars: {spark.conf.get('spark.jars', '') or 'none'}"
    try:
        return _pipeline(report, spark, folder, source, peers)
    finally:
        spark.stop()


def _pipeline(report: Report, spark: Any, folder: Path, source: Path, peers: list[str]) -> int:
    import icefloe.spark
    from icefloe.spark import schema_from_spark

    raw = spark.read.parquet(str(source))
    table = create_table(folder, schema_from_spark(raw.schema))
    with report.step("Write all rows, sorted within partitions", watch=folder / "warehouse") as step:
        icefloe.spark.write(raw, table)
        before = table.current_snapshot()
        step.rows = int(before.summary.additional_properties["added-records"])
        step.note = f"{before.summary.additional_properties['added-data-files']} files"
    compare_queries(report, table, raw)
    change_set = merge_changes(report, table, raw, folder)
    expected = compare_versions(report, table, before.snapshot_id, raw, change_set)
    show_history(report, table)
    compare_peers(report, table, expected, peers)
    report.times()
    return report.verdict()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--scale-factor",
        type=float,
        default=float(os.environ.get("SF", "1")),
        help="TPC-H scale factor (1: 6 million rows)",
    )
    parser.add_argument(
        "--work-dir", type=Path, default=Path(os.environ.get("DEMO_DIR", ".demo")), help="where everything is made"
    )
    parser.add_argument("--cores", type=int, default=2, help="Spark's cores")
    parser.add_argument("--peers", default="duckdb", help="who else reads the table: duckdb, pyiceberg, datafusion")
    options = parser.parse_args()
    console = Console()
    console.print(
        Panel(
            f"TPC-H at scale factor {options.scale_factor:g} through PySpark and Iceberg, with one wheel and no jar",
            expand=False,
        )
    )
    try:
        peers = [peer for peer in options.peers.split(",") if peer]
        return run(Report(console), options.work_dir.resolve(), options.scale_factor, options.cores, peers)
    except MissingError as missing:
        console.print(f"[bold red]{missing}[/]")
        return 2


if __name__ == "__main__":
    sys.exit(main())
