"""Access to files by location."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from icefloe.exceptions import FileAlreadyExistsError, MissingFileError, ValidationError
from icefloe.io import FileIO, load_file_io


def test_file_is_written_read_and_deleted(tmp_path: Path) -> None:
    files = load_file_io({"s3.region": "x"}, str(tmp_path))
    output = files.new_output(f"{tmp_path}/deep/file")
    assert not output.exists()
    with output.create() as stream:
        stream.write(b"hello ")
        stream.write(b"world")
    assert len(output) == 11
    assert output.to_input_file().open().read() == b"hello world"
    files.delete(output)
    with pytest.raises(MissingFileError):
        files.new_input(output.location).open()


def test_create_replaces_a_file_only_with_overwrite(tmp_path: Path) -> None:
    output = FileIO().new_output(f"{tmp_path}/file")
    with output.create() as stream:
        stream.write(b"1")
    with pytest.raises(FileAlreadyExistsError):
        output.create()
    with output.create(overwrite=True) as stream:
        stream.write(b"2")
    assert output.to_input_file().open().read() == b"2"


def test_stream_stores_nothing_after_an_exception_or_without_close(tmp_path: Path) -> None:
    output = FileIO().new_output(f"{tmp_path}/file")
    with pytest.raises(RuntimeError), output.create() as stream:  # noqa: PT012 - the block is what is tested
        stream.write(b"1")
        raise RuntimeError
    output.create().write(b"1")
    assert not output.exists()


def test_file_io_pickles_and_hides_secrets() -> None:
    files = FileIO({"s3.secret-access-key": "hush", "uri": "postgresql://user:word@host/db"})
    assert pickle.loads(pickle.dumps(files)) == files
    assert files.core.properties == {"s3.secret-access-key": "hush", "file.working-directory": str(Path.cwd())}
    assert "hush" not in repr(files)
    assert "word" not in repr(files)


def test_load_file_io_refuses_other_implementations() -> None:
    with pytest.raises(ValidationError, match="py-io-impl"):
        load_file_io({"py-io-impl": "a.B"})


def test_children_are_the_names_directly_in_a_directory(tmp_path):
    for name in ("b", "a/deep", "c d/e/f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert FileIO().core.children(f"{tmp_path}/") == (["a", "c d", "link"], ["b"])
    assert FileIO().core.children(f"{tmp_path}/none") == ([], [])
    assert FileIO().core.children(f"{tmp_path}/b") == ([], [])
