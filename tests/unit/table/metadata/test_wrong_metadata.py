"""Metadata that is valid JSON and wrong is refused by a rule's name or read with a warning; other bytes are corrupt."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import TYPE_CHECKING

import pytest
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError, InvalidMetadataError, MetadataWarning
from icefloe.io import load_file_io
from icefloe.table.metadata import TableMetadata, TableMetadataUtil
from icefloe.table.metadata.files import read_metadata

from tests.unit.table.metadata.refused_metadata import REFUSED
from tests.unit.table.metadata.repaired_metadata import READ, WARNED
from tests.unit.table.metadata.wrong_metadata import BASE, Case, schema

if TYPE_CHECKING:
    from pathlib import Path

LOCATION = "file:/t/metadata/v2.metadata.json"


def name_of(case: Case) -> str:
    return case.name


def parsed(case: Case) -> TableMetadata:
    return TableMetadataUtil.parse_raw(json.dumps(case.value()), LOCATION)


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in (*REFUSED, *WARNED, *READ)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_broken_rule_is_refused_with_file_rule_and_advice(case: Case) -> None:
    with pytest.raises(InvalidMetadataError) as caught:
        parsed(case)
    for part in (LOCATION, *case.says):
        assert part in str(caught.value)
    if "format-version" not in case.keys:
        assert "register_table()" in str(caught.value)


@pytest.mark.parametrize("case", WARNED, ids=name_of)
def test_deviation_is_read_with_one_warning(case: Case) -> None:
    with pytest.warns(MetadataWarning) as caught:
        metadata = parsed(case)
    assert len(caught) == 1
    for part in (LOCATION, *case.says):
        assert part in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(metadata)(**metadata.model_dump()) == metadata


@pytest.mark.parametrize("case", READ, ids=name_of)
def test_permitted_metadata_is_read_without_a_warning(case: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metadata = parsed(case)
        assert type(metadata)(**metadata.model_dump()) == metadata


def of(name: str) -> TableMetadata:
    with pytest.warns(MetadataWarning):
        return parsed(next(case for case in WARNED if case.name == name))


def test_type_of_a_later_version_is_unsupported_and_names_the_file() -> None:
    later = {"id": 9, "name": "x", "required": False, "type": "frob"}
    case = Case("later", keys={"schemas": [schema(later)]})
    with pytest.raises(FeatureUnsupportedError, match="'frob'") as caught:
        parsed(case)
    assert LOCATION in str(caught.value)


def test_deviations_are_written_back_by_the_rules() -> None:
    assert of("current_snapshot_missing").current_snapshot_id == 1002
    assert of("main_missing").refs["main"].snapshot_id == 1002
    assert "parent-snapshot-id" not in of("parent_minus_one").model_dump()["snapshots"][1]
    assert of("last_column_id_too_small").last_column_id == 4
    assert of("last_partition_id_too_small").last_partition_id == 1000
    assert of("last_partition_id_missing").last_partition_id == 1000
    assert of("last_sequence_number_too_small").next_sequence_number() == 3
    assert of("property_as_number").properties == {"a": "1"}
    assert of("property_as_boolean").properties == {"a": "true", "b": "x"}
    assert of("properties_as_numbers").properties == {"a": "0.5", "b": "-1"}
    assert of("last_updated_before_log").last_updated_ms == 1_700_000_000_002
    for name in ("sort_orders_missing", "unsorted_order_1", "sort_column_missing"):
        metadata = of(name)
        assert metadata.default_sort_order_id == 0
        assert metadata.sort_order_by_id(0) is not None
        assert metadata.sort_order().is_unsorted


def test_repaired_metadata_has_no_deviation_left() -> None:
    lasting = {
        "partition_column_missing",
        "schema_of_snapshot_unknown",
        "last_updated_in_future",
        "sequence_number_not_above_parent",
    }
    for case in WARNED:
        if case.name in lasting or "log" in case.name:
            continue
        text = of(case.name).model_dump_json()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert TableMetadataUtil.parse_raw(text).model_dump_json() == text


TEXT = json.dumps(BASE).encode()


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("v1.metadata.json", b"", "is empty"),
        ("v1.metadata.json", b"<html>no</html>", "is not JSON"),
        ("v1.metadata.json", TEXT[:-20], "truncated"),
        ("v1.metadata.json", TEXT.replace(b"me", b"\xff\xfe"), "is not UTF-8 text"),
        ("v1.metadata.json", gzip.compress(TEXT), "is not UTF-8 text"),
        ("v1.gz.metadata.json", TEXT, "expected gzip"),
        ("v1.gz.metadata.json", gzip.compress(TEXT)[:-30], "expected gzip"),
        ("v1.gz.metadata.json", gzip.compress(b""), "is empty"),
    ],
    ids=["empty", "html", "cut", "not_utf8", "gzip_by_a_wrong_name", "no_gzip", "gzip_cut", "gzip_empty"],
)
def test_damaged_bytes_are_corrupt_and_not_invalid(tmp_path: Path, name: str, data: bytes, says: str) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(CorruptFileError) as caught:
        read_metadata(load_file_io(), str(file))
    assert type(caught.value) is CorruptFileError
    assert says in str(caught.value)
    assert name in str(caught.value)
