"""The wheel is complete, small, and holds no file that does not belong."""

from __future__ import annotations

import re
import zlib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIMIT_BYTES = 25_000_000


def installed_files() -> list[Path]:
    files = metadata.files("icefloe") or []
    if not any(file.name.startswith("_core") and file.suffix == ".so" for file in files):
        pytest.skip("an editable install lists no package files; `make test` installs the wheel")
    return [Path(str(file.locate())) for file in files if file.locate() is not None]


def test_wheel_holds_extension_stub_and_type_marker() -> None:
    names = {path.name for path in installed_files()}
    assert {"_core.abi3.so", "_core.pyi", "py.typed", "METADATA", "RECORD"} <= names


def test_wheel_is_under_25_megabytes() -> None:
    # A wheel is a zip archive: each file is deflated by itself.
    assert sum(len(zlib.compress(path.read_bytes())) for path in installed_files()) < LIMIT_BYTES


def test_wheel_holds_the_package_and_its_command_alone() -> None:
    site = Path(str(metadata.distribution("icefloe").locate_file(""))).resolve()
    files = [path.resolve() for path in installed_files()]
    tops = {path.relative_to(site).parts[0] for path in files if path.is_relative_to(site)}
    assert {top for top in tops if not top.startswith("icefloe")} == set()
    assert {path.stem for path in files if not path.is_relative_to(site)} == {"icefloe"}


def test_wheel_is_for_every_python_from_3_10() -> None:
    assert "cp310-abi3-" in (metadata.distribution("icefloe").read_text("WHEEL") or "")


def test_allocator_is_set_up_as_the_build_says() -> None:
    options = re.findall(r'"(narenas_ratio:[^"]+)"', (ROOT / ".cargo" / "config.toml").read_text())
    extension = next(path for path in installed_files() if path.name.startswith("_core") and path.suffix == ".so")
    assert len(options) == 1
    assert options[0].encode() in extension.read_bytes()
