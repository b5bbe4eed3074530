"""What planning keeps of manifests: found again by the next plan, and never in place of another file."""

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
    """Make the manifest unreadable in a way that nothing but reading it tells."""
    manifest = Path(table.manifests[0]["manifest_path"][0].as_py())
    status = manifest.stat()
    manifest.write_bytes(b"x" * status.st_size)
    os.utime(manifest, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_manifest_is_decoded_once_for_the_same_question(table):
    first = table.plan(leaf("lt", "id", 5))
    spoil(table)
    again = table.plan(leaf("lt", "id", 5))
    assert paths(again) == paths(first) == ["/a"]
    assert again.files == first.files
    assert again.counters == first.counters


def test_another_question_reads_the_manifest(table):
    table.plan()
    spoil(table)
    for options in ({"predicate": leaf("lt", "id", 5)}, {"include_stats": True}, {"added_by": 1}):
        with pytest.raises(CorruptFileError):
            table.plan(**options)
    assert paths(table.plan()) == ["/a", "/b"]


def test_storage_with_other_properties_is_other_storage(table):
    table.plan()
    spoil(table)
    with pytest.raises(CorruptFileError):
        with_properties(table, **{".max-total-bytes": "1000000"}).plan()


def test_a_manifest_that_changed_is_read_anew(table):
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
def test_nothing_is_kept_beyond_what_properties_allow(table, properties):
    with_properties(table, **properties).plan()
    spoil(table)
    with pytest.raises(CorruptFileError):
        table.plan()


def test_the_parts_used_longest_ago_make_room(tmp_path, table):
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
def test_a_property_that_says_nothing_is_refused(table, name, value):
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


def test_clear_manifest_cache_is_harmless_where_nothing_is_kept():
    clear_manifest_cache()
    clear_manifest_cache()
