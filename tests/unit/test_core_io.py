"""Storage by location: exact characters, atomic writes, errors."""

from __future__ import annotations

import threading

import pytest
from icefloe import _core
from icefloe.exceptions import FeatureUnsupportedError, FileAlreadyExistsError, MissingFileError, ValidationError


@pytest.fixture
def io():
    return _core.FileIo({})


@pytest.mark.parametrize("prefix", ["", "file:", "file://", "file://localhost"])
def test_location_of_any_spelling_is_the_same_file(io, tmp_path, prefix):
    location = f"{tmp_path}/a.bin"
    io.write(prefix + location, b"abc", overwrite=False)
    assert io.read(location) == b"abc"
    assert io.list(prefix + str(tmp_path))["location"].to_pylist() == [prefix + location]


@pytest.mark.parametrize(
    "name", ["a b", "100%", "%20", "a#b", "é☃", "a+b=c", "q?x=1", "a#12", "back\\slash", "tilde~", "[x]"]
)
def test_characters_are_used_as_written(io, tmp_path, name):
    location = f"{tmp_path}/{name}/{name}.parquet"
    io.write(location, b"abc", overwrite=False)
    assert [path.name for path in (tmp_path / name).iterdir()] == [f"{name}.parquet"]
    assert io.read(f"file://{location}") == b"abc"
    assert io.list(str(tmp_path))["location"].to_pylist() == [location]


def test_doubled_slash_is_the_same_directory(io, tmp_path):
    io.write(f"{tmp_path}//a/./b.bin", b"abc", overwrite=False)
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"abc"


def test_existing_file_is_not_replaced_without_overwrite(io, tmp_path):
    location = f"{tmp_path}/a"
    io.write(location, b"first", overwrite=False)
    with pytest.raises(FileAlreadyExistsError, match=location):
        io.write(location, b"second", overwrite=False)
    assert io.read(location) == b"first"
    io.write(location, b"third", overwrite=True)
    assert io.read(location) == b"third"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_of_many_racers_one_wins(io, tmp_path):
    location, wins = f"{tmp_path}/a", []
    start = threading.Barrier(8)

    def race(number: int) -> None:
        start.wait()
        try:
            io.write(location, str(number).encode(), overwrite=False)
            wins.append(number)
        except FileAlreadyExistsError:
            pass

    threads = [threading.Thread(target=race, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert io.read(location) == str(wins[0]).encode()


@pytest.mark.parametrize("call", ["read", "size", "delete"])
def test_error_names_the_missing_file(io, tmp_path, call):
    with pytest.raises(MissingFileError, match="nothing"):
        getattr(io, call)(f"{tmp_path}/nothing")
    assert io.exists(f"{tmp_path}/nothing") is False


def test_sizes_come_in_the_order_asked_for(io, tmp_path):
    locations = [f"{tmp_path}/{number}" for number in range(50)]
    for number, location in enumerate(locations):
        io.write(location, b"x" * number, overwrite=False)
    assert io.sizes(locations[::-1]).to_pylist() == list(range(50))[::-1]
    assert io.sizes([]).to_pylist() == []
    with pytest.raises(MissingFileError, match="nothing"):
        io.sizes([*locations, f"{tmp_path}/nothing"])


def test_deleting_many_reports_only_what_stays(io, tmp_path):
    io.write(f"{tmp_path}/a", b"", overwrite=False)
    failures = io.delete_many([f"{tmp_path}/a", f"{tmp_path}/gone", "hdfs://host/key"])
    assert [location for location, _ in failures] == ["hdfs://host/key"]
    assert not (tmp_path / "a").exists()


def test_listing_follows_links_that_lead_somewhere_else(io, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a").touch()
    inside = tmp_path / "listed"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "elsewhere")
    (inside / "loop").symlink_to(inside)
    (inside / "up").symlink_to(tmp_path)
    (inside / "broken").symlink_to(tmp_path / "nothing")
    assert io.list(str(inside))["location"].to_pylist() == [f"{inside}/link/a"]


def test_name_may_be_as_long_as_the_file_system_allows(io, tmp_path):
    location = f"{tmp_path}/{'n' * 255}"
    io.write(location, b"abc", overwrite=False)
    assert io.read(location) == b"abc"


def test_listing_what_does_not_exist_is_empty(io, tmp_path):
    assert io.list(f"{tmp_path}/nothing").num_rows == 0


@pytest.mark.parametrize("location", ["oss://bucket/key", "hdfs://host/path", "memory:/a"])
def test_other_schemes_are_refused_by_name(io, location):
    with pytest.raises(FeatureUnsupportedError, match=location.split(":", maxsplit=1)[0]):
        io.read(location)


@pytest.mark.parametrize("location", ["relative/path", "", "/a/../b", "file://host/path"])
def test_text_that_is_no_location_is_refused(io, location):
    with pytest.raises(ValidationError, match="location"):
        io.read(location)
