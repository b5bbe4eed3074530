"""Arrays of a pyarrow whose view layouts cannot be exported are cast before they cross to Rust."""

import subprocess
import sys

# The core looks at the version once in a process. The class stands for an array of that pyarrow: only its copy crosses.
SCRIPT = """
import pyarrow as pa
from icefloe import _core

pa.__version__ = "24.0.0"

class Array:
    __module__ = "pyarrow.lib"

    def __init__(self, held):
        self.held, self.type = held, held.type

    def __arrow_c_array__(self, schema=None):
        raise AssertionError("views were exported")

    def cast(self, plain):
        print(plain)
        return self.held.cast(plain)

texts = pa.array(["iceberg", None, "floe"])
print(_core.bucket(Array(texts.cast(pa.string_view())), 16).equals(_core.bucket(texts, 16)))
print(_core.bucket(Array(texts.cast(pa.binary()).cast(pa.binary_view())), 16).equals(_core.bucket(texts, 16)))
"""


def test_views_of_an_old_pyarrow_are_cast_before_they_cross():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["large_string", "True", "large_binary", "True"]
