"""The shape of the code, checked from its own imports: layers, file sizes, names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import rust_imports

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "icefloe"
RUST = ROOT / "rust"
MAX_LINES = 400
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}

# A module may import from its own layer and from those before it.
LAYERS = [
    {"exceptions"},
    {"arguments"},
    {"_core"},
    {"typedef"},
    {"types"},
    {"schema", "conversions"},
    {"transforms"},
    {"partitioning"},
    {"expressions"},
    {"manifest", "io"},
    {"table"},
    {"catalog"},
    {"spark", "report"},
    {"cli"},
]
TABLE_LAYERS = [
    {
        "environment",
        "metadata",
        "snapshot_summary",
        "read_context",
        "snapshots",
        "refs",
        "sorting",
        "name_mapping",
        "statistics",
        "properties",
        "locations",
        "table_version",
    },
    {"update"},
    {"commit"},
    {"scan", "write"},
    {"row_level"},
    {"row_changes"},
    {"changes"},
    {"write_transaction"},
    {"inspect"},
    {"maintenance"},
    {"doctor"},
    {"table", "static", "replacement", "create_transaction", "replace_transaction", "public"},
]

MAINTENANCE_LAYERS = [
    {"age", "display", "locations", "progress", "table_checks", "plan", "branch_plan", "deletion", "snapshot_files"},
    {"groups"},
    {"deletes"},
    {"rewrite", "rewrite_manifests", "expiry", "orphans", "statistics", "path_rewrite"},
    {"fold"},
    {"policy_steps"},
    {"policy"},
    {"maintenance_table"},
]

CATALOG_LAYERS = [
    {"identifiers", "configuration", "outcome", "purge", "apply_commit", "hive_types", "partition_directories"},
    {"source_files", "table_creation"},
    {"catalog"},
    {"pointer_catalog", "noop", "import_directory"},
    {"metastore", "memory"},
    {"sql", "hadoop", "rest", "hive", "glue"},
    {"load"},
]

SPARK_LAYERS = [
    {"types", "session", "lexer", "worker_process", "arguments"},
    {"session_catalog", "session_lineage"},
    {"reader", "transform_udf"},
    {"functions", "udf_factory", "sql_functions"},
    {"writer"},
    {"dml"},
    {"table_options", "metadata_tables"},
    {"metadata_reader"},
    {"stream"},
    {"data_source"},
    {"maintenance"},
    {"statements"},
    {"public"},
]

# Modules of the Rust crates: a module may import from itself and from the modules of earlier lines.
RUST_LAYERS = {
    "format": [
        {"error"},
        {"spec"},
        {"codec", "curve", "transform"},
        {"avro", "changelog", "metrics", "orc", "predicate", "puffin", "sketch"},
        {"delete", "manifest"},
        {"metadata_tables"},
    ],
    "engine": [
        {"error"},
        {"runtime"},
        {"store"},
        {"bytes", "table"},
        {"pipeline"},
        {"changes", "join", "manifests", "resolve", "write"},
        {"formats"},
        {"deletes", "existing_files", "plan", "reachability"},
        {"metadata_tables"},
        {"scan"},
        {"statistics"},
    ],
}


def rank(layers: list[set[str]], name: str) -> int:
    for position, layer in enumerate(layers):
        if name in layer:
            return position
    raise AssertionError(f"{name} belongs to no layer: add it to the table in ARCHITECTURE.md and here")


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def rust_files() -> list[Path]:
    return sorted(path for path in RUST.rglob("*.rs") if "target" not in path.parts)


def dotted(path: Path) -> list[str]:
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path: Path, *, for_type_checkers: bool = False) -> Iterator[str]:
    """Full names of what a module imports, inside functions too; for type checkers alone, only on demand."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not for_type_checkers:
            for statement in node.body:
                skipped.update(ast.walk(statement))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            yield from (f"{module}.{alias.name}" for alias in node.names)


@cache
def import_graph(*, for_type_checkers: bool) -> dict[str, set[str]]:
    """Modules of the package, and the modules of the package that each imports."""
    modules = {".".join(["icefloe", *dotted(path)]): path for path in python_files()}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        found = graph[module] = set()
        for name in imports(path, for_type_checkers=for_type_checkers):
            home = name
            while home and home not in modules:
                home = home.rpartition(".")[0]
            found |= {home} - {"", module}
    return graph


def in_circles(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the part of a graph whose modules are on a circle or between circles."""
    left = graph
    while True:
        imported = set().union(*left.values())
        kept = {module for module, found in left.items() if found and module in imported}
        if kept == set(left):
            return left
        left = {module: left[module] & kept for module in kept}


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert in_circles(graph) == {"b": {"c"}, "c": {"b"}}


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert in_circles(import_graph(for_type_checkers=False)) == {}


def test_no_modules_need_each_other_in_a_circle() -> None:
    """Imports for type checkers count here: a reader of one of the modules has to read the others."""
    graph = import_graph(for_type_checkers=True)
    root = "icefloe"
    assert in_circles({module: found - {root} for module, found in graph.items() if module != root}) == {}


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_from_siblings_and_never_from_its_own_package(path: Path) -> None:
    """A package collects the names of its modules, so a module that imports from the package imports itself."""
    module = ["icefloe", *dotted(path)]
    own = {".".join(module[:depth]) for depth in range(2, len(module))}
    assert import_graph(for_type_checkers=True)[".".join(module)] & own == set()


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_from_layers_before_it(path: Path) -> None:
    mine = dotted(path)
    if not mine:
        return
    for imported in imports(path):
        parts = imported.split(".")
        if parts[0] != "icefloe" or len(parts) < 2 or parts[1] == "__version__":
            continue
        assert rank(LAYERS, parts[1]) <= rank(LAYERS, mine[0]), f"{'.'.join(mine)} imports {imported}"
        if mine[0] == "table" == parts[1] and len(mine) > 1 and len(parts) > 2 and parts[2].islower():
            assert rank(TABLE_LAYERS, parts[2]) <= rank(TABLE_LAYERS, mine[1]), f"{'.'.join(mine)} imports {imported}"
        if mine[:2] == ["table", "maintenance"] == parts[1:3] and len(mine) > 2 and len(parts) > 3:
            assert rank(MAINTENANCE_LAYERS, parts[3]) <= rank(MAINTENANCE_LAYERS, mine[2]), (
                f"{'.'.join(mine)} imports {imported}"
            )
        if mine[0] == "catalog" == parts[1] and len(mine) > 1 and len(parts) > 2 and parts[2].islower():
            rank(CATALOG_LAYERS, parts[2])
            assert (
                parts[2] == mine[1]
                or rank(CATALOG_LAYERS, parts[2]) < rank(CATALOG_LAYERS, mine[1])
                or (rank(CATALOG_LAYERS, mine[1]) == 0)
            ), f"{'.'.join(mine)} imports {imported}"
        if mine[0] == "spark" == parts[1] and len(mine) > 1 and len(parts) > 2:
            assert rank(SPARK_LAYERS, parts[2]) <= rank(SPARK_LAYERS, mine[1]), f"{'.'.join(mine)} imports {imported}"


# Clock, sleep, randomness and local files, and the only files that call the operating system for them. A simulator that owns
# these files replays a schedule exactly.
SEAMS = {
    r"\b(?:time\.(?:time|time_ns|sleep|monotonic|perf_counter)|uuid\.uuid[14]|uuid4|random\.\w+|datetime\.(?:now|utcnow|today)|"
    r"date\.today|os\.urandom|secrets\.\w+)\b": {"python/icefloe/table/environment.py"},
    r"\bos\.(?:open|rename|replace|link|mkdir|makedirs|rmdir|remove|unlink|fsync|stat|fstat|listdir|scandir)\(|shutil\.\w+\(": {
        "python/icefloe/catalog/hadoop/directories.py",
        "python/icefloe/catalog/memory.py",  # the temporary warehouse
    },
    r"\b(?:SystemTime::now|Uuid::new_v4|thread::sleep|tokio::time::sleep)\b": {
        "rust/engine/src/runtime/environment.rs"
    },
    r"\bfs::(?:\w+)\(|\bFile::(?:open|create)\(|\bOpenOptions::new\(": {
        "rust/engine/src/store/directories.rs",
        "rust/engine/src/store/exclusive.rs",
        "rust/engine/src/store/local.rs",
        "rust/engine/src/runtime/spill.rs",  # a temporary file
    },
}


@pytest.mark.parametrize("pattern", SEAMS)
def test_system_calls_are_made_behind_seams(pattern: str) -> None:
    files = rust_files() if "::" in pattern else python_files()
    sources = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    found = {name for name, text in sources.items() if re.search(pattern, without_tests(text))}
    assert found - SEAMS[pattern] == {
        name for name in found if name.startswith(("rust/engine/tests/", "rust/format/tests/", "rust/fuzz/"))
    }
    assert SEAMS[pattern] <= found


def without_tests(text: str) -> str:
    """Return a source file without the unit tests at its end."""
    return text.split("#[cfg(test)]\nmod tests", 1)[0]


@pytest.mark.parametrize("path", python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_spark_imports_pyspark(path: Path) -> None:
    if dotted(path)[:1] != ["spark"]:
        assert not [name for name in imports(path) if name.split(".")[0] == "pyspark"]


@pytest.mark.parametrize("path", [*python_files(), *rust_files()], ids=lambda path: str(path.relative_to(ROOT)))
def test_file_is_one_noun_with_a_name(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES, "split the file by meaning"
    assert path.stem not in FORBIDDEN_NAMES, "name the file after what it holds"


@pytest.mark.parametrize("path", sorted(RUST.glob("format/src/**/*.rs")), ids=lambda path: str(path.relative_to(RUST)))
def test_format_crate_is_pure(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for impure in (
        "std::fs",
        "std::net",
        "std::thread",
        "std::time::Instant",
        "SystemTime",
        "tokio",
        "pyo3",
        "object_store",
    ):
        assert impure not in text, f"icefloe-format may not use {impure}"


@pytest.mark.parametrize("crate", RUST_LAYERS)
def test_rust_modules_import_from_modules_before_them(crate: str) -> None:
    source, layers = RUST / crate / "src", RUST_LAYERS[crate]
    assert {path.stem for path in source.iterdir()} - {"lib"} == set().union(*layers)
    for module, imported in rust_imports.import_graph(source).items():
        others = {other[0] for other in imported if other} - set(module[:1])
        later = {other for other in others if module and rank(layers, other) >= rank(layers, module[0])}
        assert later == set(), "::".join(module)


@pytest.mark.parametrize("crate", RUST_LAYERS)
def test_no_rust_files_import_each_other_in_a_circle(crate: str) -> None:
    graph = rust_imports.import_graph(RUST / crate / "src")
    named = {"::".join(module): {"::".join(other) for other in found} for module, found in graph.items()}
    assert in_circles(named) == {}


def test_rust_imports_are_those_of_the_files(tmp_path: Path) -> None:
    files = {
        "lib.rs": "pub mod a;\nmod b;\npub use b::Made;",
        "a/mod.rs": "mod inner;\nmod outer;\npub(crate) use outer::{Outer, make as made};\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n",
        "a/inner.rs": "use std::fmt;\n\nuse super::outer::{Outer,\n    make};\n// use crate::b::Made;\nfn f() { crate::Made::new() }",
        "a/outer.rs": "pub(crate) struct Outer;",
        "b.rs": "use crate::a::{Outer, made};",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rust_imports.import_graph(tmp_path) == {
        (): set(),
        ("a",): set(),
        ("a", "inner"): {("a", "outer"), ("b",)},
        ("a", "outer"): set(),
        ("b",): {("a", "outer")},
    }


DRAWN = {
    "`rust/format`": RUST_LAYERS["format"],
    "`rust/engine`": RUST_LAYERS["engine"],
    "`exceptions`": LAYERS,
    "`table`": TABLE_LAYERS,
    "`table/maintenance`": MAINTENANCE_LAYERS,
    "`catalog`": CATALOG_LAYERS,
    "`spark`": SPARK_LAYERS,
}


@pytest.mark.parametrize("title", DRAWN)
def test_architecture_has_the_layers_of_the_code(title: str) -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if re.match(rf"\| {re.escape(title)}(:| ←)", line)).split("|")[1]
    drawn = row.partition(": ")[2] or row
    assert [set(re.findall(r"`([a-z_]+)`", layer)) for layer in drawn.split("←")] == DRAWN[title]


def test_only_bindings_name_pyo3() -> None:
    for crate in ("format", "engine"):
        assert "pyo3" not in (RUST / crate / "Cargo.toml").read_text(encoding="utf-8")
