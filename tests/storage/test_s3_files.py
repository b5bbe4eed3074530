"""Objects of an S3 server: exact names, listing, deleting, conditional creation, credentials."""

from __future__ import annotations

import subprocess
import sys

import pytest
from icefloe import _core
from icefloe.exceptions import FeatureUnsupportedError, FileAlreadyExistsError, MissingFileError, StorageError


def test_object_is_written_read_and_deleted(io, bucket):
    location = f"s3://{bucket}/deep/down/a.bin"
    io.write(location, b"abc", overwrite=False)
    assert io.read(location) == b"abc"
    assert io.size(location) == 3
    assert io.exists(location)
    io.delete(location)
    assert not io.exists(location)


@pytest.mark.parametrize("call", ["read", "size", "delete"])
def test_missing_object_is_named(io, bucket, call):
    with pytest.raises(MissingFileError, match=f"s3://{bucket}/nothing"):
        getattr(io, call)(f"s3://{bucket}/nothing")


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_every_scheme_is_the_same_object_and_is_listed_as_asked(io, bucket, scheme):
    io.write(f"s3://{bucket}/dir/a", b"abc", overwrite=False)
    assert io.read(f"{scheme}://{bucket}/dir/a") == b"abc"
    assert io.list(f"{scheme}://{bucket}/dir/")["location"].to_pylist() == [f"{scheme}://{bucket}/dir/a"]


@pytest.mark.parametrize(
    "name", ["a b", "100%", "%20", "a#b", "a#12", "é☃", "a+b=c", "q?x=1", "tilde~", "[x]", "a&b;c", "a'b\"c", "p=1/x"]
)
def test_characters_are_used_as_written(s3, io, bucket, name):
    location = f"s3a://{bucket}/{name}/{name}.parquet"
    io.write(location, b"abc", overwrite=False)
    assert (s3.root / bucket / name / f"{name}.parquet").read_bytes() == b"abc"
    assert io.read(location) == b"abc"
    assert io.list(f"s3a://{bucket}/{name}")["location"].to_pylist() == [location]
    assert io.delete_many([location]) == []
    assert not io.exists(location)


def test_listing_goes_on_after_the_first_thousand(s3, io, bucket):
    directory = s3.root / bucket / "many"
    directory.mkdir()
    for number in range(1_003):
        (directory / f"{number:05}").write_bytes(b"x" * (number % 7))
    (s3.root / bucket / "many-others").mkdir()
    (s3.root / bucket / "many-others" / "a").touch()
    listed = io.list(f"s3://{bucket}/many")
    assert listed["location"].to_pylist() == [f"s3://{bucket}/many/{number:05}" for number in range(1_003)]
    assert listed["size"].to_pylist() == [number % 7 for number in range(1_003)]
    assert min(listed["last_modified_ms"].to_pylist()) > 1_600_000_000_000


def test_deleting_many_goes_in_bulk_and_reports_only_what_stays(far_io, line, bucket):
    names = [f"s3://{bucket}/{number}" for number in range(20)]
    for name in names:
        far_io.write(name, b"", overwrite=True)
    failures = far_io.delete_many([*names, f"s3://{bucket}/gone"])
    assert failures == []
    assert far_io.list(f"s3://{bucket}").num_rows == 0
    assert len(line.seen("POST", bucket)) == 1
    assert len(line.seen("DELETE", bucket)) == 0


def test_deleting_goes_one_by_one_where_there_is_no_bulk(far_io, line, bucket):
    names = [f"s3://{bucket}/{number}" for number in range(5)]
    for name in names:
        far_io.write(name, b"", overwrite=True)
    line.fault = lambda request: 405 if request.method == "POST" else None
    assert far_io.delete_many(names) == []
    assert far_io.list(f"s3://{bucket}").num_rows == 0


def test_no_object_is_deleted_where_a_property_says_so(s3, io, line, bucket):
    names = [f"s3://{bucket}/dir/{number}" for number in range(3)]
    for name in names:
        io.write(name, b"", overwrite=True)
    kept = _core.FileIo({**s3.properties(), "s3.endpoint": line.endpoint, "s3.delete-enabled": "false"})
    kept.delete(names[0])
    kept.delete(f"s3://{bucket}/none")
    assert kept.delete_many(names) == []
    assert line.requests == []
    assert kept.delete_directory(f"s3://{bucket}/dir") == []
    assert io.list(f"s3://{bucket}")["location"].to_pylist() == names
    deleting = _core.FileIo({**s3.properties(), "s3.delete-enabled": "true"})
    assert deleting.delete_many(names) == []
    assert io.list(f"s3://{bucket}").num_rows == 0


def test_existing_object_is_not_replaced_without_overwrite(io, bucket):
    location = f"s3://{bucket}/a"
    io.write(location, b"first", overwrite=False)
    for data in (b"second", b"first"):
        with pytest.raises(FileAlreadyExistsError, match=location):
            io.write(location, data, overwrite=False)
    assert io.read(location) == b"first"
    io.write(location, b"third", overwrite=True)
    assert io.read(location) == b"third"


RACER = """
import sys
from icefloe import _core
from icefloe.exceptions import FileAlreadyExistsError
io = _core.FileIo(eval(sys.argv[1]))
wins = []
for number in range(30):
    try:
        io.write(f"{sys.argv[2]}/{number}", sys.argv[3].encode(), overwrite=False)
        wins.append(number)
    except FileAlreadyExistsError:
        pass
print(wins)
"""


def test_of_two_processes_one_creates_an_object(s3, io, bucket):
    prefix = f"s3://{bucket}/race"
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, repr(s3.properties()), prefix, name], stdout=subprocess.PIPE, text=True
        )
        for name in ("left", "right")
    ]
    wins = {}
    for name, racer in zip(("left", "right"), racers, strict=True):
        output, _ = racer.communicate(timeout=600)
        assert racer.returncode == 0
        wins[name] = set(eval(output))
    assert wins["left"] | wins["right"] == set(range(30))
    assert not wins["left"] & wins["right"]
    for name, numbers in wins.items():
        assert all(io.read(f"{prefix}/{number}") == name.encode() for number in numbers)


def test_wrong_credentials_are_refused_and_not_shown(s3, bucket):
    io = _core.FileIo(s3.properties(**{"s3.secret-access-key": "not-the-secret", "s3.session-token": "a-token"}))
    with pytest.raises(StorageError) as caught:
        io.read(f"s3://{bucket}/a")
    assert bucket in str(caught.value)
    for secret in ("not-the-secret", "a-token", s3.access_key):
        assert secret not in str(caught.value) + repr(io)


def test_anonymous_requests_carry_no_signature(s3, line, bucket):
    io = _core.FileIo({"s3.endpoint": line.endpoint, "s3.anonymous": "true", "s3.region": "us-east-1"})
    with pytest.raises(StorageError, match=f"s3://{bucket}/a"):
        io.read(f"s3://{bucket}/a")
    assert {request.status for request in line.requests} == {403}


def test_environment_is_read_only_where_properties_say_nothing(s3, bucket):
    program = """
import sys
from icefloe import _core
print(_core.FileIo({"s3.endpoint": sys.argv[1]}).exists(sys.argv[2]))
"""
    variables = {"AWS_ACCESS_KEY_ID": s3.access_key, "AWS_SECRET_ACCESS_KEY": s3.secret_key, "AWS_REGION": "us-east-1"}
    done = subprocess.run(
        [sys.executable, "-c", program, s3.endpoint, f"s3://{bucket}/a"],
        env={**__import__("os").environ, **variables},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.strip() == "False", done.stderr


def test_credentials_of_two_accesses_do_not_mix(s3, io, bucket):
    io.write(f"s3://{bucket}/a", b"abc", overwrite=False)
    stranger = _core.FileIo(s3.properties(**{"s3.secret-access-key": "wrong-secret"}))
    with pytest.raises(StorageError):
        stranger.read(f"s3://{bucket}/a")
    assert io.read(f"s3://{bucket}/a") == b"abc"


def test_forked_child_has_connections_of_its_own(io, bucket):
    import multiprocessing

    io.write(f"s3://{bucket}/a", b"abc", overwrite=False)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(io.read, [f"s3://{bucket}/a"] * 4) == [b"abc"] * 4
    assert io.read(f"s3://{bucket}/a") == b"abc"


def test_children_are_the_names_directly_below_a_key(io, bucket):
    for name in ("dir/b", "dir/a/deep", "dir/c d/100%/f", "directory/g"):
        io.write(f"s3://{bucket}/{name}", b"", overwrite=False)
    assert io.children(f"s3a://{bucket}/dir/") == (["a", "c d"], ["b"])
    assert io.children(f"s3://{bucket}") == (["dir", "directory"], [])
    assert io.children(f"s3://{bucket}/none") == ([], [])


def test_publish_needs_conditional_writes(s3, bucket):
    io = _core.FileIo({**s3.properties(), "s3.conditional-writes": "false"})
    with pytest.raises(FeatureUnsupportedError, match="conditional writes"):
        io.publish(f"s3://{bucket}/a", b"1")
    assert not io.exists(f"s3://{bucket}/a")
