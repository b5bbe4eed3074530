"""Random tables, changed and maintained at random, against rows in memory: no verb changes a row or the history."""

from __future__ import annotations

from random import Random

from icefloe.catalog import load_catalog

from tests.property.table_model import TableModel
from tests.property.test_random_tables import check_history, check_rows

STEPS = 8


def rewrite(table, rng):
    options = {
        "min_input_files": rng.choice([1, 2, 5]),
        "delete_file_threshold": rng.choice([None, 1, 3]),
        "rewrite_all": rng.random() < 0.2,
        "partial_progress_enabled": rng.choice([None, True, False]),
        "max_file_group_input_files": rng.choice([2, 1000]),
        "use_starting_sequence_number": rng.random() < 0.8,
        "remove_dangling_deletes": rng.random() < 0.3,
    }
    return table.maintenance.rewrite_data_files().options(**options)


VERBS = (
    rewrite,
    lambda table, rng: table.maintenance.rewrite_position_deletes().options(min_input_files=rng.choice([1, 2, 5])),
    lambda table, rng: table.maintenance.convert_equality_deletes(),
    lambda table, rng: table.maintenance.remove_dangling_deletes(),
    lambda table, rng: table.maintenance.rewrite_manifests(),
)


def test_maintenance_keeps_rows_and_history(table_seed):
    rng = Random(table_seed)
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        model = TableModel(catalog, rng)
        log = []
        try:
            for _ in range(STEPS):
                model.step()
                for verb in rng.sample(VERBS, 2):
                    builder = verb(model.table, rng)
                    plan = builder.plan()
                    log.append(str(plan))
                    model.table.maintenance.execute(plan)
                    assert verb is rewrite or builder.plan().is_empty, log[-1]
                check_rows(model)
            check_history(model)
            model.table.maintenance.rewrite_data_files().options(delete_file_threshold=1).execute()
            assert model.table.maintenance.rewrite_data_files().options(delete_file_threshold=1).plan().is_empty
            check_rows(model)
        except BaseException:
            print(model.schema, *model.log, *log, sep="\n")
            raise
