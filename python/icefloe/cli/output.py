"""Standard output: the result of a verb, and nothing else."""

from __future__ import annotations

import json
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click
import pyarrow as pa

from icefloe.cli.json_values import json_value, rows_as_json
from icefloe.cli.text_table import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

FORMATS = ("text", "json", "jsonl", "csv", "arrow")
PIPE_WIDTH = 100_000
"""Columns of a pipe: lines are not wrapped there."""
ROW_FORMATS = ("jsonl", "csv", "arrow")
"""Formats of rows alone; verbs that return one document have text and JSON."""


class Output:
    """Standard output in one format.

    Args:
        name: One of `FORMATS`.
    """

    def __init__(self, name: str) -> None:
        self.format = name

    @cached_property
    def console(self) -> Console:
        """Standard output for text; it has colours on a terminal only, and none if NO_COLOR is set."""
        from rich.console import Console

        is_pipe = not sys.stdout.isatty()
        return Console(highlight=False, width=PIPE_WIDTH if is_pipe else None)

    def document(self, values: Mapping[str, Any], text: object) -> None:
        """Write one document.

        Args:
            values: The JSON object, with keys in snake_case.
            text: What the text format shows: text, or something that rich renders.
        """
        if self.format in ROW_FORMATS:
            raise click.UsageError(
                f"this verb returns no rows; expected the output format text or json, got {self.format}"
            )
        if self.format == "json":
            self._write_json(values)
            return
        self.console.print(text)

    def rows(
        self, head: Mapping[str, Any], rows: pa.Table, *, ids_as_text: bool = True, all_rows: bool = False
    ) -> None:
        """Write rows.

        Args:
            head: What the JSON document states beside the key `rows`, such as the table.
            rows: The rows.
            ids_as_text: Whether whole numbers in columns named like ids become strings in JSON.
            all_rows: Whether a terminal shows all rows.
        """
        if self.format == "json":
            self._write_json({**head, "rows": list(rows_as_json(rows, ids_as_text=ids_as_text))})
        elif self.format == "text":
            write_table(rows, self.console, all_rows=all_rows)
        else:
            self.batches(rows.schema, rows.to_batches(), ids_as_text=ids_as_text)

    def batches(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, ids_as_text: bool = True) -> None:
        """Write rows in a format of rows alone, batch by batch."""
        if self.format == "arrow":
            with pa.ipc.new_stream(sys.stdout.buffer, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
        elif self.format == "csv":
            _write_csv(schema, batches, ids_as_text=ids_as_text)
        else:
            for batch in batches:
                for row in rows_as_json(batch, ids_as_text=ids_as_text):
                    click.echo(json.dumps(row, ensure_ascii=False).encode())

    def _write_json(self, values: Mapping[str, Any]) -> None:
        indent = 2 if sys.stdout.isatty() else None
        # JSON is UTF-8, whatever the encoding of standard output is.
        click.echo(json.dumps(json_value(dict(values)), ensure_ascii=False, indent=indent).encode())


def _write_csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, ids_as_text: bool) -> None:
    """Write rows as CSV; nested values are JSON texts, bytes are hexadecimal."""
    from pyarrow import csv

    # Arrow's writer takes neither nested values nor extension types, and bytes only if they are UTF-8.
    as_text = [_is_without_csv(field.type) for field in schema]
    plain = pa.schema(
        [pa.field(one.name, pa.string()) if is_text else one for one, is_text in zip(schema, as_text, strict=True)]
    )
    with csv.CSVWriter(sys.stdout.buffer, plain) as writer:
        for batch in batches:
            columns = [
                _texts(batch.column(place), schema.field(place), ids_as_text=ids_as_text)
                if is_text
                else batch.column(place)
                for place, is_text in enumerate(as_text)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=plain))


def _is_without_csv(kind: pa.DataType) -> bool:
    """Return whether Arrow's CSV writer has no text for values of a type."""
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    return (
        is_bytes
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_nested(kind)
        or isinstance(kind, pa.BaseExtensionType)
    )


def _texts(column: pa.Array, field: pa.Field, *, ids_as_text: bool) -> pa.Array:
    rows = rows_as_json(pa.RecordBatch.from_arrays([column], [field.name]), ids_as_text=ids_as_text)
    values = [row[field.name] for row in rows]
    return pa.array(
        [one if one is None or isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in values],
        pa.string(),
    )
