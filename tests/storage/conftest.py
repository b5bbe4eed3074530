"""One S3 server for all tests, a bucket for each."""

from __future__ import annotations

import itertools

import pytest
from icefloe import _core

from tests.storage.lender import lending
from tests.storage.servers import proxy, s3_server

BUCKETS = itertools.count()


@pytest.fixture(scope="session")
def s3(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def bucket(s3):
    """The name of an empty bucket."""
    name = f"bucket-{next(BUCKETS)}"
    (s3.root / name).mkdir()
    return name


@pytest.fixture
def io(s3):
    return _core.FileIo(s3.properties())


@pytest.fixture
def line(s3):
    """A proxy before the S3 server."""
    with proxy(s3.endpoint) as made:
        yield made


@pytest.fixture
def far_io(s3, line):
    """Storage through the proxy."""
    return _core.FileIo({**s3.properties(), "s3.endpoint": line.endpoint})


@pytest.fixture
def lender():
    """A catalog's endpoint for credentials, with none to lend yet."""
    with lending() as state:
        yield state
