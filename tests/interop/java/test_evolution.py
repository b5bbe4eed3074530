"""Random schema, spec and sort order changes give the same metadata in icefloe and in the Java reference."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import IcebergError
from icefloe.schema import Schema

from tests.interop.java.evolution_histories import apply, history, spec_history

ROOT = Path(__file__).parents[3]
JARS = Path(sys.prefix) / "jars"
HISTORIES = {f"mixed-{seed}": history(seed) for seed in range(60)} | {
    f"spec-{seed}": spec_history(seed) for seed in range(60)
}
MAPPING = "schema.name-mapping.default"
KEYS = (
    "last-column-id",
    "current-schema-id",
    "schemas",
    "default-spec-id",
    "partition-specs",
    "last-partition-id",
    "default-sort-order-id",
    "sort-orders",
    "properties",
)

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The outcome of every commit of every history in the reference."""
    jars = sorted(JARS.glob("iceberg-spark-runtime-*.jar"))
    if not jars:
        pytest.skip(f"the Java reference is not in {JARS}: make java-reference")
    folder = tmp_path_factory.mktemp("evolution")
    (folder / "histories.json").write_text(json.dumps(list(HISTORIES.values())))
    command = [sys.executable, "-m", "tests.interop.java.evolution_runner", str(jars[-1])]
    files = [str(folder / name) for name in ("histories.json", "outcomes.json")]
    run = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr[-6000:]
    return dict(zip(HISTORIES, json.loads((folder / "outcomes.json").read_text()), strict=True))


def comparable(metadata):
    """Return the keys that evolution changes. The reference keeps the names of a mapped field in a set."""
    found = {key: metadata[key] for key in KEYS}
    properties = dict(found["properties"])
    if MAPPING in properties:
        properties[MAPPING] = sorted_names(json.loads(properties[MAPPING]))
    return {**found, "properties": properties}


def sorted_names(fields):
    return [
        {**field, "names": sorted(field["names"]), "fields": sorted_names(field.get("fields", []))} for field in fields
    ]


def outcome(table, kind, steps):
    """Return the metadata after a commit, None if it is refused."""
    try:
        apply(table, kind, steps)
    except IcebergError:
        return None
    return comparable(json.loads(table.metadata.model_dump_json()))


@pytest.mark.parametrize("name", HISTORIES)
def test_history_gives_the_ids_and_refusals_of_the_reference(reference, tmp_path, name):
    made = HISTORIES[name]
    catalog = load_catalog("ours", type="hadoop", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    properties = {**made["properties"], "format-version": str(made["version"])}
    table = catalog.create_table("db.t", Schema.model_validate(made["schema"]), properties=properties)
    for (kind, steps), theirs in zip(made["commits"], reference[name], strict=True):
        refusal = theirs.get("refused")
        expected = None if refusal is not None else comparable(theirs)
        assert outcome(table, kind, steps) == expected, (kind, steps, refusal)
