"""Statistics of rows, and the Puffin files that hold them."""

from typing import Any

from icefloe._core_api.scan import ScanStream

def distinct_values(rows: ScanStream, columns: list[list[int]]) -> list[tuple[float, bytes]]:
    """Return for each column the estimate of its number of distinct values, and its theta sketch in the compact form.

    ``columns`` are paths: the position of a column in the batches, then of the child in each struct around it. Estimates are exact
    for at most 7,680 values. Nulls, and strings and binaries without bytes, are not counted.

    Raises:
        ValidationError: A column is not primitive, or the scan has a limit.
    """

def merge_sketches(sketches: list[bytes]) -> tuple[float, bytes]:
    """Return the estimate and the theta sketch of a column, from sketches of parts of its rows.

    The result depends on the values alone, not on how the rows were divided: it equals that of ``distinct_values`` over all rows.

    Raises:
        CorruptFileError: Bytes are not a compact theta sketch.
    """

def encode_puffin(blobs: list[tuple[Any, ...]], properties: dict[str, str]) -> tuple[bytes, int]:
    """Return a Puffin file and the length of its footer in bytes.

    A blob is its type, field ids, snapshot id, sequence number, bytes, codec and properties. The codec is ``compress`` to compress
    the bytes with Zstandard, else the name of the codec that the bytes are in, or None.
    """

def puffin_footer(bytes: bytes) -> str:
    """Return the footer of a Puffin file as JSON; CorruptFileError for other bytes."""
