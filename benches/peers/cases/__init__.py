"""Every case by its name, in the order of the report."""

from __future__ import annotations

from peers.case import Case
from peers.cases import (
    append,
    commits,
    deletes,
    manifest,
    many_files,
    planning,
    pruning,
    remote_scan,
    scan,
    spark_merge,
    spark_scan,
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
        pruning,
        transforms,
        scan,
        streamed,
        remote_scan,
        deletes,
        many_files,
        append,
        commits,
        spark_scan,
        spark_write,
        spark_merge,
        spark_udf,
    )
    for case in module.CASES
}
