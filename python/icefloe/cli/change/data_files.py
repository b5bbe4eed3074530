"""Files of rows to append: Parquet, Arrow IPC, CSV and JSON lines, or an Arrow stream on standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pyarrow as pa

from icefloe.exceptions import MissingFileError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

STANDARD_INPUT = "-"
_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def arrow_schema(path: str) -> pa.Schema:
    """Return the Arrow schema of a file of rows."""
    from pyarrow import dataset

    return dataset.dataset(path, format=_format(path)).schema


def rows_of(paths: Sequence[str], table_schema: pa.Schema) -> pa.RecordBatchReader:
    """Return the rows of files as one stream; files are opened one after the other.

    Args:
        paths: The files, all of one format; `-` is an Arrow stream on standard input.
        table_schema: The columns of the table, whose types the texts of CSV files are read as.

    Raises:
        ValidationError: The ending of a name is not one of the formats, or files have different formats.
        MissingFileError: A file does not exist.
    """
    if list(paths) == [STANDARD_INPUT]:
        return pa.ipc.open_stream(sys.stdin.buffer)
    from pyarrow import csv, dataset

    formats = sorted({_format(path) for path in paths})
    if len(formats) > 1:
        raise ValidationError(f"append: expected files of one format, got {', '.join(formats)}; append them one by one")
    if formats == ["csv"]:
        types = {field.name: field.type for field in table_schema}
        texts = csv.ConvertOptions(column_types=types, strings_can_be_null=True)
        found = dataset.dataset(list(paths), format=dataset.CsvFileFormat(convert_options=texts))
    else:
        found = dataset.dataset(list(paths), format=formats[0])
    return found.scanner().to_reader()


def sizes_of(paths: Sequence[str]) -> list[int | None]:
    """Return the sizes of files in bytes, None for standard input.

    Raises:
        MissingFileError: A file does not exist.
        UsageError: Standard input is one of several files.
    """
    if STANDARD_INPUT in paths and len(paths) > 1:
        raise click.UsageError("expected files, or - alone for an Arrow stream on standard input")
    return [None if path == STANDARD_INPUT else _size(path) for path in paths]


def _size(path: str) -> int:
    _format(path)
    try:
        return Path(path).stat().st_size
    except FileNotFoundError:
        raise MissingFileError(f"file {path} does not exist") from None


def _format(path: str) -> str:
    found = _FORMATS.get(Path(path).suffix.lower())
    if found is None:
        raise ValidationError(f"file {path}: the name has no known ending; expected one of {', '.join(_FORMATS)}")
    return found
