"""Statistics vectors with the meaning of row filters, where the reference's expressions mean something else.

To the reference's evaluators of statistics `!=`, `not in` and `not starts with` are true of null, in files as in partitions; its
readers, and row filters here, take them for unknown. A case whose answer differs has the answer of row filters, the
reference's under `reference`, and a note.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from icefloe.conversions import from_bytes, from_json_value
from icefloe.types import type_from_text

NEGATIONS = {"not-eq", "not-in", "not-starts-with"}
NOTE = "row filters: unknown for null; the reference takes it for true of null"


def state_row_filter_meaning(reference: Path) -> None:
    """Rewrite the answers of both files of statistics vectors."""
    for name, known in (("file_metrics", _of_file), ("manifest_summary", _of_manifest)):
        path = reference / f"{name}.json"
        entries = json.loads(path.read_text(encoding="utf-8"))
        for each in entries:
            each["cases"] = [_restated(case, each["type"], known(each)) for case in each["cases"]]
        path.write_text(_text(entries), encoding="utf-8")


def _of_file(file: dict[str, Any]) -> dict[str, Any]:
    stats = file["stats"]
    return {
        "null": stats["null_count"] != 0,
        "values": stats["null_count"] is None or stats["null_count"] < stats["record_count"],
        "nan": file["type"] == "double" and stats["nan_count"] != 0,
        "bounds": [stats["lower"], stats["upper"]],
    }


def _of_manifest(manifest: dict[str, Any]) -> dict[str, Any]:
    summary = manifest["summary"]
    return {
        "null": summary["contains_null"],
        "values": summary["lower"] is not None or summary["contains_nan"],
        "nan": summary["contains_nan"],
        "bounds": [summary["lower"], summary["upper"]],
    }


def _restated(case: dict[str, Any], kind: str, known: dict[str, Any]) -> dict[str, Any]:
    predicate = case["predicate"]
    if predicate["type"] not in NEGATIONS or not known["null"]:
        return case
    answers = {
        "might": case["might"] and known["values"] and (known["nan"] or not _refuted(predicate, kind, known["bounds"]))
    }
    if "must" in case:
        answers["must"] = None if case["must"] is None else False
    changed = {key: case[key] for key, answer in answers.items() if case[key] != answer}
    return {**case, **answers, "reference": changed, "note": NOTE} if changed else case


def _refuted(predicate: dict[str, Any], kind: str, bounds: list[str | None]) -> bool:
    """Return whether the predicate is false of all values between two bounds."""
    if None in bounds:
        return False
    source = type_from_text(kind)
    lower, upper = (from_bytes(source, bytes.fromhex(str(bound))) for bound in bounds)
    literals = [from_json_value(source, value) for value in predicate.get("values", [predicate.get("value")])]
    if predicate["type"] == "not-starts-with":
        return bool(lower.startswith(literals[0]) and upper.startswith(literals[0]))
    return bool(lower == upper and lower in literals)


def _text(entries: list[dict[str, Any]]) -> str:
    lines = []
    for each in entries:
        cases = ",\n    ".join(json.dumps(case, ensure_ascii=False) for case in each["cases"])
        head = json.dumps({key: value for key, value in each.items() if key != "cases"}, ensure_ascii=False)
        lines.append(f'{head[:-1]}, "cases": [\n    {cases}]}}')
    return "[\n  " + ",\n  ".join(lines) + "\n]\n"
