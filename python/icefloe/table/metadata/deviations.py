"""Deviations in the keys of a metadata file that other writers produce and that lose nothing: read with a warning.

Each function puts what is read instead into the JSON object, and adds one sentence for each deviation to `notes`. Deviations that
need schemas, specs or logs are in `repairs`.
"""

from __future__ import annotations

import json
from typing import Any

from icefloe.partitioning import PARTITION_FIELD_ID_START
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.snapshots import INITIAL_SEQUENCE_NUMBER, NO_SNAPSHOT_ID
from icefloe.table.sorting import UNSORTED_SORT_ORDER_ID

JsonObject = dict[str, Any]


def conventional_json(data: JsonObject, format_version: int, notes: list[str]) -> JsonObject:
    """Return a metadata file's JSON object in the specification's layout, without nulls and with the main branch."""
    data = {key.replace("_", "-"): value for key, value in data.items() if value is not None}
    if format_version > 1:
        _fill_in_counters(data, format_version, notes)
    _choose_current_snapshot(data, notes)
    _number_sort_orders(data, notes)
    _omit_parents_of_roots(data, notes)
    _write_properties_as_text(data, notes)
    return data


def _fill_in_counters(data: JsonObject, format_version: int, notes: list[str]) -> None:
    """Compute keys that format version 2 made required and that writers of version 1 metadata omit."""
    snapshots, specs = data.get("snapshots", []), data.get("partition-specs")
    stated = data.get("last-sequence-number")
    if isinstance(snapshots, (list, tuple)):
        numbers = [one.get("sequence-number") for one in snapshots if isinstance(one, dict)]
        newest = max((number for number in numbers if type(number) is int), default=INITIAL_SEQUENCE_NUMBER)
        if (stated is None and format_version == 2) or (type(stated) is int and stated < newest):
            data["last-sequence-number"] = newest
            # DuckDB omits the key in tables whose snapshots all have the number 0, where nothing depends on it.
            if newest > INITIAL_SEQUENCE_NUMBER:
                notes.append(
                    f"`last-sequence-number` is {'missing' if stated is None else stated}, but `snapshots` has sequence number {newest}, "
                    "which is read"
                )
    if "last-partition-id" not in data and specs is not None and _is_list_of_objects(specs):
        fields = [field for spec in specs if isinstance(spec.get("fields"), list) for field in spec["fields"]]
        ids = [field.get("field-id") for field in fields if isinstance(field, dict)]
        highest = max((number for number in ids if type(number) is int), default=PARTITION_FIELD_ID_START - 1)
        data["last-partition-id"] = highest
        notes.append(f"`last-partition-id` is missing; the highest field id of `partition-specs`, {highest}, is read")
    if "sort-orders" not in data and data.get("default-sort-order-id", 0) == UNSORTED_SORT_ORDER_ID:
        data["sort-orders"] = [{"order-id": UNSORTED_SORT_ORDER_ID, "fields": []}]
        data["default-sort-order-id"] = UNSORTED_SORT_ORDER_ID
        notes.append("`sort-orders` is missing; the table is taken to be unsorted")


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(each, dict) for each in value)


def _choose_current_snapshot(data: JsonObject, notes: list[str]) -> None:
    """Make main and the current snapshot agree where one of them is absent. ClickHouse omits `current-snapshot-id`."""
    refs = data.setdefault("refs", {})
    if not isinstance(refs, dict):
        return
    current = data.get("current-snapshot-id")
    main = refs.get(MAIN_BRANCH)
    if current is None and isinstance(main, dict) and type(main.get("snapshot-id")) is int:
        data["current-snapshot-id"] = main["snapshot-id"]
        notes.append(
            f"`current-snapshot-id` is missing; branch main is at snapshot {main['snapshot-id']}, which is read"
        )
    elif current is not None and current != NO_SNAPSHOT_ID and main is None:
        # Writers before branches existed have no `refs`: no deviation.
        data["refs"] = {**refs, MAIN_BRANCH: {"snapshot-id": current, "type": "branch"}}
        if refs:
            notes.append(f"`refs` has no branch main; it is taken to be at `current-snapshot-id` {current}")


def _number_sort_orders(data: JsonObject, notes: list[str]) -> None:
    """Give orders without keys the id 0, which the specification reserves for them."""
    orders = data.get("sort-orders")
    if orders is None or not _is_list_of_objects(orders):
        return
    unsorted = {order.get("order-id") for order in orders if order.get("fields") == []} - {UNSORTED_SORT_ORDER_ID}
    ids = {number for number in unsorted if type(number) is int}
    if not ids:
        return
    notes.append(
        f"`sort-orders` has order {min(ids)} without keys; the unsorted order must have the id 0, which is read"
    )
    kept = [order for order in orders if order.get("order-id") not in ids]
    if all(order.get("order-id") != UNSORTED_SORT_ORDER_ID for order in kept):
        kept.insert(0, {"order-id": UNSORTED_SORT_ORDER_ID, "fields": []})
    data["sort-orders"] = kept
    if data.get("default-sort-order-id") in ids:
        data["default-sort-order-id"] = UNSORTED_SORT_ORDER_ID


def _omit_parents_of_roots(data: JsonObject, notes: list[str]) -> None:
    """Remove `parent-snapshot-id` -1, which ClickHouse writes for snapshots without a parent."""
    snapshots = data.get("snapshots")
    if not isinstance(snapshots, list):
        return
    if any(isinstance(one, dict) and one.get("parent-snapshot-id") == NO_SNAPSHOT_ID for one in snapshots):
        notes.append("`snapshots` has `parent-snapshot-id` -1; a snapshot without a parent must omit it")
        data["snapshots"] = [
            {key: value for key, value in one.items() if key != "parent-snapshot-id" or value != NO_SNAPSHOT_ID}
            if isinstance(one, dict)
            else one
            for one in snapshots
        ]


def _write_properties_as_text(data: JsonObject, notes: list[str]) -> None:
    """Replace numbers and booleans among the table properties by their JSON text, as PyIceberg reads them. The Java library refuses them."""
    properties = data.get("properties")
    if not isinstance(properties, dict):
        return
    texts = {key: json.dumps(value) for key, value in properties.items() if isinstance(value, (bool, int, float))}
    if texts:
        key, text = next(iter(texts.items()))
        more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
        notes.append(
            f"`properties.{key}` is {text}{more}; the values of properties must be strings, so it is read as text"
        )
        data["properties"] = {**properties, **texts}
