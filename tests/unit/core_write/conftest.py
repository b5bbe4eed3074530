"""Makes the builders beside the tests importable: test modules have no package of their own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
