"""The same scripts with both packages, only the imports changed: the same results."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.interop

SCRIPTS = Path(__file__).parent / "scripts"


@cache
def functions(package: str, name: str) -> dict[str, Any]:
    """Return the functions of a script that was written for PyIceberg, run with a package."""
    source = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8").replace("from pyiceberg", f"from {package}")
    names: dict[str, Any] = {"__name__": f"{package}_{name}"}
    exec(compile(source, f"{name}.py for {package}", "exec"), names)
    return {function.__name__: function for function in names["SCRIPTS"]}


CASES = [(path.stem, name) for path in sorted(SCRIPTS.glob("*.py")) for name in functions("icefloe", path.stem)]


@pytest.mark.parametrize(("script", "name"), CASES)
def test_script_gives_the_same_result_with_both_packages(script: str, name: str, tmp_path: Path) -> None:
    results = []
    for package in ("icefloe", "pyiceberg"):
        warehouse = tmp_path / package
        warehouse.mkdir()
        result = functions(package, script)[name](str(warehouse))
        results.append(repr(result).replace(str(warehouse), "warehouse").replace("pyiceberg", "icefloe"))
    assert results[0] == results[1]
