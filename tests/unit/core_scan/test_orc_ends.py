"""ORC files with footers that the decoder does not survive, and others that say what cannot be."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError

from tests.unit.core_scan.orc_footers import ROWS, STRIPE, TYPE, OrcEnd, get, parsed, put, rewritten
from tests.unit.core_scan.test_orc_files import orc_field, orc_task, write_orc
from tests.unit.scan_tables import field, read, schema, stream

pytestmark = pytest.mark.recent_pyarrow

ROOT = Path(__file__).parents[3]
COUNT = 2_000
HUGE = 1 << 63
DECIMAL, LIST = 2, 3
"""Numbers of columns: the root is 0, their children are counted in between."""
CURRENT = schema(
    field(1, "id", "long"),
    field(2, "d", "decimal(9, 2)"),
    field(3, "l", {"type": "list", "element-id": 4, "element": "int", "element-required": False}),
)


def written(path: Path, **options: object) -> Path:
    columns = {
        orc_field(1, "id", pa.int64()): list(range(COUNT)),
        orc_field(2, "d", pa.decimal128(9, 2)): [Decimal(i) / 4 for i in range(COUNT)],
        orc_field(3, "l", pa.list_(orc_field(4, "item", pa.int32()))): [[i] for i in range(COUNT)],
    }
    write_orc(path, columns, **{"compression": "uncompressed", "stripe_size": 1_024, "batch_size": 500, **options})
    return path


def of_type(place: int, key: int, value: object):
    return lambda end: end.change(TYPE, place, lambda message: put(message, key, value))


def of_stripe(place: int, key: int, value: object):
    return lambda end: end.change(STRIPE, place, lambda message: put(message, key, value))


def lying(key: int, value: int):
    return lambda end: end.lengths.update({key: value})


def without_types(end: OrcEnd) -> None:
    end.footer = [(key, value) for key, value in end.footer if key != TYPE]


def repeated_stripe(end: OrcEnd) -> None:
    stripes = [value for key, value in end.footer if key == STRIPE]
    end.footer.append((STRIPE, stripes[0]))


def nested_deeply(end: OrcEnd) -> None:
    depth = 100_000
    types = [bytes([8, 10, 18, len(child), *child]) for child in map(varint, range(1, depth))]
    end.footer = [(key, value) for key, value in end.footer if key != TYPE]
    end.footer += [(TYPE, value) for value in [*types, bytes([8, 3])]]


def varint(number: int) -> bytes:
    return bytes([number & 0x7F | 0x80, number >> 7 & 0x7F | 0x80, number >> 14])


DAMAGE = {
    "a decimal too wide": (of_type(DECIMAL, 5, 60), r"column 2 has an invalid type.* got decimal\(60, 2\)"),
    "a scale without end": (
        of_type(DECIMAL, 6, 1 << 31),
        r"column 2 has an invalid type.* got decimal\(9, 2147483648\)",
    ),
    "an unknown type": (of_type(1, 1, 77), "column 1 has the unknown type 77"),
    "a child that is no column": (of_type(LIST, 2, bytes([99])), "expected column 99, got column 4"),
    "a child that is its parent": (of_type(LIST, 2, bytes([3])), "expected column 3, got column 4"),
    "two children of a list": (of_type(LIST, 2, bytes([4, 4])), "column 3 of type 10 has 2 children"),
    "no columns": (without_types, "column 0 is missing; got 0 columns"),
    "no end of columns in columns": (nested_deeply, "nested too deep; expected at most 200 levels"),
    "rows beyond memory": (of_stripe(0, 5, HUGE), "expected 2000 rows in the stripes, got"),
    "rows that the footer adds": (lambda end: put(end.footer, ROWS, HUGE), "in the stripes, got 2000"),
    "a stripe beyond the file": (of_stripe(0, 3, HUGE), "stripe 0 is misplaced"),
    "a stripe before the file": (of_stripe(0, 1, 0), "stripe 0 is misplaced; expected an offset between 3"),
    "a length that wraps around": (of_stripe(0, 2, 2**64 - 1), "stripe 0 is misplaced"),
    "a stripe twice": (repeated_stripe, r"stripe \d+ is misplaced"),
    "a footer longer than lengths go": (lying(1, 2**64 - 1), "do not fit"),
    "statistics before the file": (lying(5, 1 << 40), "do not fit"),
    "no such compression": (lying(2, 9), "the compression is unknown; expected 0 to 6, got 9"),
    "no magic": (lambda end: put(end.postscript, 8000, b"CRO"), "no magic bytes"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_end_that_cannot_be_is_corrupt(tmp_path, case):
    change, reason = DAMAGE[case]
    path = written(tmp_path / "a.orc")
    rewritten(path, change)
    with pytest.raises(CorruptFileError, match=rf"a\.orc.*{reason}"):
        list(stream([orc_task(str(path), COUNT)], CURRENT))


def test_end_that_is_put_together_again_is_as_good(tmp_path):
    path = written(tmp_path / "a.orc")
    rewritten(path, lambda _: None)
    assert read([orc_task(str(path), COUNT)], CURRENT)["id"].to_pylist() == list(range(COUNT))


def test_columns_of_one_name_are_corrupt(tmp_path):
    path = written(tmp_path / "a.orc")

    def same_names(end: OrcEnd) -> None:
        def rename(message):
            message[:] = [(key, b"l" if key == 3 else value) for key, value in message]

        end.change(TYPE, 0, rename)

    rewritten(path, same_names)
    with pytest.raises(CorruptFileError, match=r"a\.orc.*expected columns of different names"):
        list(stream([orc_task(str(path), COUNT)], CURRENT))


@pytest.mark.parametrize(
    ("change", "feature"), [(of_type(1, 1, 19), "geometry"), (lying(2, 6), "brotli")], ids=["geometry", "brotli"]
)
def test_features_that_decoders_lack_are_unsupported(tmp_path, change, feature):
    path = written(tmp_path / "a.orc")
    rewritten(path, change)
    with pytest.raises(FeatureUnsupportedError, match=rf"a\.orc.*{feature}"):
        list(stream([orc_task(str(path), COUNT)], CURRENT))


@pytest.mark.parametrize("compression", ["zlib", "snappy", "zstd", "lz4"])
def test_compressed_end_that_is_damaged_is_corrupt(tmp_path, compression):
    path = written(tmp_path / "a.orc", compression=compression)
    whole = path.read_bytes()
    postscript = parsed(whole[-1 - whole[-1] : -1])
    start = len(whole) - 1 - whole[-1] - get(postscript, 1)
    # Behind the header of the footer's chunk: what follows is compressed.
    path.write_bytes(whole[: start + 3] + b"\xff" * 60 + whole[start + 63 :])
    with pytest.raises(
        CorruptFileError, match=r"a\.orc.*(a chunk of the footer does not decompress|the metadata have)"
    ):
        list(stream([orc_task(str(path), COUNT)], CURRENT))


WRITE_WIDE = """
import sys
import pyarrow as pa
from tests.unit.core_scan.test_orc_files import orc_field, write_orc
columns = {orc_field(i, f"column_{i}", pa.int64()): [i] for i in range(1, 3_000)}
write_orc(sys.argv[1], columns, compression=sys.argv[2])
"""


@pytest.mark.parametrize("compression", ["zlib", "snappy", "zstd", "lz4"])
def test_compressed_end_of_many_columns_is_read(tmp_path, compression):
    location = tmp_path / "a.orc"
    # pyarrow's writer keeps a gigabyte of buffers for this file, which ends with the process.
    subprocess.run([sys.executable, "-c", WRITE_WIDE, str(location), compression], check=True, cwd=ROOT)
    current = schema(field(2_999, "last", "long"))
    assert read([orc_task(str(location), 1)], current).to_pylist() == [{"last": 2_999}]
