"""Schema evolution: the updates of its builder."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError, ResolveError, ValidationError
from icefloe.table.update.schema import UpdateSchema
from icefloe.types import ListType

from tests.unit.table.update.recorder import table


def test_added_column_gets_a_new_id_and_its_insides_the_next() -> None:
    recorder = table()
    last = recorder.table_metadata.last_column_id
    with UpdateSchema(recorder) as update:
        update.add_column("more", ListType(1, "string"), doc="new").add_column(("at", "z"), "float").add_column(
            ("tags", "v"), "int"
        )
    assert recorder.schema.find_field("more").field_id == last + 1
    assert recorder.schema.find_field("more.element").field_id == last + 2
    assert recorder.schema.find_field("at.z").field_id == last + 3
    assert recorder.schema.find_field("tags.element.v").field_id == last + 4
    assert recorder.table_metadata.last_column_id == last + 4
    assert recorder.table_metadata.current_schema_id == 1


def test_column_added_again_has_a_new_id() -> None:
    recorder = table()
    before = recorder.schema.find_field("named").field_id
    with UpdateSchema(recorder) as update:
        update.delete_column("named").add_column("named", "string")
    assert recorder.schema.find_field("named").field_id > before
    assert recorder.table_metadata.schemas[0].find_field("named").field_id == before


def test_rename_keeps_id_and_settings_of_the_column() -> None:
    mapping = json.dumps([{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["day"]}])
    recorder = table(**{"write.metadata.metrics.column.id": "full", "schema.name-mapping.default": mapping})
    with UpdateSchema(recorder) as update:
        update.rename_column("id", "key").rename_column(("at", "x"), "lat").add_column("new", "int")
    assert recorder.schema.find_field("key").field_id == 1
    assert recorder.schema.identifier_field_names() == {"key"}
    assert recorder.schema.find_field("at.lat").required
    assert recorder.table_metadata.properties["write.metadata.metrics.column.key"] == "full"
    assert "write.metadata.metrics.column.id" not in recorder.table_metadata.properties
    names = recorder.table_metadata.name_mapping()
    assert names is not None
    assert names.find("id") == names.find("key")
    assert names.find("new").field_id == recorder.schema.find_field("new").field_id


def test_bloom_filter_columns_of_orc_follow_their_columns() -> None:
    name = "write.orc.bloom.filter.columns"
    recorder = table(**{name: "tags, at.x"})
    with UpdateSchema(recorder) as update:
        update.rename_column("tags", "labels").rename_column("at", "place").add_column("new", "int")
    assert recorder.table_metadata.properties[name] == "labels,place.x"
    UpdateSchema(recorder).delete_column("labels").commit()
    assert recorder.table_metadata.properties[name] == "place.x"
    UpdateSchema(recorder, allow_incompatible_changes=True).delete_column("place").commit()
    assert name not in recorder.table_metadata.properties


def test_types_widen() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.update_column("id", "long").update_column(("at", "y"), "double").update_column(
            "named.value", "decimal(18, 2)"
        )
    assert str(recorder.schema.find_type("id")) == "long"
    assert str(recorder.schema.find_type("at.y")) == "double"
    assert str(recorder.schema.find_type("named.value")) == "decimal(18, 2)"


def test_columns_move() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.move_first("named").move_after("day", "tags").move_before("at", "id").move_first("at.y")
    assert recorder.names() == ["named", "at", "id", "tags", "day"]
    assert [field.name for field in recorder.schema.find_type("at").fields] == ["y", "x"]


def test_renamed_column_is_found_by_both_names_in_one_update() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.rename_column("named", "renamed").move_first("named").update_column("renamed", doc="words")
    assert recorder.names()[0] == "renamed"
    assert recorder.schema.find_field("renamed").doc == "words"


def test_columns_swap_their_names() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.rename_column("day", "named").rename_column("named", "day").rename_column("at.x", "y").rename_column(
            "at.y", "x"
        )
    assert recorder.names() == ["id", "named", "at", "tags", "day"]
    assert [recorder.schema.find_field(name).field_id for name in ("named", "day", "at.y", "at.x")] == [2, 5, 6, 7]


def test_name_refers_to_the_column_that_had_it_before_the_changes() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.rename_column("day", "date").rename_column("tags", "day").update_column("day", doc="of the event")
        update.rename_column("id", "key").set_identifier_fields("key")
    assert recorder.schema.find_field("date").doc == "of the event"
    assert recorder.schema.identifier_field_ids == [1]


def test_dropped_column_is_not_found_by_its_earlier_name() -> None:
    with pytest.raises(ResolveError, match="named"):
        UpdateSchema(table()).delete_column("named").move_first("named")


def test_identifier_fields_are_stored_once_and_in_order() -> None:
    recorder = table()
    with UpdateSchema(recorder, allow_incompatible_changes=True) as update:
        update.update_column("day", required=True).set_identifier_fields("day", "id", "day")
    assert recorder.schema.identifier_field_ids == [1, 2]


def test_empty_update_commits_nothing() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.update_column("id", doc=None)
    assert recorder.commits == 0


def test_exception_leaves_the_table_alone() -> None:
    recorder = table()
    with pytest.raises(RuntimeError), UpdateSchema(recorder) as update:  # noqa: PT012 - the block is what is tested
        update.add_column("x", "int")
        raise RuntimeError
    assert recorder.commits == 0


def test_undone_change_reuses_the_old_schema() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.rename_column("day", "date")
    with UpdateSchema(recorder) as update:
        update.rename_column("date", "day")
    assert recorder.table_metadata.current_schema_id == 0
    assert len(recorder.table_metadata.schemas) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda update: update.add_column("id", "int"), "Cannot add column, name already exists: id"),
        (lambda update: update.add_column("a.b", "int"), "ambiguous"),
        (lambda update: update.add_column(("id", "x"), "int"), "Cannot add column to non-struct type"),
        (lambda update: update.add_column("n", "int", required=True), "required column"),
        (lambda update: update.delete_column("id"), "identifier field"),
        (lambda update: update.delete_column("tags.element"), "cannot drop, rename or move the element of a list"),
        (lambda update: update.rename_column("named.key", "k"), "cannot drop, rename or move the key of a map"),
        (lambda update: update.rename_column("id", "day").commit(), "multiple fields for name"),
        (lambda update: update.update_column("id", "string"), "Cannot change column type: id: int -> string"),
        (lambda update: update.update_column("id", "double"), "Cannot change column type: id: int -> double"),
        (lambda update: update.update_column("at", "long"), "Cannot change column type: at"),
        (lambda update: update.update_column("named.key", doc="x"), "Cannot alter map keys"),
        (lambda update: update.update_column("day", required=True), "required"),
        (lambda update: update.make_column_optional("id"), "identifier field"),
        (lambda update: update.set_identifier_fields("at.y"), "Identifier field"),
        (lambda update: update.move_before("id", "at.x"), "to a different struct"),
        (lambda update: update.move_after("id", "id"), "itself"),
        (lambda update: update.delete_column("day").commit(), "cannot drop column 'day': partition field day_month"),
        (lambda update: update.set_identifier_fields().delete_column("id").commit(), "'id': the sort order uses it"),
    ],
)
def test_invalid_update_is_refused(change: Any, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        change(UpdateSchema(table()))


@pytest.mark.parametrize("path", ["ID", ("AT", "X"), ("TAGS", "K")])
def test_column_whose_name_differs_in_case_alone_is_refused_without_case_sensitivity(path: Any) -> None:
    recorder = table()
    with pytest.raises(ValidationError, match="Cannot add column, name already exists"):
        UpdateSchema(recorder, case_sensitive=False).add_column(path, "int")
    with pytest.raises(ValidationError, match="Cannot add column, name already exists"):
        UpdateSchema(recorder).case_sensitive(False).add_column(path, "int")


def test_column_whose_name_differs_in_case_alone_is_added_with_case_sensitivity() -> None:
    recorder = table()
    with UpdateSchema(recorder) as update:
        update.add_column("ID", "int").add_column(("at", "X"), "int")
    assert {"id", "ID", "at.x", "at.X"} <= set(recorder.schema.column_names)


def test_column_of_another_case_is_added_after_the_removal_of_the_first() -> None:
    recorder = table()
    with UpdateSchema(recorder, case_sensitive=False) as update:
        update.delete_column("named").add_column("NAMED", "int")
    assert recorder.names() == ["id", "day", "at", "tags", "NAMED"]


def test_unknown_column_and_default_values_are_refused() -> None:
    with pytest.raises(ResolveError, match="nope"):
        UpdateSchema(table()).delete_column("nope")
    with pytest.raises(FeatureUnsupportedError, match="version 3"):
        UpdateSchema(table()).add_column("x", "int", default_value=1)


def test_allow_incompatible_changes_adds_required_columns() -> None:
    recorder = table()
    with UpdateSchema(recorder, allow_incompatible_changes=True) as update:
        update.update_column("day", required=True).add_column("must", "int", required=True)
    assert recorder.schema.find_field("must").required
    assert recorder.schema.find_field("day").required


def test_union_adds_widens_and_loosens_but_never_drops() -> None:
    recorder = table()
    arrow = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("at", pa.struct([pa.field("x", pa.float32()), pa.field("z", pa.float64())])),
            pa.field("tags", pa.list_(pa.struct([pa.field("k", pa.string()), pa.field("w", pa.int32())]))),
            pa.field("extra", pa.map_(pa.string(), pa.int32())),
        ]
    )
    with UpdateSchema(recorder) as update:
        update.union_by_name(arrow)
    schema = recorder.schema
    assert str(schema.find_type("id")) == "long"
    assert schema.find_field("at.x").optional
    assert schema.find_field("at.z").optional
    assert str(schema.find_type("tags.element.w")) == "int"
    assert str(schema.find_type("extra")) == "map<string, int>"
    assert recorder.names() == ["id", "day", "at", "tags", "named", "extra"]
    with UpdateSchema(recorder) as again:
        again.union_by_name(pa.schema([pa.field("id", pa.int32(), nullable=False)]))
    assert recorder.commits == 1
    with pytest.raises(ValidationError, match="Cannot change column type"):
        UpdateSchema(recorder).union_by_name(pa.schema([("day", pa.string())]))
