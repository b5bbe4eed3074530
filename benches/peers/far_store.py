"""An S3 server over a directory, with a configured latency: each request waits, and all answers share one line.

`python -m peers.far_store ROOT LATENCY_MS BYTES_PER_SECOND` says its address on standard output and serves until standard
input ends. It knows what scans and the making of a table need: objects whole and in ranges, sizes, and storing one.
`GET /-/requests` tells, at once, how many requests there have been.
"""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from urllib.parse import unquote

CHUNK_BYTES = 64 << 10


@dataclass
class FarStore:
    """The directory of all buckets, and the way to it.

    Attributes:
        root: Directories in it are buckets.
        latency: Seconds before a request is looked at.
        bandwidth: Bytes in a second, of all answers together.
    """

    root: Path
    latency: float
    bandwidth: float
    requests: int = 0
    _line_is_free_at: float = field(default=0.0)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, one after the other."""
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if headers.get("expect") == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if target == "/-/requests":
            await self._send(writer, 200, {}, str(self.requests).encode())
            return True
        self.requests += 1
        await asyncio.sleep(self.latency)
        path = self.root / unquote(target.partition("?")[0]).lstrip("/")
        if method == "PUT":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            await self._send(writer, 200, {"ETag": '"1"'}, b"")
        elif not path.is_file():
            await self._send(writer, 404, {}, b"")
        else:
            await self._object(writer, method, path, headers.get("range"))
        return True

    async def _object(self, writer: asyncio.StreamWriter, method: str, path: Path, wanted: str | None) -> None:
        status = path.stat()
        described = {
            "ETag": f'"{status.st_mtime_ns:x}"',
            "Last-Modified": formatdate(status.st_mtime, usegmt=True),
            "Accept-Ranges": "bytes",
        }
        if method == "HEAD":
            await self._send(writer, 200, described, b"", status.st_size)
            return
        start, stop = 0, status.st_size
        if wanted is not None:
            first, last = wanted.removeprefix("bytes=").split("-")
            start = int(first) if first else max(0, stop - int(last))
            stop = min(stop, int(last) + 1) if first and last else stop
            described["Content-Range"] = f"bytes {start}-{stop - 1}/{status.st_size}"
        part = await asyncio.to_thread(part_of, path, start, stop)
        await self._send(writer, 200 if wanted is None else 206, described, part)

    async def _send(
        self, writer: asyncio.StreamWriter, status: int, headers: dict[str, str], body: bytes, length: int | None = None
    ) -> None:
        known = {**headers, "Content-Length": str(len(body) if length is None else length)}
        lines = "".join(f"{name}: {value}\r\n" for name, value in known.items())
        writer.write(f"HTTP/1.1 {status} So\r\n{lines}\r\n".encode("latin-1"))
        for at in range(0, len(body), CHUNK_BYTES):
            chunk = body[at : at + CHUNK_BYTES]
            now = asyncio.get_running_loop().time()
            self._line_is_free_at = max(now, self._line_is_free_at) + len(chunk) / self.bandwidth
            await asyncio.sleep(self._line_is_free_at - now)
            writer.write(chunk)
            await writer.drain()


def part_of(path: Path, start: int, stop: int) -> bytes:
    """Read a part of a file."""
    with path.open("rb") as file:
        return os.pread(file.fileno(), stop - start, start)


async def main() -> None:
    root, latency_ms, bandwidth = sys.argv[1:]
    store = FarStore(Path(root), float(latency_ms) / 1e3, float(bandwidth))
    server = await asyncio.start_server(store.serve, "127.0.0.1", 0, limit=1 << 20)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    # The process that started the store holds the other end.
    await asyncio.to_thread(sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    # The store is no child of the measuring process, which counts the CPU time of its children.
    if os.fork():
        os._exit(0)
    asyncio.run(main())
