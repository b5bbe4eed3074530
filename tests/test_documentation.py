"""Every Python block of the documents runs, in order, as a reader would type it."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.clientserver import ClientServer
from pyspark.java_gateway import launch_gateway

from tests.catalogs.rest.server import rest_server
from tests.storage.servers import s3_server

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPARK_DEFAULTS = ROOT / "tests" / "spark" / "defaults"
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
# Pages without code, and one whose code needs a metastore; the tests of the catalogs start one.
WITHOUT_CODE = {"decisions.md", "figures.md", "metastores.md", "spark-versions.md", "test-runs.md"}


def sections(document: Path) -> list[tuple[str, str]]:
    """The code of each second-level section, its blocks joined."""
    parts = re.split(r"^## (.*)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    titled = [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]
    return [(title, "\n".join(BLOCK.findall(text))) for title, text in titled if BLOCK.search(text)]


CASES = [
    pytest.param(code, id=f"{document.relative_to(ROOT)}-{title}")
    for document in DOCUMENTS
    for title, code in sections(document)
]


def test_every_document_has_code_or_is_listed() -> None:
    assert {document.name for document in DOCUMENTS} - WITHOUT_CODE == {
        f"{str(case.id).partition('.md-')[0].rpartition('/')[2]}.md" for case in CASES
    }


def test_picture_of_the_figures_has_the_times_of_the_readme() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "pictures" / "bars.py"))
    works = drawn["works_of"]((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(works) == 14
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["drawing"](works)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment variables of a user with a bucket named `lake`."""
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        (server.root / "lake").mkdir()
        yield {
            "AWS_ENDPOINT_URL": server.endpoint,
            "AWS_ACCESS_KEY_ID": server.access_key,
            "AWS_SECRET_ACCESS_KEY": server.secret_key,
        }


@pytest.fixture(scope="module")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a user whose catalog `prod` is a REST server."""
    with rest_server(tmp_path_factory.mktemp("rest")) as server:
        yield {"ICEFLOE_CATALOG__PROD__URI": server.uri}


@pytest.fixture(scope="module")
def reader() -> dict[str, str]:
    """The environment variables of a user in an activated environment: Spark starts its workers with the `python3` of the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": path, "SPARK_CONF_DIR": str(SPARK_DEFAULTS)}


@pytest.fixture(scope="module")
def gateway(reader: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ClientServer, Path]]:
    """A JVM and its directory, for the scripts that start Spark one after the other: its classes are loaded and compiled once."""
    directory = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in reader.items():
            patch.setenv(name, value)
        started = launch_gateway(popen_kwargs={"cwd": directory})
    yield started, directory
    started.shutdown()
    started.proc.stdin.close()
    started.proc.wait()


@pytest.fixture
def jvm(gateway: tuple[ClientServer, Path]) -> Iterator[tuple[dict[str, str], Path]]:
    """The environment variables and the empty directory of a script that starts Spark in the JVM, whose context stops after it."""
    started, directory = gateway
    java = started.java_parameters
    yield {"PYSPARK_GATEWAY_PORT": str(java.port), "PYSPARK_GATEWAY_SECRET": java.auth_token}, directory
    session = started.jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession()
    if session.isDefined():
        session.get().stop()
    for path in directory.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize("code", CASES)
def test_code_blocks_run(code: str, tmp_path: Path, reader: dict[str, str], request: pytest.FixtureRequest) -> None:
    storage = request.getfixturevalue("lake") if "s3://" in code else {}
    catalog = request.getfixturevalue("prod") if 'load_catalog("prod")' in code else {}
    spark, directory = request.getfixturevalue("jvm") if "SparkSession" in code else ({}, tmp_path)
    script = tmp_path / "blocks.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **reader, **storage, **catalog, **spark},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
