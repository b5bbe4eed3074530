"""A MariaDB server on this machine, with its data in a temporary directory."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pymysql
import pytest

from tests.storage.servers import PATIENCE, running

ACCOUNTS = ("mysql", "nobody")
# Debian keeps the server off the path of most accounts.
DIRECTORIES = ("/usr/sbin", "/usr/libexec", "/usr/local/sbin")
SETTINGS = (
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--performance-schema=OFF",
    "--innodb-log-file-size=8M",
    "--innodb-buffer-pool-size=32M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-flush-method=nosync",
    "--innodb-doublewrite=OFF",
    "--innodb-fast-shutdown=3",
    "--max-connections=200",
)


@dataclass(frozen=True)
class MariaDbServer:
    """A running server that accepts the user `root` without a password."""

    port: int

    def connect(self, database: str | None = None) -> pymysql.Connection:
        """Return a connection that commits each statement."""
        return pymysql.connect(host="127.0.0.1", port=self.port, user="root", database=database, autocommit=True)

    def url(self, database: str, *, port: int | None = None, user: str = "root") -> str:
        """Return the SQLAlchemy URL of a database, through the proxy at `port` if one is given."""
        return f"mysql+pymysql://{user}@127.0.0.1:{port or self.port}/{database}"


def tool(*names: str) -> str:
    """Return the path of the first program that is installed. Skip the test if none is."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *DIRECTORIES])
    found = next((place for name in names if (place := shutil.which(name, path=path)) is not None), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed: make system-programs, or apt-get install mariadb-server")
    return found


@contextlib.contextmanager
def mariadb_server():
    """Run a server until the block ends."""
    server, install = tool("mariadbd"), tool("mariadb-install-db")
    with tempfile.TemporaryDirectory(prefix="icefloe-mariadb-") as name:
        directory, data = Path(name), Path(name) / "data"
        options = [f"--datadir={data}"]
        if os.geteuid() == 0:
            user = account()
            shutil.chown(directory, user)
            options.append(f"--user={user}")
        setup = [install, "--no-defaults", *options, "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([*setup, *SETTINGS], check=True, cwd=directory, stdout=subprocess.DEVNULL)

        def command(port: int) -> list[str]:
            places = [f"--socket={directory}/socket", f"--pid-file={directory}/pid"]
            return [server, "--no-defaults", *options, *SETTINGS, *places, f"--port={port}"]

        with running(command, directory / "log", cwd=directory) as port:
            running_server = MariaDbServer(port)
            wait_until_ready(running_server)
            yield running_server


def account() -> str:
    """Return the account that runs the server, which refuses to run as root."""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ACCOUNTS if name in names)


def wait_until_ready(server: MariaDbServer) -> None:
    """Wait until the server accepts clients: the port is open before the server is ready."""
    deadline = time.monotonic() + PATIENCE
    while (refusal := refusal_of(server)) is not None:
        assert time.monotonic() < deadline, refusal
        time.sleep(0.02)


def refusal_of(server: MariaDbServer) -> str | None:
    try:
        server.connect().close()
    except pymysql.OperationalError as error:
        return str(error)
    return None
