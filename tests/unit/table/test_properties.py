"""Table properties: reading by type and range, and definitions that agree with the core."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import MetadataWarning, ValidationError
from icefloe.table.properties import TableProperties, definitions
from icefloe.table.properties.core import UNSUPPORTED
from icefloe.table.properties.definitions import GROUPS
from icefloe.table.properties.page import with_tables
from icefloe.table.properties.reading import COLUMN, Flag, Fraction, OneOf, TableProperty, WholeNumber
from icefloe.types import LongType

ROOT = Path(__file__).parents[3]
DEFINED = {definition.name for group in GROUPS.values() for definition in group}
MIB = 1024 * 1024
COLUMNS = pa.schema([("id", pa.int64())])
ROWS = pa.table({"id": [1, 2]}, schema=COLUMNS)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (WholeNumber(1), "7", 7),
        (WholeNumber(-7, 22), "-3", -3),
        (Flag(), "TRUE", True),
        (Flag(), "false", False),
        (OneOf(("none", "gzip")), "GZIP", "gzip"),
        (Fraction(), "0.05", 0.05),
        (definitions.METRICS_MODE, "Truncate(16)", "Truncate(16)"),
    ],
)
def test_property_has_the_value_of_its_text(kind, text, value):
    assert TableProperty("p", kind, None, "").of({"p": text}) == value
    assert TableProperty("p", kind, None, "").of({}) is None


@pytest.mark.parametrize(
    ("kind", "text", "expectation"),
    [
        (WholeNumber(1, unit="bytes"), "0", "a whole number of bytes, 1 or above"),
        (WholeNumber(1, unit="bytes"), "1.5", "a whole number of bytes, 1 or above"),
        (WholeNumber(1, unit="bytes"), "512MB", "a whole number of bytes, 1 or above"),
        (WholeNumber(0), "-1", "a whole number, 0 or above"),
        (WholeNumber(0), "", "a whole number, 0 or above"),
        (WholeNumber(0), "1_000", "a whole number, 0 or above"),
        (WholeNumber(0, 22), "23", "a whole number from 0 to 22"),
        (Flag(), "yes", "true or false"),
        (OneOf(("none", "hash", "range")), "sorted", "none, hash or range"),
        (Fraction(), "1", "a number above 0 and below 1"),
        (Fraction(), "nan", "a number above 0 and below 1"),
        (definitions.METRICS_MODE, "truncate(0)", "none, counts, truncate(N) or full"),
    ],
)
def test_property_of_a_wrong_value_names_property_expectation_and_value(kind, text, expectation):
    with pytest.raises(ValidationError) as raised:
        TableProperty("write.p", kind, None, "").of({"write.p": text})
    assert str(raised.value) == f"table property write.p: expected {expectation}, got {text!r}"


@pytest.mark.parametrize("name", [f"write.parquet.bloom-filter-enabled.column.{COLUMN}", "gc.enabled"])
def test_definition_checks_the_properties_of_every_column(name):
    definition = TableProperty(name, Flag(), False, "")
    good, bad = name.replace(COLUMN, "a"), name.replace(COLUMN, "b.c")
    assert definition.check({good: "true", "other": "?"}) == {good: "true"}
    with pytest.raises(ValidationError, match=f"table property {bad}: expected true or false, got '1'"):
        definition.check({bad: "1"})


WRITES = {
    "write.target-file-size-bytes": ("0", "a whole number of bytes, 1 or above"),
    "write.parquet.page-row-limit": ("many", "a whole number of rows, 1 or above"),
    "write.parquet.compression-codec": (
        "lzo",
        "zstd, gzip, snappy, lz4, lz4_raw, brotli, uncompressed or none",
    ),
    "write.parquet.compression-level": ("high", "a whole number from 0 to 22"),
    "write.parquet.page-version": ("v3", "v1 or v2"),
    "write.parquet.bloom-filter-fpp.column.id": ("2", "a number above 0 and below 1"),
    "write.object-storage.enabled": ("on", "true or false"),
    "write.manifest.compression-codec": ("lz4", "gzip, zstd, snappy or uncompressed"),
    "write.summary.partition-limit": ("-1", "a whole number of partitions, 0 or above"),
    "commit.manifest-merge.enabled": ("1", "true or false"),
    "commit.retry.num-retries": ("no", "a whole number, 0 or above"),
    "commit.retry.max-wait-ms": ("1s", "a whole number of milliseconds, 0 or above"),
}


def table_of_another_writer(catalog, properties, columns=COLUMNS):
    """Return a table whose metadata file another writer has made, with properties that this library refuses to set."""
    table = catalog.create_table("db.t", columns)
    metadata = json.loads(table.metadata.model_dump_json())
    metadata["properties"].update(properties)
    location = f"{table.location()}/metadata/00001-of-another-writer.metadata.json"
    table.io.core.write(location, json.dumps(metadata).encode(), overwrite=False)
    catalog.drop_table("db.t")
    return catalog.register_table("db.t", location)


@pytest.mark.parametrize("name", WRITES)
def test_append_refuses_a_wrong_property_and_leaves_no_snapshot(catalog, name):
    value, expectation = WRITES[name]
    table = table_of_another_writer(catalog, {name: value})
    with pytest.raises(ValidationError) as raised:
        table.append(ROWS)
    assert str(raised.value) == f"table property {name}: expected {expectation}, got {value!r}"
    assert catalog.load_table("db.t").current_snapshot() is None


METRICS_MODES = {
    "default": ({"default": "all"}, "ab" * 8),
    "default_above_a_column": ({"default": "all", "column.id": "none"}, "ab" * 8),
    "column": ({"column.name": "some"}, "ab" * 8),
    "column_below_a_default": ({"default": "truncate(3)", "column.name": "some"}, "aba"),
    "zero": ({"default": "truncate(0)"}, "ab" * 8),
}


@pytest.mark.parametrize("case", METRICS_MODES)
def test_append_warns_of_an_invalid_metrics_mode_and_writes_with_the_default(catalog, case):
    modes, bound = METRICS_MODES[case]
    modes = {f"write.metadata.metrics.{name}": mode for name, mode in modes.items()}
    rows = pa.table({"id": [1], "name": ["ab" * 20]})
    table = table_of_another_writer(catalog, modes, rows.schema)
    bad = next(name for name, mode in modes.items() if mode in ("all", "some", "truncate(0)"))
    expected = f"table property {bad}: expected none, counts, truncate(N) or full, got '{modes[bad]}'"
    with pytest.warns(MetadataWarning, match=re.escape(expected)):
        table.append(rows)
    (metrics,) = table.inspect.files().column("readable_metrics").to_pylist()
    assert metrics["name"]["lower_bound"] == bound


@pytest.mark.parametrize("name", ["write.metadata.metrics.default", "write.metadata.metrics.column.id"])
def test_set_properties_refuses_an_invalid_metrics_mode(catalog, name):
    table = catalog.create_table("db.t", COLUMNS)
    with pytest.raises(ValidationError, match=rf"table property {name}: expected none, counts, .*, got 'some'"):
        table.transaction().set_properties({name: "some"})


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize(
    ("name", "value", "expectation"),
    [
        ("write.delete.isolation-level", "none", "serializable or snapshot"),
        ("write.delete.mode", "rewrite", "copy-on-write or merge-on-read"),
    ],
)
def test_delete_refuses_a_wrong_property(catalog, name, value, expectation, mode):
    table = catalog.create_table("db.t", COLUMNS, properties={"write.delete.mode": mode, name: value})
    table.append(ROWS)
    with pytest.raises(ValidationError, match=f"table property {name}: expected {expectation}, got '{value}'"):
        table.delete("id = 1")


@pytest.mark.parametrize("value", [None, {"write.target-file-size-bytes": None}])
def test_set_properties_refuses_none(catalog, value):
    table = catalog.create_table("db.t", COLUMNS)
    given = {"owner": None} if value is None else value
    (name,) = given
    with pytest.raises(ValidationError, match=rf"{name}.*expected text, a number or a boolean"):
        table.transaction().set_properties(given)
    assert name not in catalog.load_table("db.t").properties


def test_scan_refuses_a_wrong_property(catalog):
    table = table_of_another_writer(catalog, {"read.split.target-size": "128m"})
    with pytest.raises(ValidationError, match=r"table property read.split.target-size: expected .* of bytes"):
        table.scan().to_arrow()
    assert table.scan(options={"split-size": "5"}).packing().target_size_bytes == 5


def test_constants_are_the_defaults_of_their_definitions():
    by_name = {definition.name: definition for group in GROUPS.values() for definition in group}
    constants = {name: value for name, value in vars(TableProperties).items() if name.isupper()}
    checked = 0
    for constant, name in constants.items():
        default = constants.get(f"{constant}_DEFAULT")
        if name in by_name and default is not None:
            assert str(by_name[name].default) == str(default), constant
            checked += 1
    assert checked > 30


def test_definitions_are_distinct_and_accept_their_defaults():
    found = [definition for group in GROUPS.values() for definition in group]
    assert len(found) == len(DEFINED)
    for definition in found:
        if definition.default is not None:
            assert definition.kind.parse(str(definition.default).lower()) == definition.default


def literals(path: Path) -> list[str]:
    """Return the string constants of a module, docstrings left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def test_only_definitions_name_properties_in_python():
    found = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in sorted((ROOT / "python" / "icefloe").rglob("*.py"))
        if "properties" not in path.parts
        for text in literals(path)
        if text in DEFINED - {"format-version"}
    }
    assert found == set(), "read properties through icefloe.table.properties.definitions"


def rust_sources() -> str:
    paths = sorted((ROOT / "rust").glob("*/src/**/*.rs"))
    return "\n".join(path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests")[0] for path in paths)


def format_sources() -> dict[str, str]:
    """Return the source that reads the properties of each file format."""
    sources = sorted((ROOT / "rust" / "engine" / "src" / "write").glob("*_options.rs"))
    found = {}
    for path in sources:
        text = path.read_text(encoding="utf-8")
        if name := re.search(r'PropertyReader \{ properties, kind, format: "([a-z]+)" \}', text):
            found[name[1]] = text
    return found


def test_every_property_that_the_core_reads_is_defined():
    text = rust_sources()
    names = set(re.findall(r'"((?:write|commit|read|gc|history)\.[a-z][a-z0-9.-]+[a-z])"', text))
    prefixes = set(re.findall(r'"((?:write|commit|read)\.[a-z][a-z0-9.-]+\.)(?:\{column\})?"', text))
    assert len(names) >= 10
    assert names - DEFINED - set(UNSUPPORTED) == set()
    assert {f"{prefix}{COLUMN}" for prefix in prefixes} <= DEFINED
    for file_format, source in format_sources().items():
        read = set(re.findall(r'(?:\.(?:number|text|fraction)\(\s*|one_of\(&read, )"([a-z.-]+)"', source))
        read |= {"compression-level"} if ".level()" in source else set()
        assert "compression-codec" in read
        plain = set(re.findall(rf'"write\.{file_format}\.([a-z.-]+[a-z])"', source))
        # Checked by their definitions alone.
        plain |= {"bloom-filter-adaptive-enabled"} if file_format == "parquet" else set()
        of_data = plain | {name for name in read if name.startswith("bloom.")}
        read |= plain
        for prefix, names in (("write.", read), ("write.delete.", read - of_data)):
            defined = {name for name in DEFINED if name.startswith(f"{prefix}{file_format}.") and COLUMN not in name}
            assert {f"{prefix}{file_format}.{name}" for name in names} == defined


def test_defaults_of_the_core_are_those_of_the_definitions():
    by_name = {definition.name: definition for group in GROUPS.values() for definition in group}
    plain = re.findall(r'number\(\s*properties, "([a-z.-]+)", ([0-9_]*)( ?\*? ?MIB)?\)', rust_sources())
    found = [*plain]
    for file_format, source in format_sources().items():
        numbers = re.findall(r'\.number\("([a-z-]+)", ([0-9_]*)( ?\*? ?MIB)?\)', source)
        found += [(f"write.{file_format}.{name}", digits, unit) for name, digits, unit in numbers]
    assert len(found) >= 7
    for name, digits, unit in found:
        default = int(digits.replace("_", "") or "1") * (MIB if unit else 1)
        assert by_name[name].default == default, name


def test_page_has_the_tables_of_the_definitions():
    page = (ROOT / "docs" / "table-properties.md").read_text(encoding="utf-8")
    assert page == with_tables(page), "rewrite it: python -m icefloe.table.properties.page docs/table-properties.md"
    for name in DEFINED:
        assert f"| `{name}` |" in page


@pytest.mark.parametrize("value", [None, 5, "owner", ["owner"]])
def test_set_properties_refuses_anything_but_a_mapping(new_table, value):
    table = new_table()
    with pytest.raises(ValidationError, match="expected a mapping"):
        table.transaction().set_properties(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("commit.retry.num-retries", "many"),
        ("commit.retry.num-retries", -1),
        ("commit.manifest.target-size-bytes", "8MB"),
        ("write.target-file-size-bytes", 1.5),
    ],
)
def test_set_properties_refuses_wrong_whole_numbers(new_table, name, value):
    table = new_table()
    with pytest.raises(ValidationError, match=f"{re.escape(name)}: expected a whole number.*got '{value}'"):
        table.transaction().set_properties({name: value})
    assert name not in table.properties


@pytest.mark.parametrize("name", ["commit.retry.num-retries", "write.metadata.previous-versions-max"])
def test_invalid_property_of_commits_can_be_removed(catalog, name):
    table = table_of_another_writer(catalog, {name: "many"})
    with pytest.raises(ValidationError, match=f"{name}: expected a whole number"):
        table.append(ROWS)
    table.transaction().remove_properties(name).commit_transaction()
    table.append(ROWS)
    assert table.scan().count() == 2


@pytest.mark.parametrize("value", [b"x", ["id", "s"], ("id",), {"id": 1}, {"id"}], ids=str)
def test_set_properties_refuses_bytes_and_collections(new_table, value):
    with pytest.raises(ValidationError, match="property columns: expected text, a number or a boolean, got"):
        new_table().transaction().set_properties({"columns": value})


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ("{", "not valid JSON"),
        ("{}", "not valid"),
        ('[{"field-id": "x", "names": ["a"]}]', "field-id"),
        ('[{"names": ["s"], "fields": [{"names": ["a"]}, {"names": ["a"]}]}]', "each name once, got 'a' in two fields"),
    ],
)
def test_name_mapping_that_is_none_is_refused(catalog, new_table, mapping, reason):
    name = "schema.name-mapping.default"
    with pytest.raises(ValidationError, match=f"table property {name}: .*{re.escape(reason)}"):
        new_table().transaction().set_properties({name: mapping})
    with pytest.raises(ValidationError, match=f"table property {name}: .*{re.escape(reason)}"):
        catalog.create_table("db.mapped", ROWS.schema, properties={name: mapping})


@pytest.mark.parametrize(("name", "text"), [("maintenance.steps", "expire,foo"), ("maintenance.enabled", "perhaps")])
def test_settings_of_the_policy_are_checked_when_they_are_set(new_table, name, text):
    with pytest.raises(ValidationError, match=f"table property {re.escape(name)}: expected .*, got '{text}'"):
        new_table().transaction().set_properties({name: text})


MODE = "write.metadata.metrics.column."
NESTED = pa.schema([("id", pa.int64()), ("place", pa.struct([("City", pa.string())])), ("tags", pa.list_(pa.int64()))])


@pytest.mark.parametrize("column", ["nope", "ID", "place.city", "tags.item", ""])
def test_metrics_mode_of_an_unknown_column_is_refused_as_in_java(catalog, column):
    table = catalog.create_table("db.t", NESTED)
    problem = re.escape(f"table property {MODE}{column}: Could not find field with name {column}, ")
    with pytest.raises(ValidationError, match=problem):
        table.transaction().set_properties({MODE + column: "full"})
    for create in (catalog.create_table, catalog.create_or_replace_table, catalog.create_table_transaction):
        with pytest.raises(ValidationError, match=problem):
            create("db.new", NESTED, properties={MODE + column: "full"})
    assert catalog.list_tables("db") == [("db", "t")]
    assert MODE + column not in catalog.load_table("db.t").properties


@pytest.mark.parametrize("column", ["id", "place", "place.City", "tags", "tags.element"])
def test_metrics_mode_is_set_for_columns_and_fields_within_them(catalog, column):
    table = catalog.create_table("db.t", NESTED, properties={MODE + column: "counts"})
    table.transaction().set_properties({MODE + column: "full"}).commit_transaction()
    assert table.properties[MODE + column] == "full"


def test_metrics_mode_of_a_new_column_is_set_in_the_transaction_that_adds_it(new_table):
    table = new_table()
    with table.transaction() as change:
        with change.update_schema() as columns:
            columns.add_column("added", LongType())
        change.set_properties({MODE + "added": "full"})
    assert table.properties[MODE + "added"] == "full"


def test_metrics_mode_of_an_unknown_column_stops_no_other_change(catalog):
    table = table_of_another_writer(catalog, {MODE + "gone": "full"})
    table.append(ROWS)
    with table.update_schema() as columns:
        columns.add_column("added", LongType()).rename_column("id", "key")
    table.transaction().set_properties({"owner": "me"}).commit_transaction()
    with pytest.raises(ValidationError, match=f"table property {MODE}gone: Could not find field"):
        table.transaction().set_properties({MODE + "gone": "counts"})
    assert (table.properties[MODE + "gone"], table.scan().count()) == ("full", 2)
    table.transaction().remove_properties(MODE + "gone").commit_transaction()
    assert MODE + "gone" not in table.properties


def test_replacement_takes_a_metrics_mode_of_an_unknown_column_as_java_does(catalog):
    catalog.create_table("db.t", COLUMNS, properties={MODE + "id": "full"})
    table = catalog.replace_table("db.t", pa.schema([("key", pa.int64())]), properties={MODE + "nope": "full"})
    assert {MODE + "id", MODE + "nope"} <= table.properties.keys()


def test_scan_names_the_property_of_a_broken_name_mapping(catalog):
    table = table_of_another_writer(catalog, {"schema.name-mapping.default": "{"})
    with pytest.raises(ValidationError, match=r"table property schema\.name-mapping\.default: expected the JSON"):
        table.scan().count()
