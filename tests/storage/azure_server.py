"""The emulator of Azure's blobs."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import signal
from datetime import datetime, timezone
from pathlib import Path

from tests.storage.servers import running, tool

ACCOUNT = "devstoreaccount1"
# The key that the emulator documents for everyone.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextlib.contextmanager
def azure_server(directory: Path):
    """The endpoint of an account that has one container, ``box``."""
    command = tool("azurite-blob", "npm install azurite")
    arguments = ["--silent", "--skipApiVersionCheck", "--inMemoryPersistence", "--disableTelemetry"]
    # Asked to end, the emulator waits for idle connections, which clients keep for a minute or more.
    kill = {"stop": signal.SIGKILL}
    with running(lambda port: [command, *arguments, "--blobPort", str(port)], directory / "log", **kill) as port:
        make_container(port, "box")
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"


def connection(endpoint: str) -> dict[str, str]:
    """The properties to get at an account."""
    text = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={endpoint};"
    return {"adls.connection-string": text}


def make_container(port: int, name: str) -> None:
    date = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    headers = f"x-ms-date:{date}\nx-ms-version:2021-08-06"
    resource = f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    text = "PUT" + "\n" * 12 + f"{headers}\n{resource}"
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(
        "PUT",
        f"/{ACCOUNT}/{name}?restype=container",
        headers={
            "x-ms-date": date,
            "x-ms-version": "2021-08-06",
            "Authorization": f"SharedKey {ACCOUNT}:{signature}",
            "Content-Length": "0",
        },
    )
    answer = connection.getresponse()
    assert answer.status == 201, answer.read()
