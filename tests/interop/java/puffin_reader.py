"""Prints what the Java reference reads of a Puffin file of theta sketches, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaGateway


def main(jar: str, path: str) -> None:
    jars = Path(pyspark.__file__).parent / "jars"
    gateway = JavaGateway.launch_gateway(
        classpath=f"{jar}:{jars}/*",
        die_on_exit=True,
        javaopts=["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"],
    )
    iceberg: Any = gateway.jvm.org.apache.iceberg
    reader = iceberg.puffin.Puffin.read(iceberg.Files.localInput(path)).build()
    blobs = list(reader.fileMetadata().blobs())
    found = []
    pairs = reader.readAll(reader.fileMetadata().blobs()).iterator()
    while pairs.hasNext():
        pair = pairs.next()
        blob, content = pair.first(), pair.second()
        raw = bytes(iceberg.util.ByteBuffers.toByteArray(content))
        shaded: Any = iceberg.shaded.org.apache.datasketches
        sketch = shaded.theta.CompactSketch.wrap(shaded.memory.Memory.wrap(raw))
        found.append(
            {
                "fields": list(blob.inputFields()),
                "properties": dict(blob.properties()),
                "content": raw.hex(),
                "estimate": sketch.getEstimate(),
            }
        )
    assert len(found) == len(blobs)
    print(json.dumps(found))
    gateway.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
