"""Tables for the doctor in a catalog of their own."""

import pytest
from icefloe.catalog import load_catalog

from tests.unit.table.doctor.doctor_tables import SCHEMA, rows_from


@pytest.fixture
def catalog(tmp_path):
    with load_catalog("lake", type="memory", warehouse=str(tmp_path)) as made:
        made.create_namespace("db")
        yield made


@pytest.fixture
def new_table(catalog):
    def make(appends=1, spec=None, **properties):
        names = {name.replace("__", "-").replace("_", "."): value for name, value in properties.items()}
        table = catalog.create_table(
            "db.t", SCHEMA, **({} if spec is None else {"partition_spec": spec}), properties=names
        )
        for number in range(appends):
            table.append(rows_from(number * 3))
        return table

    return make
