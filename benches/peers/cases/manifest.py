"""Decoding and encoding one manifest of 10,000 data files with full statistics of twelve columns."""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from pathlib import Path

from peers.case import Case, Work
from peers.metadata_only import FILES_PER_MANIFEST, SCHEMA, SCHEMA_JSON, SPEC, SPECS_JSON, metadata_only_table

# Four of 36 days, and of those most ids.
FILTER = "day >= '2022-01-10' and day < '2022-01-14' and id > 50000000"
LEVEL = 6


def prepare(data: Path) -> None:
    metadata_only_table(data)


def manifest_path(data: Path) -> Path:
    return min((metadata_only_table(data) / "metadata").glob("*-m*.avro"))


def icefloe(data: Path) -> Work:
    from icefloe import _core

    io = _core.FileIo({})
    table = metadata_only_table(data)
    manifests = _core.read_manifest_list(io, str(next((table / "metadata").glob("snap-*.avro"))))
    paths = manifests.column("manifest_path").to_pylist()
    one = manifests.slice(paths.index(str(manifest_path(data))), 1)
    return lambda: _core.read_manifest(io, one, schema=SCHEMA_JSON, specs=SPECS_JSON, keep="all").num_rows


def pyiceberg(data: Path) -> Work:
    from pyiceberg.table import StaticTable

    from peers.tables import metadata_file

    table = StaticTable.from_metadata(metadata_file(metadata_only_table(data)))
    wanted = str(manifest_path(data))
    found = next(m for m in table.current_snapshot().manifests(table.io) if m.manifest_path == wanted)
    return lambda: len(found.fetch_manifest_entry(table.io))


def pyiceberg_core(data: Path) -> Work:
    from pyiceberg_core import manifest

    content = manifest_path(data).read_bytes()
    return lambda: len(manifest.read_manifest_entries(content).entries())


def fastavro(data: Path) -> Work:
    import fastavro

    def work() -> int:
        with manifest_path(data).open("rb") as file:
            return sum(1 for _ in fastavro.reader(file))

    return work


def icefloe_filtered(data: Path) -> Work:
    from icefloe import _core
    from icefloe.expressions import parser
    from icefloe.expressions.rest_json import expression_to_json

    # With planning's cache, only the lookup would be measured.
    io, path = _core.FileIo({"io.manifest.cache-enabled": "false"}), str(manifest_path(data))
    context = json.dumps({"schema": SCHEMA, "schemas": [SCHEMA], "partition-specs": [SPEC]})
    found = expression_to_json(parser.parse(FILTER))

    def work() -> int:
        plan = _core.plan(
            io,
            context,
            manifest_list=None,
            manifests=[path],
            filter=found,
            split_size=None,
            include_stats=True,
        )
        return plan.files.num_rows

    return work


def pyiceberg_filtered(data: Path) -> Work:
    from pyiceberg.table import ManifestGroupPlanner, StaticTable

    from peers.tables import metadata_file

    table = StaticTable.from_metadata(metadata_file(metadata_only_table(data)))
    wanted = str(manifest_path(data))
    found = [m for m in table.current_snapshot().manifests(table.io) if m.manifest_path == wanted]

    def work() -> int:
        planner = ManifestGroupPlanner(table.metadata, table.io, FILTER)
        return sum(1 for _ in planner.plan_files(found))

    return work


def icefloe_encode(data: Path) -> Work:
    from icefloe import _core

    from peers.metadata_only import data_files

    io, files = _core.FileIo({}), data_files(0, str(metadata_only_table(data)))
    folder = Path(tempfile.mkdtemp(prefix="manifest-"))

    def work() -> int:
        written = _core.write_manifests(
            io,
            str(folder / "icefloe"),
            files,
            schema=SCHEMA_JSON,
            specs=SPECS_JSON,
            format_version=2,
            snapshot_id=1,
            content=0,
            first_index=0,
            properties={},
        )
        return written.column("added_files_count")[0].as_py()

    return emptying(folder, work)


def pyiceberg_encode(data: Path) -> Work:
    from pyiceberg.io.pyarrow import PyArrowFileIO
    from pyiceberg.manifest import write_manifest
    from pyiceberg.table import StaticTable

    from peers.tables import metadata_file

    table = StaticTable.from_metadata(metadata_file(metadata_only_table(data)))
    wanted = str(manifest_path(data))
    found = next(m for m in table.current_snapshot().manifests(table.io) if m.manifest_path == wanted)
    entries = found.fetch_manifest_entry(table.io)
    folder = Path(tempfile.mkdtemp(prefix="manifest-"))
    output = PyArrowFileIO().new_output(str(folder / "pyiceberg.avro"))

    def work() -> int:
        with write_manifest(2, table.spec(), table.schema(), output, 1, "deflate") as writer:
            for entry in entries:
                writer.add_entry(entry)
        return len(entries)

    return emptying(folder, work)


def emptying(folder: Path, work: Work) -> Work:
    """The work, then its file's size for the reader of the log and the file gone, untimed."""

    def reset() -> None:
        for file in folder.iterdir():
            print(f"{file.name}: {file.stat().st_size:,} bytes", file=sys.stderr)
            file.unlink()

    work.reset = reset
    return work


def deflate(data: Path) -> Work:
    blocks = [zlib.decompress(block, wbits=-15) for block in deflated_blocks(manifest_path(data).read_bytes())]

    def work() -> int:
        for block in blocks:
            zlib.compress(block, LEVEL, wbits=-15)
        return FILES_PER_MANIFEST

    return work


def inflate(data: Path) -> Work:
    blocks = list(deflated_blocks(manifest_path(data).read_bytes()))

    def work() -> int:
        for block in blocks:
            zlib.decompress(block, wbits=-15)
        return FILES_PER_MANIFEST

    return work


def deflated_blocks(content: bytes):
    """The compressed blocks of an Avro object container."""

    def long(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = content[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1), at

    at = 4
    while True:
        count, at = long(at)
        if count == 0:
            break
        if count < 0:
            count, (_, at) = -count, long(at)
        for _ in range(2 * count):
            length, at = long(at)
            at += length
    at += 16
    while at < len(content):
        _, at = long(at)
        length, at = long(at)
        yield content[at : at + length]
        at += length + 16


CASES = [
    Case(
        name="manifest_decode",
        what="one v2 manifest: 10,000 entries, full statistics of 12 columns, deflate",
        prepare=prepare,
        contenders={
            "icefloe to Arrow": icefloe,
            "pyiceberg": pyiceberg,
            "pyiceberg-core": pyiceberg_core,
            "fastavro": fastavro,
            "zlib inflate alone": inflate,
        },
        floors=frozenset({"zlib inflate alone"}),
    ),
    Case(
        name="manifest_filter",
        what="of the same manifest what a filter of three terms on partition and bounds leaves, with statistics",
        prepare=prepare,
        contenders={
            "icefloe plan": icefloe_filtered,
            "pyiceberg": pyiceberg_filtered,
            "zlib inflate alone": inflate,
        },
        floors=frozenset({"zlib inflate alone"}),
    ),
    Case(
        name="manifest_encode",
        what="writing such a manifest; sizes are in the log",
        prepare=prepare,
        contenders={
            "icefloe from Arrow": icefloe_encode,
            "pyiceberg": pyiceberg_encode,
            "zlib deflate alone": deflate,
        },
        floors=frozenset({"zlib deflate alone"}),
        rounds=10,
    ),
]
