"""Every case by its name, in the order of the report."""

from __future__ import annotations

from peers.case import Case
from peers.cases import (
    append,
    commits,
    compaction,
    deletes,
    inspect,
    manifest,
    many_files,
    planning,
    pruning,
    remote_scan,
    row_level,
    row_merge,
    scan,
    spark_merge,
    spark_query,
    spark_rows,
    spark_scan,
    spark_stream,
    spark_udf,
    spark_write,
    streamed,
    transforms,
)

CASES: dict[str, Case] = {
    case.name: case
    for module in (
        manifest,
        planning,
        inspect,
        pruning,
        transforms,
        scan,
        streamed,
        remote_scan,
        deletes,
        many_files,
        append,
        commits,
        compaction,
        row_level,
        row_merge,
        spark_scan,
        spark_query,
        spark_write,
        spark_rows,
        spark_merge,
        spark_stream,
        spark_udf,
    )
    for case in module.CASES
}
