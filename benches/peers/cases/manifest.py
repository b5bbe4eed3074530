"""Decoding one manifest of 10,000 data files with full statistics of twelve columns."""

from __future__ import annotations

import zlib
from pathlib import Path

from peers.case import Case, Work
from peers.metadata_only import FILES_PER_MANIFEST, SCHEMA_JSON, SPECS_JSON, metadata_only_table


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
    )
]
