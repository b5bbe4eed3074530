"""The page of `icefloe report`: its content, its safety, and what a browser makes of it."""

import base64
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import zlib
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.report import figures_of, report_page
from icefloe.report import markup as pieces
from icefloe.table import StaticTable

EVIL = "</script><img src=x onerror=alert(1)>"
WIDTHS = (1280, 420)


class Elements(HTMLParser):
    """The names of elements, and the text of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.names, self.texts, self.policy, self.is_text = [], [], None, False

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attrs)["content"]
        self.is_text = tag in ("script", "style")
        if self.is_text:
            self.texts.append("")

    def handle_data(self, data):
        if self.is_text:
            self.texts[-1] += data

    def handle_endtag(self, tag):
        self.is_text = False


def parsed(page):
    elements = Elements()
    elements.feed(page)
    return elements


@pytest.fixture
def events(lake):
    """A table with many small files in partitions, deletes, tags, and names that try to become markup."""
    schema = pa.schema([("id", pa.int64()), ("country", pa.string()), (EVIL, pa.string())])
    properties = {"write.delete.mode": "merge-on-read", "owner": EVIL, "commit.manifest-merge.enabled": "false"}
    made = lake.create_table("db.events", schema, properties=properties)
    with made.update_spec() as update:
        update.add_identity("country")
    for start in range(0, 60, 6):
        countries = ["de", "fr", EVIL, "de", "fr", EVIL]
        made.append(pa.table({"id": range(start, start + 6), "country": countries, EVIL: countries}))
    made.manage_snapshots().create_tag(made.snapshots()[2].snapshot_id, "v1<b>").commit()
    made.delete("id < 2")
    return made


def test_partitions_of_times_are_shown_as_times(lake):
    table = lake.create_table("db.times", pa.schema([("a", pa.timestamp("us")), ("b", pa.timestamp("us"))]))
    with table.update_spec() as update:
        update.add_field("a", "month", "month")
        update.add_field("b", "hour", "hour")
    times = pa.array([datetime(2026, 3, 1, 5), None], pa.timestamp("us"))
    table.append(pa.table({"a": times, "b": times}))
    texts = {one["partition"] for one in figures_of(table)["partitions"]["worst"]}
    assert texts == {"month=2026-03, hour=2026-03-01-05", "month=null, hour=null"}


def test_report_states_verdict_sentences_and_commands(icefloe, events, tmp_path):
    done = icefloe("report", "db.events", "-o", tmp_path / "page.html")
    assert (done.code, done.out) == (0, b"")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Needs attention" in page
    assert "The table has 60 rows in 30 data files, " in page
    assert "<code>icefloe --catalog lake compact db.events</code>" in page
    assert icefloe("report", "db.events").text.startswith("<!doctype html>")


def test_names_and_values_of_a_table_never_become_markup(events):
    elements = parsed(report_page(events))
    assert elements.names.count("script") == 2
    assert "img" not in elements.names
    assert json.loads(elements.texts[1])["properties"]["owner"] == EVIL


def test_embedded_figures_are_those_of_the_table(events):
    figures = json.loads(parsed(report_page(events)).texts[1])
    expected = json.loads(json.dumps(figures_of(events)))
    changing = ("created_at", "days_since_update")
    assert {**figures, **dict.fromkeys(changing)} == {**expected, **dict.fromkeys(changing)}
    assert figures["size"] == {
        "rows_in_data_files": 60,
        "data_files": 30,
        "data_bytes": sum(task.file.file_size_in_bytes for task in events.scan().plan_files()),
        "delete_files": 2,
        "delete_bytes": figures["size"]["delete_bytes"],
    }
    assert figures["deletes"]["fan_in"] == [{"delete_files": 0, "data_files": 28}, {"delete_files": 1, "data_files": 2}]
    assert sum(one["files"] for one in figures["file_sizes"]["bins"]) == 30
    assert figures["partitions"]["count"] == 3
    assert [one["name"] for one in figures["refs"]] == ["main", "v1<b>"]
    assert figures["growth"][-1]["rows"] == 60


def test_orphan_files_are_drawn_on_request(icefloe, events, tmp_path):
    assert "Orphan files" not in report_page(events)
    assert "none from before" in report_page(events, orphans=True)
    stray = Path(events.location().removeprefix("file://")) / "data" / "<b>stray.parquet"
    stray.write_bytes(b"x" * 5_000)
    os.utime(stray, (1_000_000_000, 1_000_000_000))
    page = icefloe("report", "db.events", "--orphans").text
    own = json.loads(parsed(page).texts[1])["orphans"]
    assert (own["files"], own["bytes"]) == (1, 5_000)
    assert own["largest"][0]["location"].endswith("<b>stray.parquet")
    assert "<code>icefloe --catalog lake orphans db.events</code>" in page
    assert parsed(page).names.count("b") == parsed(report_page(events)).names.count("b")
    with events.update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    assert icefloe("report", "db.events", "--orphans").code != 0


def test_policy_allows_the_own_script_and_style_alone(events):
    elements = parsed(report_page(events))
    style, _, script = elements.texts
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    assert elements.policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'"
    )


def test_report_of_a_table_without_snapshots_and_of_a_static_table(lake, table):
    empty = lake.create_table("db.empty", pa.schema([("id", pa.int64())]))
    assert "The table has no data files." in report_page(empty)
    assert table.metadata_location in report_page(StaticTable.from_metadata(table.metadata_location))


@pytest.fixture
def browser(tmp_path):
    """Run headless Chromium on a page."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("Chromium is not installed: make system-programs installs it on Debian and Ubuntu as root")

    def call(page, *options):
        command = [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--enable-logging=stderr",
        ]
        home = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
        done = subprocess.run(
            [*command, f"--user-data-dir={tmp_path}/profile", *options, page.as_uri()],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=home,
        )
        assert done.returncode == 0, done.stderr
        return done

    return call


def pixels(png):
    """Return width, height and the number of different lines of a PNG image."""
    width, height = struct.unpack(">II", png[16:24])
    data, position = b"", 8
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        if png[position + 4 : position + 8] == b"IDAT":
            data += png[position + 8 : position + 8 + length]
        position += 12 + length
    raw = zlib.decompress(data)
    stride = len(raw) // height
    return width, height, len({raw[start : start + stride] for start in range(0, len(raw), stride)})


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_browser_shows_the_page_without_console_messages(browser, events, tmp_path, width, theme):
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(report_page(events), encoding="utf-8")
    scheme = ["--blink-settings=preferredColorScheme=0"] if theme == "dark" else []
    done = browser(page, *scheme, f"--window-size={width},1600", f"--screenshot={picture}")
    assert "CONSOLE" not in done.stderr
    found_width, found_height, lines = pixels(picture.read_bytes())
    assert (found_width, found_height) == (width, 1600)
    assert lines > 200


def test_browser_runs_no_code_of_the_table(browser, events, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(report_page(events), encoding="utf-8")
    done = browser(page, "--dump-dom")
    assert "CONSOLE" not in done.stderr
    assert "<img" not in done.stdout
    assert (done.stdout.count('class="bars"'), done.stdout.count('class="picture"')) == (3, 2)


def test_print_is_unfolded_on_full_pages(browser, events, tmp_path):
    page, printed = tmp_path / "page.html", tmp_path / "page.pdf"
    page.write_text(report_page(events), encoding="utf-8")
    browser(page, "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    assert len(re.findall(rb"/Type /Page\b", printed.read_bytes())) <= 3


def test_short_texts_are_in_one_line_and_flags_are_not_numbers():
    markup = pieces.table("t", ["snapshot", "required", "rows", "path"], [["5385689611883865632", True, 7, "a/" * 40]])
    assert re.findall(r"<td([^>]*)>", markup) == [' class="short"', ' class="short"', ' class="number"', ""]


def test_report_states_what_expiry_removes(lake, table):
    with table.update_properties() as update:
        update.set_properties({"history.expire.max-snapshot-age-ms": "1"})
    figures = figures_of(table)
    assert figures["snapshots"]["expiry"] == {
        "snapshots": 1,
        "files": 1,
        "bytes": figures["snapshots"]["expiry"]["bytes"],
        "command": "icefloe --catalog lake expire db.t",
    }
    assert "Expiry would remove 1 snapshot that the retention does not keep, and delete 1 file of" in report_page(table)
    with table.update_properties() as update:
        update.set_properties({"gc.enabled": "false"})
    assert figures_of(table)["snapshots"]["expiry"] is None
