"""Runs the Java reference's parser of table metadata over JSON texts: a file of texts in, a file of refusals out."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JJavaError


def refusal(parser: Any, value: dict[str, Any]) -> str | None:
    """Return the parser's error for a metadata file, None if it reads the file."""
    try:
        parser.fromJson("file:/t/metadata/v2.metadata.json", json.dumps(value)).snapshots()
    except Py4JJavaError as error:
        return str(error.java_exception.toString())
    return None


def main(jar: str, source: Path, target: Path) -> None:
    jars = Path(pyspark.__file__).parent / "jars"
    gateway = JavaGateway.launch_gateway(
        classpath=f"{jar}:{jars}/*",
        die_on_exit=True,
        javaopts=["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"],
    )
    parser = gateway.jvm.org.apache.iceberg.TableMetadataParser
    refusals = {name: refusal(parser, value) for name, value in json.loads(source.read_text()).items()}
    target.write_text(json.dumps(refusals))
    gateway.shutdown()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
