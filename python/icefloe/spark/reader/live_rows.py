"""The rows of a scan by Spark's own reader without the deleted ones.

Rows of a few files look themselves up in an array of bits, which is the value of a scalar subquery: a condition, with no exchange to
wait for. Other rows meet a broadcast anti-join: its key is a block of rows, its condition the row's bit in the block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as T  # noqa: N812  likewise

from icefloe.spark.reader.deletion_bits import WORD_ROWS, deletion_bits
from icefloe.spark.reader.deletion_blocks import BLOCK_BITS, WORD_ROWS_LOG2, deletion_blocks
from icefloe.spark.reader.row_location import FILE, POSITION

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from icefloe.spark.reader.deletion_bits import DeletionBits

_BLOCK, _WORDS = "__icefloe_block", "__icefloe_words"
_WORDS_FIELD = T.StructField(_WORDS, T.ArrayType(T.LongType(), False), False)
_BLOCK_SCHEMA = T.StructType([T.StructField(_BLOCK, T.LongType(), False), _WORDS_FIELD])
# Each file is a branch of the condition's code, and the bits, at most 2 MiB for 16 million rows, are a part of the task.
_MOST_FILES = 16
_MOST_WORDS = 1 << 18


def without_deleted(spark: Any, deleted: pa.Table) -> Callable[[DataFrame], DataFrame]:
    """Return a function that removes deleted rows from a frame with the columns of :mod:`icefloe.spark.reader.row_location`.

    Args:
        spark: Session.
        deleted: Columns ``key``, the file of each deleted row, and ``pos``, its position, both int64 without nulls.
    """
    bits = deletion_bits(deleted, most_files=_MOST_FILES, most_words=_MOST_WORDS)
    return _without_joined(spark, deleted) if bits is None else _without_marked(spark, bits)


def _without_marked(spark: Any, bits: DeletionBits) -> Callable[[DataFrame], DataFrame]:
    if len(bits.files) == 0:
        return lambda rows: rows
    table = pa.table({_WORDS: pa.array([bits.words])})
    words = spark.createDataFrame(table, T.StructType([_WORDS_FIELD])).scalar()
    files = zip(bits.files.tolist(), bits.ends.tolist(), bits.firsts.tolist(), strict=True)
    branches = (f"WHEN {FILE} = {key}L AND {POSITION} < {end}L THEN {POSITION} + {first}L" for key, end, first in files)
    number = F.expr(f"CASE {' '.join(branches)} END")
    word = F.get(words, F.shiftright(number, WORD_ROWS_LOG2).cast("int"))
    bit = F.bit_get(word, number.bitwiseAND(WORD_ROWS - 1).cast("int"))
    is_live = F.coalesce(bit, F.lit(0)) == 0
    return lambda rows: rows.where(is_live)


def _without_joined(spark: Any, deleted: pa.Table) -> Callable[[DataFrame], DataFrame]:
    blocks = deletion_blocks(deleted.column("key").to_numpy(), deleted.column("pos").to_numpy())
    table = F.broadcast(spark.createDataFrame(blocks.table.rename_columns([_BLOCK, _WORDS]), _BLOCK_SCHEMA))
    block = f"(shiftleft({FILE}, {BLOCK_BITS}) | shiftright({POSITION}, {blocks.rows_log2}))"
    word = f"{_WORDS}[int(shiftright({POSITION}, {WORD_ROWS_LOG2}) & {(1 << blocks.words_log2) - 1})]"
    bit = f"int({POSITION} & {(1 << WORD_ROWS_LOG2) - 1})"
    condition = F.expr(f"{_BLOCK} = {block} AND bit_get({word}, {bit}) = 1")
    return lambda rows: rows.join(table, condition, "left_anti")
