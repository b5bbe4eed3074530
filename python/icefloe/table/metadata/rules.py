"""Rules of the specification that table metadata must follow, since rows, ids or history would be wrong otherwise.

Deviations that lose nothing are in `deviations`. Spec: Table Metadata Fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.schema import MAX_COLUMN_ID
from icefloe.table.refs import MAIN_BRANCH, SnapshotRefType
from icefloe.table.snapshots import NO_SNAPSHOT_ID
from icefloe.table.sorting import UNSORTED_SORT_ORDER_ID
from icefloe.transforms import VoidTransform

if TYPE_CHECKING:
    from collections.abc import Iterable

    from icefloe.table.metadata.table_metadata import TableMetadata

MAX_INT, MAX_LONG = 2**31 - 1, 2**63 - 1


def check_rules(metadata: TableMetadata) -> None:
    """Raise ValidationError, which names the key and the rule, for metadata that breaks a rule."""
    if metadata.location == "":
        raise ValidationError("`location` is empty; expected the location of the table's directory")
    _check_counters(metadata)
    _check_unique("schemas", "schema-id", (schema.schema_id for schema in metadata.schemas))
    _check_unique("partition-specs", "spec-id", (spec.spec_id for spec in metadata.partition_specs))
    _check_unique("sort-orders", "order-id", (order.order_id for order in metadata.sort_orders))
    _check_schemas(metadata)
    _check_specs(metadata)
    _check_sort_orders(metadata)
    _check_snapshots(metadata)
    _check_refs(metadata)


def _check_counters(metadata: TableMetadata) -> None:
    for key, value, least, most in (
        ("last-sequence-number", metadata.last_sequence_number, 0, MAX_LONG),
        ("last-updated-ms", metadata.last_updated_ms, 0, MAX_LONG),
        ("last-column-id", metadata.last_column_id, 0, MAX_COLUMN_ID),
        ("last-partition-id", metadata.last_partition_id, 0, MAX_INT),
    ):
        if not least <= value <= most:
            raise ValidationError(f"`{key}` is out of range; expected {least} to {most}, got {value}")


def _check_unique(key: str, id_key: str, ids: Iterable[int]) -> None:
    seen: set[int] = set()
    for each in ids:
        if each in seen:
            raise ValidationError(f"`{key}` contains `{id_key}` {each} twice; expected each id once")
        if not 0 <= each <= MAX_INT:
            raise ValidationError(f"`{key}` has a `{id_key}` out of range; expected 0 to {MAX_INT}, got {each}")
        seen.add(each)


def _check_schemas(metadata: TableMetadata) -> None:
    for schema in metadata.schemas:
        ids = schema.field_ids
        if ids and not 0 <= min(ids) <= max(ids) <= MAX_COLUMN_ID:
            wrong = min(ids) if min(ids) < 0 else max(ids)
            raise ValidationError(
                f"`schemas` entry {schema.schema_id} has a field id out of range; expected 0 to {MAX_COLUMN_ID}, got {wrong}"
            )
    ids = {schema.schema_id for schema in metadata.schemas}
    if metadata.current_schema_id not in ids:
        raise ValidationError(
            f"`current-schema-id` {metadata.current_schema_id} is not in `schemas`; expected one of {sorted(ids)}"
        )


def _check_specs(metadata: TableMetadata) -> None:
    for spec in metadata.partition_specs:
        where = f"`partition-specs` entry {spec.spec_id}"
        for kind, values in (
            ("field-id", [field.field_id for field in spec.fields]),
            ("name", [field.name for field in spec.fields]),
        ):
            twice = next((value for position, value in enumerate(values) if value in values[:position]), None)
            if twice is not None:
                raise ValidationError(f"{where} contains `{kind}` {twice!r} twice; expected each once")
    ids = metadata.specs()
    if metadata.default_spec_id not in ids:
        raise ValidationError(
            f"`default-spec-id` {metadata.default_spec_id} is not in `partition-specs`; expected one of {sorted(ids)}"
        )
    schema = metadata.schema()
    for field in metadata.spec().fields:
        if field.source_id not in schema.field_ids or isinstance(field.transform, VoidTransform):
            continue
        container = schema.container_of(field.source_id)
        if container is not None:
            raise ValidationError(
                f"partition field {field.name!r} has `source-id` {field.source_id}, a field inside a {container.field_type}; expected a column, "
                "or a field of structs alone"
            )


def _check_sort_orders(metadata: TableMetadata) -> None:
    unsorted = metadata.sort_order_by_id(UNSORTED_SORT_ORDER_ID)
    if unsorted is not None and not unsorted.is_unsorted:
        raise ValidationError(
            f"`sort-orders` entry 0 has keys; expected none, since id 0 is reserved for unsorted rows, got {unsorted.fields[0]}"
        )
    default = metadata.default_sort_order_id
    if default != UNSORTED_SORT_ORDER_ID and metadata.sort_order_by_id(default) is None:
        ids = sorted(order.order_id for order in metadata.sort_orders)
        raise ValidationError(f"`default-sort-order-id` {default} is not in `sort-orders`; expected 0 or one of {ids}")


def _check_snapshots(metadata: TableMetadata) -> None:
    snapshots = metadata.snapshots
    ids = snapshots.column("snapshot-id")
    if len(snapshots.positions()) != len(ids):
        twice = next(one for position, one in enumerate(ids) if snapshots.positions()[one] != position)
        raise ValidationError(f"`snapshots` contains an id twice: `snapshot-id` {twice}; expected each once")
    if NO_SNAPSHOT_ID in snapshots.positions():
        raise ValidationError("`snapshots` has `snapshot-id` -1; expected another id, since -1 stands for no snapshot")
    for key, least in (("snapshot-id", -MAX_LONG - 1), ("sequence-number", 0), ("timestamp-ms", 0)):
        values = snapshots.column(key, least)
        if values and not least <= min(values) <= max(values) <= MAX_LONG:
            wrong = next(position for position, value in enumerate(values) if not least <= value <= MAX_LONG)
            raise ValidationError(
                f"snapshot {ids[wrong]} has `{key}` out of range; expected {least} to {MAX_LONG}, got {values[wrong]}"
            )
    lists, manifests = snapshots.column("manifest-list"), snapshots.column("manifests")
    for snapshot_id, parent, manifest_list, paths in zip(
        ids, snapshots.column("parent-snapshot-id"), lists, manifests, strict=True
    ):
        if manifest_list is None and paths is None:
            raise ValidationError(
                f"snapshot {snapshot_id} has neither `manifest-list` nor `manifests`; its files are unknown, which must not read as no files"
            )
        if parent == snapshot_id:
            raise ValidationError(
                f"snapshot {snapshot_id} has itself as `parent-snapshot-id`; expected an earlier snapshot"
            )


def _check_refs(metadata: TableMetadata) -> None:
    positions, current = metadata.snapshots.positions(), metadata.current_snapshot_id
    if current is not None and current not in positions:
        raise ValidationError(
            f"`current-snapshot-id` {current} is not in `snapshots`; expected the id of one of its {len(positions)} snapshots, or -1 for none"
        )
    for name, ref in metadata.refs.items():
        if ref.snapshot_id not in positions:
            raise ValidationError(
                f"`refs` entry {name!r} has `snapshot-id` {ref.snapshot_id}, which is not in `snapshots`; expected one of its {len(positions)} "
                "snapshots"
            )
    main = metadata.refs.get(MAIN_BRANCH)
    if main is None:
        return
    if main.snapshot_ref_type is not SnapshotRefType.BRANCH:
        raise ValidationError("`refs` entry 'main' is a tag; expected a branch")
    if main.snapshot_id != current:
        raise ValidationError(
            f"branch main is at snapshot {main.snapshot_id}, but `current-snapshot-id` is {current}; expected the same snapshot"
        )
