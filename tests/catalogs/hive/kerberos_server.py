"""A Kerberos key distribution centre on this machine, with a user and the service of a metastore."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.storage.servers import running

REALM = "ICEFLOE.TEST"
SERVICE, USER = f"hive/localhost@{REALM}", f"writer@{REALM}"
CLIENT = """
[libdefaults]
    default_realm = {realm}
    dns_lookup_kdc = false
    dns_lookup_realm = false
    dns_canonicalize_hostname = false
    rdns = false
    udp_preference_limit = 1
[realms]
    {realm} = {{
        kdc = 127.0.0.1:{port}
    }}
"""
CENTRE = """
[kdcdefaults]
    kdc_listen = ""
    kdc_tcp_listen = 127.0.0.1:{port}
[realms]
    {realm} = {{
        database_name = {directory}/principals
        key_stash_file = {directory}/stash
        acl_file = {directory}/acl
    }}
"""


@dataclass(frozen=True)
class KeyCentre:
    """A running centre. `environment` has the variables that make clients use it, with the ticket of the user."""

    directory: Path
    environment: dict[str, str]

    @property
    def configuration(self) -> Path:
        return self.directory / "krb5.conf"

    @property
    def service_keys(self) -> Path:
        return self.directory / "service.keytab"


def tool(name: str) -> str:
    """Return the path of a program of MIT Kerberos. Skip the test if the program is not installed."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed: make kerberos, or apt-get install krb5-kdc krb5-admin-server krb5-user")
    return found


@contextlib.contextmanager
def key_centre(directory: Path):
    """Run a centre until the block ends."""
    centre, database, administration = tool("krb5kdc"), tool("kdb5_util"), tool("kadmin.local")
    settings = {
        "KRB5_CONFIG": str(directory / "krb5.conf"),
        "KRB5_KDC_PROFILE": str(directory / "kdc.conf"),
        "KRB5CCNAME": f"FILE:{directory}/ticket",
    }
    environment = {**os.environ, **settings}

    def run(*command: str) -> None:
        subprocess.run(command, env=environment, check=True, capture_output=True)

    def configure(port: int) -> list[str]:
        for name, text in (("krb5.conf", CLIENT), ("kdc.conf", CENTRE)):
            (directory / name).write_text(text.format(realm=REALM, port=port, directory=directory))
        return [centre, "-n"]

    configure(0)
    run(database, "create", "-s", "-r", REALM, "-P", "master")
    for principal, keys in ((SERVICE, "service"), (USER, "user")):
        run(administration, "-q", f"addprinc -randkey {principal}")
        run(administration, "-q", f"ktadd -k {directory}/{keys}.keytab {principal}")
    with running(configure, directory / "log", env=environment):
        run(tool("kinit"), "-k", "-t", str(directory / "user.keytab"), USER)
        yield KeyCentre(directory, settings)
