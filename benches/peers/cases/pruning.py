"""Asking the statistics of 10,000 data files a filter of 66 terms, once they are in memory."""

from __future__ import annotations

from pathlib import Path

from peers.case import Case, Work
from peers.cases.manifest import manifest_path
from peers.metadata_only import ROWS_PER_FILE, SCHEMA_JSON, SPECS_JSON, metadata_only_table

# Ids that lie in some of the files, beside ranges of the texts and numbers of other columns.
FILTER = " or ".join(
    f"(id = {n * 37 * ROWS_PER_FILE + 5} and c4 >= 'value-{n * 11_003:010}' and c7 < {1_000_003 - n * 9_001})"
    for n in range(22)
)


def prepare(data: Path) -> None:
    metadata_only_table(data)


def icefloe(data: Path) -> Work:
    from icefloe import _core
    from icefloe.expressions.parser import parse
    from icefloe.expressions.rest_json import expression_to_json

    io = _core.FileIo({})
    manifests = _core.read_manifest_list(io, str(next((metadata_only_table(data) / "metadata").glob("snap-*.avro"))))
    place = manifests.column("manifest_path").to_pylist().index(str(manifest_path(data)))
    entries = _core.read_manifest(io, manifests.slice(place, 1), schema=SCHEMA_JSON, specs=SPECS_JSON, keep="all")
    (files,) = entries.combine_chunks().to_batches()
    row_filter = expression_to_json(parse(FILTER))

    def work() -> int:
        _core.prune_files(SCHEMA_JSON, row_filter, files)
        return files.num_rows

    return work


def pyiceberg(data: Path) -> Work:
    """Both of its evaluators, for icefloe's call answers both questions."""
    from pyiceberg.expressions.parser import parse
    from pyiceberg.expressions.visitors import _InclusiveMetricsEvaluator, _StrictMetricsEvaluator
    from pyiceberg.table import StaticTable

    from peers.tables import metadata_file

    table = StaticTable.from_metadata(metadata_file(metadata_only_table(data)))
    wanted = str(manifest_path(data))
    found = next(m for m in table.current_snapshot().manifests(table.io) if m.manifest_path == wanted)
    files = [entry.data_file for entry in found.fetch_manifest_entry(table.io)]
    might = _InclusiveMetricsEvaluator(table.schema(), parse(FILTER))
    must = _StrictMetricsEvaluator(table.schema(), parse(FILTER))

    def work() -> int:
        for file in files:
            might.eval(file)
            must.eval(file)
        return len(files)

    return work


CASES = [
    Case(
        name="pruning",
        what="a filter of 66 terms on the statistics of 10,000 files in memory: might match, must match",
        prepare=prepare,
        contenders={"icefloe": icefloe, "pyiceberg evaluators": pyiceberg},
        rounds=3,
    )
]
