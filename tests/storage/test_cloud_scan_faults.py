"""As on S3, a failing line or server while a whole table on Azure or Google Cloud Storage is scanned."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import StorageError

from tests.storage.azure_server import ACCOUNT, azure_server, connection
from tests.storage.gcs_server import gcs_server
from tests.storage.lake_of_all_kinds import KINDS, fill, rows_of
from tests.storage.servers import proxy

FAULTS = [503, "cut", "half", "stall"]
# Requests that no fault hits pass on a loaded machine, too.
QUICK = {"request-timeout": "2", "retry.num-retries": "2", "retry.min-wait-ms": "5", "retry.max-wait-ms": "10"}


@dataclass
class Lake:
    """A table with files of all kinds, and the way to its server."""

    endpoint: str
    prefix: str
    root: str
    connect: Callable[[str], dict[str, str]]
    directory: Path
    rows: pa.Table | None = None

    def catalog(self, endpoint: str, **others: str):
        """The catalog, with storage at an address."""
        properties = {f"{self.prefix}.{name}": value for name, value in others.items()}
        made = load_catalog(
            "lake",
            type="sql",
            uri=f"sqlite:///{self.directory}/c.db",
            warehouse=f"{self.root}/warehouse",
            **self.connect(endpoint),
            **properties,
        )
        made.create_namespace_if_not_exists("db")
        return made


@pytest.fixture(scope="module", params=["azure", "gcs"])
def lake(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp(request.param)
    if request.param == "azure":
        with azure_server(directory) as endpoint:
            address = endpoint.removesuffix(f"/{ACCOUNT}")
            yield filled(Lake(address, "adls", "abfss://box", lambda it: connection(f"{it}/{ACCOUNT}"), directory))
    else:
        with gcs_server() as (address, _, _):

            def connect(endpoint: str) -> dict[str, str]:
                return {"gcs.service.host": endpoint, "gcs.no-auth": "true"}

            yield filled(Lake(address, "gcs", "gs://bucket", connect, directory))


def filled(lake: Lake) -> Lake:
    lake.rows = fill(lake.catalog(lake.endpoint), lake.directory)
    return lake


@pytest.fixture
def line(lake):
    """A proxy before the server."""
    with proxy(lake.endpoint) as made:
        yield made


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_rows_come_after_faults_that_pass(lake, line, kind, fault):
    hit = itertools.count()
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) and next(hit) < (1 if fault == "stall" else 2) else None
    assert rows_of(lake.catalog(line.endpoint, **QUICK).load_table("db.t")).equals(lake.rows)
    assert next(hit) > 1


@pytest.mark.parametrize("fault", [503, "half", "stall"])
@pytest.mark.parametrize("kind", KINDS)
def test_faults_that_stay_are_one_error_that_names_the_file(lake, line, kind, fault):
    of_kind = KINDS[kind]
    line.fault = lambda request: fault if of_kind(request.path) else None
    with pytest.raises(StorageError) as caught:
        rows_of(lake.catalog(line.endpoint, **QUICK).load_table("db.t"))
    location, _, reason = str(caught.value).partition(": ")
    assert location.startswith(f"{lake.root}/")
    assert of_kind(location)
    assert len(reason) > 10
    assert len([request for request in line.requests if of_kind(request.path)]) < 40
