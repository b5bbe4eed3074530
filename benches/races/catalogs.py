"""The catalogs of the races, on servers that the tests install."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.catalogs.postgres_server import postgres_server
from tests.catalogs.rest.server import rest_server
from tests.storage.servers import s3_server

Properties = dict[str, str]


@contextmanager
def sqlite(directory: Path) -> Iterator[Properties]:
    yield {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"{directory}/warehouse"}


@contextmanager
def postgres(directory: Path) -> Iterator[Properties]:
    with postgres_server() as server:
        yield {"type": "sql", "uri": server.url("psycopg"), "warehouse": f"{directory}/warehouse"}


@contextmanager
def hadoop(directory: Path) -> Iterator[Properties]:
    yield {"type": "hadoop", "warehouse": f"{directory}/warehouse"}


@contextmanager
def hadoop_s3(directory: Path) -> Iterator[Properties]:
    storage = directory / "s3"
    storage.mkdir()
    with s3_server(storage) as server:
        (server.root / "races").mkdir()
        yield {"type": "hadoop", "warehouse": "s3://races/warehouse", **server.properties()}


@contextmanager
def rest(directory: Path) -> Iterator[Properties]:
    storage = directory / "rest"
    storage.mkdir()
    with rest_server(storage) as server:
        yield server.properties


CATALOGS: dict[str, Callable[[Path], AbstractContextManager[Properties]]] = {
    "sqlite": sqlite,
    "postgres": postgres,
    "hadoop": hadoop,
    "hadoop-s3": hadoop_s3,
    "rest": rest,
}
OF_PYICEBERG = ("sqlite", "postgres", "rest")
"""The catalogs that PyIceberg has."""
