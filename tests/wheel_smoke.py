"""Uses a wheel where nothing but its own dependencies is installed: `python -I tests/wheel_smoke.py WHEEL [PROFILE]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import icefloe
import pyarrow as pa
from icefloe import _core
from icefloe.catalog import load_catalog

WHEEL_BYTES = 25_000_000
STREAM_BYTES = 200 * 2**20
"""Memory that a scan of `ROWS` wide rows may take beyond what the process held before."""
ROWS, COLUMNS = 400_000, 64


def peak() -> int:
    """Return the largest resident size of this process, in bytes."""
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def check_changes(directory: str) -> None:
    catalog = load_catalog("local", type="sql", uri=f"sqlite:///{directory}/catalog.db", warehouse=f"{directory}/lake")
    catalog.create_namespace("shop")
    orders = pa.table({"id": [1, 2, 3], "country": ["de", "fr", None], "amount": [10.0, 20.0, 30.0]})
    table = catalog.create_table("shop.orders", schema=orders.schema)
    table.append(orders)
    first = table.current_snapshot().snapshot_id
    changes = pa.table({"id": [3, 4], "country": ["it", "it"], "amount": [33.0, 40.0]})
    table.merge(changes, on=["id"]).when_matched_update().when_not_matched_insert().execute()
    table.delete("country = 'fr'")
    rows = catalog.load_table("shop.orders").scan().to_arrow().sort_by("id").to_pylist()
    assert rows == [
        {"id": 1, "country": "de", "amount": 10.0},
        {"id": 3, "country": "it", "amount": 33.0},
        {"id": 4, "country": "it", "amount": 40.0},
    ], rows
    assert table.scan(snapshot_id=first).count() == 3


def check_memory(directory: str) -> None:
    catalog = load_catalog("wide", type="hadoop", warehouse=f"{directory}/wide")
    catalog.create_namespace("db")
    names = [f"c{number}" for number in range(COLUMNS)]
    table = catalog.create_table("db.wide", schema=pa.schema([(name, pa.int64()) for name in names]))
    for start in range(0, ROWS, 50_000):
        column = pa.array(range(start, start + 50_000), pa.int64())
        table.append(pa.table(dict.fromkeys(names, column)))
    before, rows = peak(), 0
    for batch in table.scan().to_arrow_batch_reader():
        rows += batch.num_rows
    assert rows == ROWS, rows
    assert peak() - before < STREAM_BYTES, (
        f"a scan held {peak() - before:,} bytes more; expected under {STREAM_BYTES:,}"
    )


def main(wheel: str, profile: str = "release") -> None:
    assert _core.build_profile() == profile, _core.build_profile()
    size = Path(wheel).stat().st_size
    assert size < WHEEL_BYTES, f"{wheel} has {size:,} bytes; expected under {WHEEL_BYTES:,}"
    with tempfile.TemporaryDirectory() as directory:
        check_changes(directory)
        if sys.platform != "win32":
            check_memory(directory)
    print(f"icefloe {icefloe.__version__}: a wheel of {size / 1e6:.1f} MB; merge, delete and scan hold")


main(*sys.argv[1:])
