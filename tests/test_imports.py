"""What an import of icefloe, and its first use, load and start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def in_fresh_interpreter(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_icefloe_loads_no_heavy_library() -> None:
    loaded = in_fresh_interpreter(
        "import sys, icefloe; print([m for m in ('pyarrow', 'pydantic', 'pyspark', 'pandas', 'sqlalchemy') if m in sys.modules])"
    )
    assert loaded == "[]"


def test_tables_and_catalogs_are_imported_without_numpy() -> None:
    # icefloe does not depend on numpy, and an environment without pandas need not have it.
    code = "import sys; sys.modules['numpy'] = None; import icefloe.catalog, icefloe.table; icefloe.table.Table; print('imported')"
    assert in_fresh_interpreter(code) == "imported"


def test_importing_tables_and_catalogs_loads_no_pandas() -> None:
    # pyarrow loads pandas with the first conversion of a Python value, half a second of CPU.
    loaded = in_fresh_interpreter("import sys, icefloe.catalog, icefloe.table; print('pandas' in sys.modules)")
    assert loaded == "False"


def test_loading_and_scanning_a_table_loads_no_maintenance_and_no_other_catalog(tmp_path: Path) -> None:
    # A Spark session waits for these imports.
    code = f"""
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("local", type="sql", uri="sqlite:///{tmp_path}/catalog.db", warehouse={str(tmp_path)!r})
catalog.create_namespace("db")
catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())])).scan().count()
unused = ("table.maintenance.maintenance_table", "table.doctor", "table.inspect", "catalog.hadoop", "catalog.rest")
print([name for name in unused if f"icefloe.{{name}}" in sys.modules])
"""
    assert in_fresh_interpreter(code) == "[]"


def test_loading_a_catalog_loads_no_table_and_no_other_database(tmp_path: Path) -> None:
    # A Spark session loads the modules of tables while the JVM prepares its own catalog.
    code = f"""
import sys
from icefloe.catalog import load_catalog
catalog = load_catalog("local", type="sql", uri="sqlite:///{tmp_path}/catalog.db", warehouse={str(tmp_path)!r})
catalog.create_namespace("db")
unused = ("pyarrow", "icefloe.table.table", "icefloe.table.metadata", "sqlalchemy.dialects.mysql")
print([name for name in unused if name in sys.modules])
"""
    assert in_fresh_interpreter(code) == "[]"


def test_loading_a_table_loads_no_scan_and_no_change(tmp_path: Path) -> None:
    code = f"""
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("local", type="sql", uri="sqlite:///{tmp_path}/catalog.db", warehouse={str(tmp_path)!r})
catalog.create_namespace("db")
catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
"""
    in_fresh_interpreter(code)
    code = f"""
import sys
from icefloe.catalog import load_catalog
catalog = load_catalog("local", type="sql", uri="sqlite:///{tmp_path}/catalog.db", warehouse={str(tmp_path)!r})
assert len(catalog.load_table("db.t").schema().fields) == 1
unused = ("table.scan", "table.write", "table.row_level.merge", "table.update", "table.write_transaction")
print([name for name in unused if f"icefloe.{{name}}" in sys.modules])
"""
    assert in_fresh_interpreter(code) == "[]"


def test_first_append_scan_and_count_load_no_pandas(tmp_path: Path) -> None:
    code = f"""
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
catalog = load_catalog("local", type="hadoop", warehouse={str(tmp_path)!r})
catalog.create_namespace("db")
rows = pa.table({{"id": pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(bytes(16))])}})
table = catalog.create_table("db.t", schema=rows.schema)
table.append(rows)
table.append(rows)
print(table.scan("id < 10").to_arrow().num_rows, table.scan().count(), "pandas" in sys.modules)
"""
    assert in_fresh_interpreter(code) == "4 4 False"


def test_first_batch_of_changes_loads_no_pandas(tmp_path: Path) -> None:
    code = f"""
import sys
import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.io.arrow_values import row_numbers, text_array
catalog = load_catalog("local", type="hadoop", warehouse={str(tmp_path)!r})
catalog.create_namespace("db")
rows = pa.table({{"id": row_numbers(3), "n": row_numbers(3)}})
table = catalog.create_table("db.t", schema=rows.schema)
table.append(rows)
changes = rows.append_column("op", text_array(["U", "D", "I"])).append_column("at", row_numbers(3))
table.apply_changes(changes, ["id"], "op", "at", batch_id="1")
print(table.scan().to_arrow().num_rows, "pandas" in sys.modules)
"""
    assert in_fresh_interpreter(code) == "2 False"


def test_importing_icefloe_starts_no_thread_and_reads_no_environment() -> None:
    code = """
import os, sys
reads = []
real = os._Environ.__getitem__
os._Environ.__getitem__ = lambda self, key: (reads.append(key), real(self, key))[1]
import icefloe, icefloe._core, icefloe.catalog, icefloe.table
print(len(os.listdir('/proc/self/task')) if sys.platform == 'linux' else 1)
print([key for key in reads if 'ICEBERG' in key or 'ICEFLOE' in key])
"""
    threads, keys = in_fresh_interpreter(code).splitlines()
    import_only = int(in_fresh_interpreter("import os, pyarrow, pydantic; print(len(os.listdir('/proc/self/task')))"))
    assert int(threads) <= import_only
    assert keys == "[]"


def test_options_of_the_tests_load_no_client_of_a_catalog() -> None:
    # `make matrix` runs the tests of Spark where these are not installed.
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import tests.conftest, tests.spark.conftest
print([name for name in ("boto3", "psycopg", "pymysql", "thrift", "hive_metastore", "moto") if name in sys.modules])
"""
    assert in_fresh_interpreter(code) == "[]"
