"""Damaged pages of Parquet files: reads raise an error or return other values, and the decoder never panics."""

from __future__ import annotations

from pathlib import Path

import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError

from tests.property.parquet_layout import Layout
from tests.unit.scan_tables import stream, task

FLIPS = 60


@pytest.mark.parametrize("seed", range(12))
def test_flipped_byte_of_a_page_never_makes_the_decoder_panic(tmp_path, seed):
    layout = Layout(seed, rows=[600, 2_000])
    location = layout.write(tmp_path / "file.parquet")
    whole = Path(location).read_bytes()
    tasks = [task(location)]
    assert sum(batch.num_rows for batch in stream(tasks, layout.schema)) == layout.rows
    footer_bytes = int.from_bytes(whole[-8:-4], "little")
    reasons = []
    for _ in range(FLIPS):
        offset = layout.rng.randrange(4, len(whole) - 8 - footer_bytes)
        flipped = whole[offset] ^ layout.rng.randrange(1, 256)
        Path(location).write_bytes(whole[:offset] + bytes([flipped]) + whole[offset + 1 :])
        try:
            found = sum(batch.num_rows for batch in stream(tasks, layout.schema))
        except (CorruptFileError, FeatureUnsupportedError) as error:
            # A flipped byte may change the encoding to one that is invalid for the type.
            reasons.append(str(error))
        else:
            assert found == layout.rows
    assert reasons
    assert not [reason for reason in reasons if "decoding it failed" in reason], layout.options
