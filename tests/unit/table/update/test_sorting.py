"""Sort orders: the updates of their builder."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.sorting import NullOrder
from icefloe.table.update import (
    SetDefaultSortOrderUpdate,
)
from icefloe.table.update.sorting import UpdateSortOrder

from tests.unit.table.update.recorder import table


def test_sort_order_is_replaced_and_removed() -> None:
    recorder = table()
    with UpdateSortOrder(recorder) as update:
        update.desc("day", "year", NullOrder.NULLS_FIRST).asc("id")
    assert str(recorder.table_metadata.sort_order()) == "[\n  year(2) DESC NULLS FIRST\n  1 ASC NULLS LAST\n]"
    assert recorder.table_metadata.default_sort_order_id == 2
    UpdateSortOrder(recorder).commit()
    assert recorder.table_metadata.sort_order().is_unsorted
    assert recorder.table_metadata.default_sort_order_id == 0
    with pytest.raises(ValidationError, match="does not apply"):
        UpdateSortOrder(recorder).asc("at").commit()


def test_sort_order_of_an_earlier_version_is_chosen_by_its_id() -> None:
    recorder = table()
    UpdateSortOrder(recorder).desc("day").commit()
    UpdateSortOrder(recorder).asc("id", null_order=NullOrder.NULLS_FIRST).commit()
    assert recorder.updates == (SetDefaultSortOrderUpdate(sort_order_id=1),)
    assert len(recorder.table_metadata.sort_orders) == 2
