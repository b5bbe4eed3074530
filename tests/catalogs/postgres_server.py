"""A PostgreSQL server on this machine, with its data in a temporary directory."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.storage.servers import PATIENCE, running

PACKAGED = "/usr/lib/postgresql/*/bin"
ACCOUNTS = ("postgres", "nobody")
SETTINGS = {
    "fsync": "off",
    "max_connections": "200",
    "listen_addresses": "127.0.0.1",
    "logging_collector": "off",
    "autovacuum": "off",
    # In the data directory: a server that ends at once leaves its other shared memory behind.
    "dynamic_shared_memory_type": "mmap",
}


@dataclass(frozen=True)
class PostgresServer:
    """A running server that accepts the user `postgres` without a password."""

    port: int

    def address(self, database: str = "postgres") -> str:
        """Return the connection string of a database for psycopg."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"

    def url(self, driver: str, *, port: int | None = None, database: str = "postgres", options: str = "") -> str:
        """Return the SQLAlchemy URL of a database for a driver, through the proxy at `port` if one is given."""
        plain = "" if driver == "pg8000" else "sslmode=disable&gssencmode=disable"
        query = "&".join(part for part in (plain, options) if part)
        return f"postgresql+{driver}://postgres@127.0.0.1:{port or self.port}/{database}?{query}"


def tool(name: str) -> str:
    """Return the path of a PostgreSQL program. Skip the test if the program is not installed."""
    packaged = [str(path) for path in sorted(Path("/").glob(PACKAGED.lstrip("/")), reverse=True)]
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *packaged]))
    if found is None:
        pytest.skip(f"{name} is not installed: make system-programs, or apt-get install postgresql")
    return found


def account() -> str | None:
    """Return the account that runs the server, None for the current one. PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ACCOUNTS if name in names)


@contextlib.contextmanager
def postgres_server():
    """Run a server until the block ends."""
    initdb, postgres, user = tool("initdb"), tool("postgres"), account()
    # The server runs as another account, which may not enter pytest's directories.
    with tempfile.TemporaryDirectory(prefix="icefloe-postgres-") as name:
        directory, data = Path(name), Path(name) / "data"
        if user is not None:
            shutil.chown(directory, user)
        setup = [initdb, "--pgdata", str(data), "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]
        subprocess.run([*setup, "--no-sync"], check=True, user=user, cwd=directory, stdout=subprocess.DEVNULL)
        settings = [part for key, value in SETTINGS.items() for part in ("-c", f"{key}={value}")]

        def command(port: int) -> list[str]:
            return [postgres, "-D", str(data), "-p", str(port), "-k", str(directory), *settings]

        # SIGQUIT ends the server at once; SIGINT writes the databases of all tests to the disk first, for minutes on a busy one.
        with running(command, directory / "log", user=user, cwd=directory, stop=signal.SIGQUIT) as port:
            server = PostgresServer(port)
            wait_until_ready(server)
            yield server


def wait_until_ready(server: PostgresServer) -> None:
    """Wait until the server accepts clients: the port is open before the server is ready."""
    deadline = time.monotonic() + PATIENCE
    while (refusal := refusal_of(server)) is not None:
        assert time.monotonic() < deadline, refusal
        time.sleep(0.02)


def refusal_of(server: PostgresServer) -> str | None:
    try:
        psycopg.connect(server.address()).close()
    except psycopg.OperationalError as error:
        return str(error)
    return None
