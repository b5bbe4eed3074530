"""Location providers and name mappings."""

from __future__ import annotations

import re

import pytest
from icefloe.exceptions import FeatureUnsupportedError, ValidationError
from icefloe.schema import Schema
from icefloe.table.locations import SimpleLocationProvider, load_location_provider
from icefloe.table.name_mapping import NameMapping, create_mapping_from_schema, parse_mapping_from_json
from icefloe.types import ListType, NestedField


def test_location_provider_follows_the_path_properties() -> None:
    plain = load_location_provider("/t/", {})
    assert plain.new_data_location("f.parquet") == "/t/data/f.parquet"
    assert plain.new_metadata_location("m.avro") == "/t/metadata/m.avro"
    other = load_location_provider("/t", {"write.data.path": "/d/", "write.metadata.path": "/m"})
    assert other.new_data_location("f") == "/d/f"
    assert other.new_metadata_location("f") == "/m/f"


@pytest.mark.parametrize(("codec", "end"), [("none", r"\.metadata\.json"), ("gzip", r"\.gz\.metadata\.json")])
def test_metadata_location_has_version_and_uuid(codec: str, end: str) -> None:
    location = load_location_provider(
        "/t", {"write.metadata.compression-codec": codec}
    ).new_table_metadata_file_location(12)
    assert re.fullmatch(rf"/t/metadata/00012-[0-9a-f-]{{36}}{end}", location)


@pytest.mark.parametrize(
    ("name", "directories"),
    [("a", "0101/0110/1001/10110010"), ("b", "1110/0111/1110/00000011"), ("test.parquet", "0110/1010/0011/11101000")],
)
def test_object_store_layout_equals_the_reference(name: str, directories: str) -> None:
    properties = {"write.object-storage.enabled": "true"}
    assert load_location_provider("/t", properties).new_data_location(name) == f"/t/data/{directories}/{name}"
    properties["write.object-storage.partitioned-paths"] = "false"
    assert load_location_provider("/t", properties).new_data_location(name) == f"/t/data/{directories}-{name}"


def test_custom_provider_is_loaded_and_checked() -> None:
    name = "icefloe.table.locations.ObjectStoreLocationProvider"
    assert (
        load_location_provider("/t", {"write.py-location-provider.impl": name})
        .new_data_location("a")
        .endswith("/10110010/a")
    )
    with pytest.raises(ValidationError, match="cannot load"):
        load_location_provider("/t", {"write.py-location-provider.impl": "no.Such"})
    with pytest.raises(ValidationError, match="expected a subclass of LocationProvider"):
        load_location_provider("/t", {"write.py-location-provider.impl": "builtins.dict"})


PROVIDER = "write.py-location-provider.impl"


class OwnProvider(SimpleLocationProvider):
    """A provider whose layout the core does not write."""


@pytest.mark.parametrize("package", ["icefloe", "pyiceberg"])
@pytest.mark.parametrize("kind", ["Simple", "ObjectStore"])
def test_files_are_written_with_a_built_in_provider_whatever_other_properties_say(new_table, package, kind):
    opposite = "true" if kind == "Simple" else "false"
    name = f"{package}.table.locations.{kind}LocationProvider"
    table = new_table(properties={PROVIDER: name, "write.object-storage.enabled": opposite})
    for task in table.scan().plan_files():
        path = task.file.file_path.removeprefix(f"{table.location()}/data/")
        assert path.count("/") == (0 if kind == "Simple" else 4)
    assert type(table.location_provider()).__name__ == f"{kind}LocationProvider"


def test_writes_refuse_a_provider_whose_layout_the_core_does_not_write(new_table):
    table = new_table()
    rows = table.scan().to_arrow()
    name = f"{OwnProvider.__module__}.OwnProvider"
    table.transaction().set_properties({PROVIDER: name, "write.delete.mode": "merge-on-read"}).commit_transaction()
    assert isinstance(table.location_provider(), OwnProvider)
    problem = f"table property {PROVIDER}: files cannot be written to the locations of {name}; expected "
    for write in (lambda: table.append(rows), lambda: table.delete("id = 1"), lambda: table.overwrite(rows)):
        with pytest.raises(FeatureUnsupportedError, match=re.escape(problem)):
            write()
    assert (table.scan().count(), len(table.snapshots())) == (rows.num_rows, 2)


def test_name_mapping_survives_json_and_finds_nested_names() -> None:
    mapping = create_mapping_from_schema(
        Schema(NestedField(1, "a.b", "int"), NestedField(2, "tags", ListType(3, "string")))
    )
    assert parse_mapping_from_json(mapping.model_dump_json()) == mapping
    assert NameMapping.model_validate_json(mapping.model_dump_json()) == mapping
    assert mapping.find("a.b").field_id == 1
    assert mapping.find("tags", "element").field_id == 3
    with pytest.raises(ValidationError, match="'nope'"):
        mapping.find("nope")


@pytest.mark.parametrize("text", ["", "{}", '[{"names": "a"}]', '[{"field-id": "1", "names": []}]'])
def test_malformed_name_mapping_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="name mapping"):
        parse_mapping_from_json(text)


@pytest.mark.parametrize(("location", "properties"), [(None, {}), (7, {}), ("/t", None), ("/t", "x"), ("/t", {7: "x"})])
def test_argument_that_is_no_location_or_no_properties_is_refused(location, properties):
    with pytest.raises(ValidationError, match=r"table_location: expected text|table_properties: expected a mapping"):
        load_location_provider(location, properties)
