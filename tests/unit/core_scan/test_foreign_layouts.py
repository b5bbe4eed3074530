"""Parquet files as other writers lay them out: footers that pyarrow does not write, changed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import CorruptFileError

from tests.faults.thrift import Struct, encode, parse
from tests.unit.scan_tables import ID, NAME, arrow_field, field, leaf, read, schema, stream, task, write

INT32, INT64 = 5, 6
# Fields of a schema element.
REPETITION, NAME_OF_ELEMENT, CONVERTED_TYPE, SCALE, PRECISION, LOGICAL_TYPE = 3, 4, 6, 7, 8, 10
REPEATED, DECIMAL = 2, 5
# Fields of a column's metadata.
PATH, CODEC, COMPRESSED_SIZE, DICTIONARY_OFFSET = 3, 4, 7, 11
LZ4 = 5


def with_footer(location: str, change: Callable[[Struct], None]) -> str:
    """Change the footer of a file in place."""
    path = Path(location)
    whole = path.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    footer, _ = parse(whole[-8 - length : -8])
    change(footer)
    changed = encode(footer)
    path.write_bytes(whole[: -8 - length] + changed + len(changed).to_bytes(4, "little") + b"PAR1")
    return location


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip"])
@pytest.mark.parametrize("offset", [0, 1 << 40])
def test_dictionary_offset_that_is_not_before_the_data_means_no_dictionary(tmp_path, codec, offset):
    columns = {arrow_field(1, "id", pa.int64()): [1, None, 3], arrow_field(2, "name", pa.string()): ["a", "b", None]}
    location = write(tmp_path / "a.parquet", columns, use_dictionary=False, compression=codec)

    def change(footer: Struct) -> None:
        for column in footer[4][0][1].values:
            column[3].fields[DICTIONARY_OFFSET] = (INT64, offset)
            column[3].fields = dict(sorted(column[3].fields.items()))

    found = read([task(with_footer(location, change))], schema(ID, NAME))
    assert found.to_pydict() == pq.read_table(location).to_pydict()


def wide_decimals(path: Path, values: list[Any], precision: int, **options: Any) -> str:
    """Write decimals of scale 2 as 17 bytes each, and state a precision that needs fewer bytes."""
    columns = {arrow_field(1, "d", pa.decimal256(40, 2)): values}

    def change(footer: Struct) -> None:
        column = footer[2][1]
        column[PRECISION] = precision
        column[LOGICAL_TYPE][5][2] = precision

    return with_footer(write(path, columns, store_schema=False, **options), change)


@pytest.mark.parametrize("precision", [9, 38])
@pytest.mark.parametrize("is_dictionary", [True, False])
def test_decimals_of_more_bytes_than_their_precision_needs_are_read(tmp_path, precision, is_dictionary):
    values = [Decimal("1.25"), None, Decimal("-9999999.99"), Decimal("0.00"), Decimal("-0.01")]
    location = wide_decimals(tmp_path / "a.parquet", values, precision, use_dictionary=is_dictionary)
    current = schema(field(1, "d", f"decimal({precision}, 2)"))
    assert read([task(location)], current)["d"].to_pylist() == values
    residual = json.dumps(leaf("lt", "d", "0.00"))
    assert read([task(location, residual=residual)], current)["d"].to_pylist() == [values[2], values[4]]
    residual = json.dumps(leaf("gt", "d", "2.00"))
    assert read([task(location, residual=residual)], current)["d"].to_pylist() == []
    promoted = schema(field(1, "d", "decimal(38, 2)"))
    assert read([task(location)], promoted)["d"].to_pylist() == values


def test_wide_decimal_of_too_many_digits_is_a_corrupt_file(tmp_path):
    values = [Decimal("1.25"), Decimal("12345678901234567890123456789012345678.01")]
    location = wide_decimals(tmp_path / "a.parquet", values, 38)
    with pytest.raises(
        CorruptFileError, match=r"expected at most 38 digits, got 12345678901234567890123456789012345678\.01"
    ):
        list(stream([task(location)], schema(field(1, "d", "decimal(38, 2)"))))


def test_decimals_are_read_from_byte_arrays_of_any_length(tmp_path):
    values = {"1.25": 1, "-0.01": 17, "0.00": 24, "-9999999999999999999999999999.99": 32}
    unscaled = {int(text.replace(".", "")): length for text, length in values.items()}
    stored = [value.to_bytes(length, "big", signed=True) for value, length in unscaled.items()]
    location = write(tmp_path / "a.parquet", {arrow_field(1, "d", pa.binary()): [*stored, None]}, store_schema=False)

    def change(footer: Struct) -> None:
        column = footer[2][1]
        column.fields |= {CONVERTED_TYPE: (INT32, DECIMAL), SCALE: (INT32, 2), PRECISION: (INT32, 30)}
        column.fields = dict(sorted(column.fields.items()))

    found = read([task(with_footer(location, change))], schema(field(1, "d", "decimal(30, 2)")))
    assert found["d"].to_pylist() == [*map(Decimal, values), None]


def test_required_binary_of_a_null_struct_becomes_no_fixed_value(tmp_path):
    inner = pa.struct([arrow_field(3, "b", pa.binary(), nullable=False)])
    outer = pa.struct([arrow_field(2, "inner", inner, nullable=False), arrow_field(4, "n", pa.int32())])
    rows = [{"inner": {"b": b"abc"}, "n": 1}, None, {"inner": {"b": b"xyz"}, "n": None}]
    location = write(tmp_path / "a.parquet", {arrow_field(1, "s", outer): rows})
    kept = {"type": "struct", "fields": [field(3, "b", "fixed[3]", required=True)]}
    fields = [field(2, "inner", kept, required=True), field(4, "n", "int")]
    current = schema(field(1, "s", {"type": "struct", "fields": fields}))
    assert read([task(location)], current)["s"].to_pylist() == rows


def repeated_elements(path: Path, element: pa.DataType, name: bytes, values: list[Any], element_id: int | None) -> str:
    """Write lists whose repeated field is the element itself, which must be required."""
    item = arrow_field(element_id, "element", element, nullable=False)
    column = arrow_field(1 if element_id is not None else None, "c", pa.list_(item))

    def change(footer: Struct) -> None:
        kinds = footer[2].values
        # The root, the list, its repeated group, the element.
        del kinds[2]
        kinds[2][REPETITION] = REPEATED
        kinds[2][NAME_OF_ELEMENT] = name
        for column in footer[4][0][1].values:
            parts = column[3][PATH].values
            column[3][PATH].values = [parts[0], name, *parts[3:]]

    return with_footer(write(path, {column: values}, store_schema=False), change)


@pytest.mark.parametrize("has_ids", [True, False])
@pytest.mark.parametrize("is_required", [True, False])
def test_list_whose_repeated_field_is_the_element_has_its_values(tmp_path, has_ids, is_required):
    values = [[1, 2, 3], None, [], [4]]
    location = repeated_elements(tmp_path / "a.parquet", pa.int32(), b"element", values, 2 if has_ids else None)
    kind = {"type": "list", "element-id": 2, "element-required": is_required, "element": "long"}
    assert read([task(location)], schema(field(1, "c", kind)))["c"].to_pylist() == values


def test_list_whose_repeated_group_is_the_element_has_its_values(tmp_path):
    inner = pa.struct([arrow_field(3, "x", pa.int64(), nullable=False), arrow_field(4, "y", pa.string())])
    values = [[{"x": 1, "y": "a"}, {"x": 2, "y": None}], None, [], [{"x": 3, "y": ""}]]
    location = repeated_elements(tmp_path / "a.parquet", inner, b"array", values, 2)
    fields = [field(4, "y", "string"), field(3, "x", "long", required=True)]
    kind = {"type": "list", "element-id": 2, "element-required": True, "element": {"type": "struct", "fields": fields}}
    assert read([task(location)], schema(field(1, "c", kind)))["c"].to_pylist() == values


def test_lists_and_maps_of_a_file_without_ids_have_their_values(tmp_path):
    columns = {
        arrow_field(None, "a", pa.list_(pa.list_(pa.int32()))): [[[1, None], None], None],
        arrow_field(None, "b", pa.map_(pa.string(), pa.int32())): [[("x", 1), ("y", None)], []],
    }
    location = write(tmp_path / "a.parquet", columns)
    inner = {"type": "list", "element-id": 4, "element-required": False, "element": "int"}
    outer = {"type": "list", "element-id": 3, "element-required": False, "element": inner}
    kind = {"type": "map", "key-id": 5, "key": "string", "value-id": 6, "value-required": False, "value": "int"}
    found = read([task(location)], schema(field(1, "a", outer), field(2, "b", kind)))
    assert found.to_pydict() == pq.read_table(location).to_pydict()


def literals(data: bytes) -> bytes:
    """Return an LZ4 block without matches."""
    head = min(len(data), 15)
    more = [] if head < 15 else [255] * ((len(data) - 15) // 255) + [(len(data) - 15) % 255]
    return bytes([head << 4, *more]) + data


def framed(*parts: bytes) -> bytes:
    """Return one frame of Hadoop with these parts as its blocks."""
    blocks = [len(block).to_bytes(4, "big") + block for block in map(literals, parts)]
    return sum(map(len, parts)).to_bytes(4, "big") + b"".join(blocks)


@pytest.mark.parametrize(
    "compressed",
    [
        framed,
        lambda page: framed(page[:400]) + framed(page[400:405]) + framed(page[405:]),
        lambda page: framed(page[:100], page[100:]),
        lambda page: framed(page[:9], page[9:50]) + framed() + framed(page[50:]),
        literals,
    ],
    ids=["frame", "frames", "blocks", "frames-of-blocks", "no-frame"],
)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_lz4_pages_are_read_in_every_framing(tmp_path, compressed, version):
    values = [row if row % 7 else None for row in range(100)]
    column = {arrow_field(1, "id", pa.int64()): values}
    options = {"compression": "none", "use_dictionary": False, "data_page_version": version}
    path = Path(write(tmp_path / "a.parquet", column, **options))
    whole = path.read_bytes()
    header, length = parse(whole[4:])
    levels = header[8][5] if version == "2.0" else 0
    if version == "2.0":
        header[8].fields[7] = (1, True)
    page = whole[4 + length : 4 + length + header[2]]
    stored = page[:levels] + compressed(page[levels:])
    header[3] = len(stored)
    chunk = encode(header) + stored
    footer = whole[4 + length + len(page) :]
    path.write_bytes(b"PAR1" + chunk + footer)

    def change(footer: Struct) -> None:
        footer[4][0][1][0][3][CODEC] = LZ4
        footer[4][0][1][0][3][COMPRESSED_SIZE] = len(chunk)

    assert read([task(with_footer(str(path), change))], schema(ID))["id"].to_pylist() == values
