"""The page of a report: one HTML file without requests to anywhere, in light and dark and for print."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files as package_files
from typing import TYPE_CHECKING, Any

from icefloe.report import pictures, sentences
from icefloe.report.figures import figures_of
from icefloe.report.markup import as_table, folded, json_script, section, table
from icefloe.table.maintenance.display import bytes_text

if TYPE_CHECKING:
    from icefloe.table.doctor.storage_checks import FileCheck


def report_page(of: Any, files: FileCheck | None = None, statistics: bool = False, *, orphans: bool = False) -> str:
    """Return the page about a table. It reads metadata and manifests of the current snapshot.

    Args:
        of: The table's handle.
        files: Also look up files in storage: `list` lists their directories, `heads` looks up each.
        statistics: Also compare manifests with the footers of the data files.
        orphans: Also list the table's directories and look for files that nothing refers to; only for a table of a catalog.

    Raises:
        MissingFileError: A manifest of the current snapshot does not exist.
        ValidationError: With `orphans`, other tables share the directory, or `gc.enabled` is false.
    """
    return page_of(figures_of(of, files, statistics, orphans=orphans))


def page_of(figures: dict[str, Any]) -> str:
    """Return the page of figures. Every text of the table is escaped; the page's policy allows its own script and style alone."""
    style, script = _resource("page.css"), _resource("page.js")
    policy = f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    name = escape(figures["table"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="icefloe">'
        f'<link rel="icon" href="data:,"><title>{name}: table report</title><style>{style}</style></head>'
        f"<body><main>{_head(figures)}{_body(figures)}</main>{json_script(figures)}<script>{script}</script></body></html>\n"
    )


def _resource(name: str) -> str:
    return package_files("icefloe.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _head(figures: dict[str, Any]) -> str:
    severity, verdict = sentences.verdict(figures)
    lead = "".join(f"<p>{escape(one)}</p>" for one in sentences.lead(figures))
    size = figures["size"]
    tiles = (
        (f"{size['rows_in_data_files']:,}", "rows in data files"),
        (bytes_text(size["data_bytes"]), "of data files"),
        (f"{size['data_files']:,}", "data files"),
        (f"{size['delete_files']:,}", "delete files"),
        (f"{figures['snapshots']['count']:,}", "snapshots"),
        (f"{figures['partitions']['count']:,}", "partitions"),
    )
    shown = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    return (
        f'<header><span class="verdict {severity}">{escape(verdict)}</span><h1>{escape(figures["table"])}</h1>'
        f'<p class="place">{escape(figures["location"])}</p><div class="lead">{lead}</div></header><div class="tiles">{shown}</div>'
    )


def _body(figures: dict[str, Any]) -> str:
    parts = (_findings, _sizes, _growth, _partitions, _deletes, _orphans, _manifests, _versions, _definition)
    return "".join(part(figures) for part in parts) + _footer(figures)


def _findings(figures: dict[str, Any]) -> str:
    found = figures["diagnosis"]["findings"]
    if not found:
        return section("Findings", ["Nothing is wrong or slow."])
    items = "".join(
        f'<div class="finding {one["severity"]}"><h3><span>{one["severity"]}</span>{escape(one["code"])}</h3>'
        f"<p>{escape(one['sentence'])}</p>" + _command(one["command"]) + "</div>"
        for one in found
    )
    return section("Findings", [], items)


def _command(command: str | None) -> str:
    return "" if command is None else f"<p><code>{escape(command)}</code></p>"


def _sizes(figures: dict[str, Any]) -> str:
    sizes = figures["file_sizes"]
    if not sizes["bins"]:
        return section("File sizes", ["The table has no data files."])
    rows = [[bytes_text(one["from"]), bytes_text(one["to"]), one["files"], one["bytes"]] for one in sizes["bins"]]
    listing = table("file-sizes", ["from", "to", "files", "bytes"], rows)
    return section("File sizes", sentences.sizes(figures), pictures.file_sizes(sizes), as_table(listing))


def _growth(figures: dict[str, Any]) -> str:
    rows = [[one["at"], one["rows"], one["files"], one["bytes"]] for one in reversed(figures["growth"])]
    listing = table("growth", ["at", "rows", "files", "bytes"], rows)
    return section("Growth", sentences.growth(figures), pictures.growth(figures["growth"]), as_table(listing))


def _partitions(figures: dict[str, Any]) -> str:
    worst = figures["partitions"]["worst"]
    if figures["partitions"]["count"] < 2:
        return ""
    columns = ["partition", "files", "small files", "applied deletes", "rows", "bytes"]
    keys = ("partition", "files", "small_files", "applied_deletes", "rows", "bytes")
    listing = table("partitions", columns, [[one[key] for key in keys] for one in worst])
    return section(
        "Partitions, worst first",
        sentences.partitions(figures),
        pictures.partitions(worst),
        as_table(listing),
    )


def _deletes(figures: dict[str, Any]) -> str:
    deletes = figures["deletes"]
    if figures["size"]["delete_files"] == 0 and deletes["dangling_delete_files"] == 0:
        return ""
    rows = [[one["delete_files"], one["data_files"]] for one in deletes["fan_in"]]
    listing = table("fan-in", ["delete files", "data files"], rows)
    return section("Deletes", sentences.deletes(figures), pictures.fan_in(deletes["fan_in"]), as_table(listing))


def _orphans(figures: dict[str, Any]) -> str:
    own = figures["orphans"]
    if own is None:
        return ""
    rows = [[one["location"], one["bytes"], one["modified_at"]] for one in own["largest"]]
    listing = table("orphans", ["largest files", "bytes", "modified at"], rows)
    return section("Orphan files", sentences.orphans(figures), _command(own["command"]), as_table(listing))


def _manifests(figures: dict[str, Any]) -> str:
    return section("Manifests", sentences.manifests(figures))


def _versions(figures: dict[str, Any]) -> str:
    refs = figures["refs"]
    rows = [[one["name"], one["type"], one["snapshot_id"], one["at"], one["snapshots"]] for one in refs]
    expiry = figures["snapshots"]["expiry"]
    command = _command(None if expiry is None else expiry["command"])
    listing = table("refs", ["name", "type", "snapshot", "at", "snapshots"], rows)
    return section(
        "Branches, tags and snapshots",
        sentences.versions(figures),
        pictures.branches(refs),
        command,
        as_table(listing),
    )


def _definition(figures: dict[str, Any]) -> str:
    columns = [[one["field_id"], one["name"], one["type"], one["required"], one["doc"]] for one in figures["schema"]]
    specs = [
        [one["spec_id"], ", ".join(one["fields"]) or "unpartitioned", one["is_default"]] for one in figures["specs"]
    ]
    properties = [[key, value] for key, value in figures["properties"].items()]
    statistics = [[one["snapshot_id"], one["at"], one["columns"], one["bytes"]] for one in figures["statistics"]]
    return section(
        "Definition",
        sentences.definition(figures),
        folded("Columns", table("columns", ["id", "column", "type", "required", "doc"], columns)),
        folded("Partition specs", table("specs", ["spec", "fields", "default"], specs)),
        folded("Properties", table("properties", ["property", "value"], properties)),
        folded("Statistics files", table("statistics", ["snapshot", "at", "columns", "bytes"], statistics)),
    )


def _footer(figures: dict[str, Any]) -> str:
    checks = ", ".join(figures["diagnosis"]["checks"])
    return (
        f"<footer><p>Made by icefloe at {escape(figures['created_at'])} from {escape(figures['metadata_location'])}. Checks: "
        f'{escape(checks)}.</p><details class="raw"><summary>All figures as JSON</summary><pre><code id="raw"></code></pre></details></footer>'
    )
