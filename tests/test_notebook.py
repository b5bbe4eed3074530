"""The example notebook runs from its first cell to its last and prints its stored outputs.

`REFRESH=1` stores the outputs of the run instead of comparing them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

PATH = Path(__file__).parent.parent / "examples" / "tour.ipynb"
SNAPSHOT_ID = re.compile(r"\b\d{15,19}\b")


def outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the texts and pictures that the code cells print; snapshot ids differ between runs."""
    printed = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [output.get("text") or output.data.get("image/svg+xml") or output.data["text/plain"] for output in printed]
    return [SNAPSHOT_ID.sub("<id>", text) for text in texts]


@pytest.fixture(scope="module")
def executed() -> nbformat.NotebookNode:
    notebook = nbformat.read(PATH, as_version=4)
    NotebookClient(notebook, timeout=600, startup_timeout=300, kernel_name="python3", record_timing=False).execute()
    if os.environ.get("REFRESH") == "1":
        notebook.metadata.pop("language_info")  # the version of Python that ran it
        nbformat.write(notebook, PATH)
    return notebook


def test_notebook_prints_its_stored_outputs(executed: nbformat.NotebookNode) -> None:
    expected = nbformat.read(PATH, as_version=4)
    assert outputs(executed) == outputs(expected), "if the change is meant: REFRESH=1 pytest tests/test_notebook.py"


def test_notebook_stores_tables_and_pictures() -> None:
    stored = nbformat.read(PATH, as_version=4)
    kinds = {kind for cell in stored.cells for output in cell.get("outputs", []) for kind in output.get("data", {})}
    assert {"text/plain", "text/html", "image/svg+xml"} <= kinds
