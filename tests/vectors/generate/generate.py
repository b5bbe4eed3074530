"""Write `../reference` and the golden manifests `../../golden/reference` with the Java reference: `generate.py <class path>`, of its Spark runtime, slf4j, Jackson and Hadoop's client."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from candidates import candidates
from metadata_documents import V1, V2, V3
from row_filter_meaning import state_row_filter_meaning

HERE = Path(__file__).parent
REFERENCE = HERE.parent / "reference"
GOLDEN = HERE.parents[1] / "golden" / "reference"
BASES = {"v1": V1, "v2": V2, "v3": V3}


def run(class_path: str) -> None:
    """Compile and run the generator."""
    with tempfile.TemporaryDirectory() as classes:
        source = Path(classes) / "candidates.json"
        source.write_text(json.dumps(candidates()), encoding="utf-8")
        sources = sorted(str(path) for path in HERE.glob("*.java"))
        subprocess.run(["javac", "-nowarn", "-cp", class_path, "-d", classes, *sources], check=True)
        command = [
            "java",
            "-cp",
            f"{classes}:{class_path}",
            "org.apache.iceberg.Generate",
            str(REFERENCE),
            str(source),
            str(GOLDEN),
        ]
        subprocess.run(command, check=True)


def difference(base: dict[str, Any], document: Any) -> dict[str, Any]:
    """Return what makes a document of another: the keys to set and those to remove."""
    if not isinstance(document, dict):
        return {"whole": document}
    changed = {
        key: value for key, value in document.items() if key not in base or json.dumps(base[key]) != json.dumps(value)
    }
    return {"set": changed, "remove": [key for key in base if key not in document]}


def shorten_metadata() -> None:
    """Write table metadata as its difference from one of three documents, which are written whole."""
    path = REFERENCE / "metadata_json.json"
    cases = json.loads(path.read_text(encoding="utf-8"))
    written = {case["note"]: case["written"] for case in cases if case["note"] in BASES}
    short: list[Any] = [case for case in cases if case["note"] in BASES]
    for case in cases:
        if case["note"] in BASES:
            continue
        base = case["note"][:2] if case["note"][:2] in BASES else "v2"
        answer = None if case["written"] is None else difference(written[base], case["written"])
        short.append({**case, "base": base, "json": difference(BASES[base], case["json"]), "written": answer})
    lines = ",\n  ".join(json.dumps(case) for case in short)
    path.write_text(f"[\n  {lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1])
    shorten_metadata()
    state_row_filter_meaning(REFERENCE)
