"""The command in this process and in processes of its own, on real tables of a SQL catalog."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.resources import files

import jsonschema
import pyarrow as pa
import pytest
from icefloe.catalog import load_catalog
from icefloe.cli.command import run

SCHEMAS = json.loads(files("icefloe.cli").joinpath("output.schema.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Done:
    """A finished run."""

    code: int
    out: bytes
    err: str

    @property
    def text(self):
        return self.out.decode()

    def json(self, schema="rows"):
        """Return the document of standard output, which must follow a part of the published schema."""
        document = json.loads(self.out)
        jsonschema.validate(document, {"$defs": SCHEMAS["$defs"], "$ref": f"#/$defs/{schema}"})
        return document

    def error(self):
        document = json.loads(self.err.splitlines()[-1])
        jsonschema.validate(document, {"$defs": SCHEMAS["$defs"], "$ref": "#/$defs/error"})
        return document["error"]


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """A catalog named `lake` with the namespace `db`, which the environment configures as the default."""
    settings = {"TYPE": "sql", "URI": f"sqlite:///{tmp_path}/catalog.db", "WAREHOUSE": str(tmp_path / "warehouse")}
    for key, value in settings.items():
        monkeypatch.setenv(f"ICEFLOE_CATALOG__LAKE__{key}", value)
    monkeypatch.setenv("ICEFLOE_DEFAULT_CATALOG", "lake")
    monkeypatch.setenv("HOME", str(tmp_path))
    with load_catalog("lake") as catalog:
        catalog.create_namespace("db")
        yield catalog


@pytest.fixture
def table(lake):
    """The table `db.t` with two snapshots of three rows each."""
    made = lake.create_table("db.t", pa.schema([("id", pa.int64()), ("kind", pa.string())]))
    made.append(pa.table({"id": [1, 2, 3], "kind": ["a", "b", "a"]}))
    made.append(pa.table({"id": [4, 5, 6], "kind": ["b", "c", None]}))
    return made


@pytest.fixture
def icefloe(lake, capfdbinary):
    """Run the command in this process, with pipes for its outputs."""

    def call(*arguments):
        capfdbinary.readouterr()
        code = run([str(one) for one in arguments])
        found = capfdbinary.readouterr()
        return Done(code, found.out, found.err.decode())

    return call


@pytest.fixture
def process(lake, tmp_path):
    """Run the command in a process of its own."""

    def call(*arguments, stdin=b"", **environment):
        done = subprocess.run(
            [sys.executable, "-m", "icefloe.cli", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=300,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    return call
