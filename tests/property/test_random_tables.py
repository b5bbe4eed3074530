"""Random tables, changed at random, against rows in memory: all rows, filtered rows, some columns, every snapshot."""

from __future__ import annotations

from random import Random

from icefloe.catalog import load_catalog

from tests.exact_rows import exact
from tests.property.random_filter import random_filter
from tests.property.refs_model import RefsModel
from tests.property.table_model import TableModel

STEPS = 10
FILTERS = 4


def test_random_table_holds_what_its_model_holds(table_seed, tmp_path):
    """Odd programs also use branches, tags, staged snapshots, upserts, dynamic overwrites and added files."""
    rng = Random(table_seed)
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        model = RefsModel(catalog, rng, tmp_path) if table_seed % 2 else TableModel(catalog, rng)
        try:
            for _ in range(STEPS):
                model.step()
                check_rows(model)
                check_refs(model)
            check_history(model)
        except BaseException:
            print(model.schema, *model.log, sep="\n")
            raise


def check_refs(model: TableModel) -> None:
    if isinstance(model, RefsModel):
        for name, rows in model.branches.items():
            found = model.table.scan().use_ref(name).to_arrow()
            assert found.column_names == model.names()
            assert exact(found) == model.expected(rows=rows)
        for name, snapshot_id in model.tags.items():
            assert model.table.metadata.refs[name].snapshot_id == snapshot_id


def check_rows(model: TableModel) -> None:
    found = model.table.scan().to_arrow()
    assert found.column_names == model.names()
    assert exact(found) == model.expected()
    assert model.table.scan().count() == len(model.rows)
    for _ in range(FILTERS):
        condition = random_filter(model.rng, model.struct)
        names = model.rng.sample(model.names(), model.rng.randint(1, len(model.names())))
        expected = model.expected(condition, names)
        scan = model.table.scan(condition.expression(), selected_fields=tuple(names))
        assert exact(scan.to_arrow().select(names)) == expected, condition
        assert scan.count() == len(expected), condition


def check_history(model: TableModel) -> None:
    for snapshot_id, names, expected in model.history:
        found = model.table.scan(snapshot_id=snapshot_id).to_arrow()
        assert found.column_names == names
        assert exact(found) == expected
