"""The manifest cache of planning: hits for the same request, and never for a changed manifest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, MissingFileError, ValidationError
from icefloe.manifest import clear_manifest_cache

from tests.unit.test_core_plan import Table, data_file, leaf, paths

PREFIX = "io.manifest.cache"


@pytest.fixture
def table(tmp_path):
    made = Table(tmp_path)
    made.commit(data_file("/a", 0, 9), data_file("/b", 10, 19))
    return made


def with_properties(table: Table, **properties: str) -> Table:
    table.io = _core.FileIo({f"{PREFIX}{name}": value for name, value in properties.items()})
    return table


def spoil(table: Table) -> None:
    """Overwrite the manifest with bytes that are not Avro, of the same length and modification time."""
    manifest = Path(table.manifests[0]["manifest_path"][0].as_py())
    status = manifest.stat()
    manifest.write_bytes(b"x" * status.st_size)
    os.utime(manifest, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_plan_with_the_same_filter_decodes_a_manifest_once(table):
    first = table.plan(leaf("lt", "id", 5))
    spoil(table)
    again = table.plan(leaf("lt", "id", 5))
    assert paths(again) == paths(first) == ["/a"]
    assert again.files == first.files
    assert again.counters == first.counters


def test_plan_with_other_options_reads_the_manifest(table):
    table.plan()
    spoil(table)
    for options in ({"predicate": leaf("lt", "id", 5)}, {"include_stats": True}, {"added_by": 1}):
        with pytest.raises(CorruptFileError):
            table.plan(**options)
    assert paths(table.plan()) == ["/a", "/b"]


def test_plan_with_other_storage_properties_reads_the_manifest(table):
    table.plan()
    spoil(table)
    with pytest.raises(CorruptFileError):
        with_properties(table, **{".max-total-bytes": "1000000"}).plan()


def test_plan_reads_a_changed_manifest_again(table):
    table.plan()
    manifest = Path(table.manifests[0]["manifest_path"][0].as_py())
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-7])
    with pytest.raises(CorruptFileError):
        table.plan()
    manifest.unlink()
    with pytest.raises(MissingFileError):
        table.plan()
    manifest.write_bytes(whole)
    assert paths(table.plan()) == ["/a", "/b"]


@pytest.mark.parametrize(
    "properties",
    [{"-enabled": "false"}, {".max-total-bytes": "0"}, {".max-total-bytes": "80"}, {".max-content-length": "10"}],
)
def test_cache_is_empty_if_properties_disable_it(table, properties):
    with_properties(table, **properties).plan()
    spoil(table)
    with pytest.raises(CorruptFileError):
        table.plan()


def test_cache_evicts_the_least_recently_used_parts(tmp_path, table):
    budget = {".max-total-bytes": "12000"}
    with_properties(table, **budget).plan()
    others = Table(tmp_path / "others")
    for number in range(40):
        others.commit(data_file(f"/{number}", 0, 9))
    with_properties(others, **budget).plan()
    spoil(table)
    with pytest.raises(CorruptFileError):
        table.plan()


@pytest.mark.parametrize(("name", "value"), [("-enabled", "maybe"), (".max-total-bytes", "much")])
def test_cache_refuses_an_invalid_property(table, name, value):
    with pytest.raises(ValidationError, match=f"{PREFIX}{name}".replace(".", r"\.")):
        with_properties(table, **{name: value}).plan()


def test_clear_manifest_cache_makes_the_next_plan_read_manifests_again(table):
    first = table.plan()
    manifest = Path(table.manifests[0]["manifest_path"][0].as_py())
    whole, times = manifest.read_bytes(), manifest.stat()
    spoil(table)
    assert paths(table.plan()) == paths(first)
    clear_manifest_cache()
    with pytest.raises(CorruptFileError):
        table.plan()
    manifest.write_bytes(whole)
    os.utime(manifest, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert paths(table.plan()) == paths(first)
    spoil(table)
    assert paths(table.plan()) == paths(first)


def test_clear_manifest_cache_of_an_empty_cache_leaves_it_usable(table):
    clear_manifest_cache()
    clear_manifest_cache()
    first = table.plan()
    spoil(table)
    assert paths(table.plan()) == paths(first) == ["/a", "/b"]
