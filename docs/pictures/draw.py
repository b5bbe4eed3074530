# ruff: noqa: INP001, S603 - a script, which runs the browser
"""Draw the pictures of the documentation: the report of an example table in headless Chromium, light and dark."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.report import report_page

if TYPE_CHECKING:
    from icefloe.table import Table

SIZE = "1280,1400"
"""Width and height of a picture in pixels."""
LARGEST = 150_000
"""The bytes that a picture may have at most."""


def example(directory: str) -> Table:
    """Return a table with small files of three partitions, position deletes, a branch and a tag."""
    catalog = load_catalog("lake", type="hadoop", warehouse=directory)
    catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("country", pa.string())])
    properties = {"write.delete.mode": "merge-on-read", "commit.manifest-merge.enabled": "false"}
    table = catalog.create_table("db.events", schema, properties=properties)
    with table.update_spec() as update:
        update.add_identity("country")
    for start in range(0, 12_000, 1000):
        countries = ["de", "fr", "it", "de"] if start % 2000 == 0 else ["de", "de", "fr", "de"]
        table.append(pa.table({"id": range(start, start + 1000), "country": countries * 250}))
    first = table.snapshots()[2].snapshot_id
    table.manage_snapshots().create_tag(first, "v1").create_branch(first, "audit").commit()
    for start in range(0, 600, 200):
        table.delete(f"id >= {start} and id < {start + 20}")
    return table


def draw(page: Path, picture: Path, profile: Path, *options: str) -> None:
    """Draw a page in headless Chromium."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("Chromium is not installed: make system-programs installs it on Debian and Ubuntu as root")
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}")
    command = [program, *fixed, *options, f"--window-size={SIZE}", f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    if picture.stat().st_size > LARGEST:
        sys.exit(f"{picture}: expected at most {LARGEST} bytes, got {picture.stat().st_size}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        page = Path(directory, "page.html")
        text = report_page(example(f"{directory}/warehouse"))
        page.write_text(text.replace(f"{directory}/warehouse", "s3://lake"), encoding="utf-8")
        for theme, options in {"light": (), "dark": ("--blink-settings=preferredColorScheme=0",)}.items():
            draw(page, Path(__file__).with_name(f"report-{theme}.png"), Path(directory, "profile"), *options)
