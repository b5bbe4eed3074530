"""Histories of writers and maintenance that once violated a rule."""

from __future__ import annotations

from tests.simulator.operations import (
    Append,
    ApplyChanges,
    ChangeSpec,
    ClientTransaction,
    Condition,
    Delete,
    DeleteKeys,
    History,
    Layout,
    Maintain,
    Operation,
    Publish,
    Rollback,
    Row,
    Upsert,
)


def history_of(*clients: tuple[Operation, ...], **parts: object) -> History:
    """Return a history, by default of an unpartitioned table, with one transaction for each client."""
    initial = ((Row(0, "a", 0), Row(1, "a", 1)), (Row(2, "a", 2),))
    parts = {"seed": 0, "layout": Layout.FLAT, "initial": initial, **parts}
    return History(
        transactions=tuple(
            ClientTransaction(one, explicit=len(one) > 1 and not isinstance(one[-1], Maintain)) for one in clients
        ),
        shared_only=True,
        properties={"write.delete.mode": "merge-on-read"},
        **parts,
    )


FOUND = {
    "a staged snapshot expires while it is published": history_of(
        (Append((Row(3, "a", 3),)), Publish()),
        (Maintain("expire"),),
        seed=23,
        schedule=(1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1),
        staged=(Row(4, "a", 4),),
    ),
    "a snapshot expires twice": history_of(
        (Maintain("planned expire"),), (Maintain("expire"),), seed=3, schedule=(0, 0, 1, 1, 0, 0, 1, 0, 0)
    ),
    "deletes are dangling until a rollback": history_of(
        (Delete(Condition(high=1)),), (Maintain("dangling deletes"),), (Rollback(),), deleted=(0, 1)
    ),
    "deletes are unused until a rollback": history_of(
        (Delete(Condition(high=1)),),
        (Maintain("compact all"),),
        (Rollback(),),
        seed=8,
        schedule=(0, 1, 1, 0, 0, 2, 0, 1, 1, 1, 1, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1),
        deleted=(0, 1),
    ),
    "rows are deleted by key while their file is compacted": history_of(
        (DeleteKeys((1,), "a"),), (Maintain("compact all"),), deleted=(0,)
    ),
    "changes by key are applied while the table gets another partition spec": history_of(
        (ApplyChanges((Row(0, "a", 10),)),),
        (ChangeSpec("id"), Upsert((Row(0, "a", 11),))),
        layout=Layout.BY_PART,
        is_created_partitioned=True,
    ),
    "changes by key are applied while files move to another partition spec": history_of(
        (ApplyChanges((), ((0, "a"),)),),
        (ChangeSpec("id"),),
        (Maintain("compact all"),),
        seed=23,
        schedule=(1, 0, 0, 2, 1, 1, 1, 2, 0, 0, 2, 2, 2, 2, 2, 2),
        layout=Layout.BY_PART,
        is_created_partitioned=True,
    ),
    "a partition spec expires while files of it are written": history_of(
        (ChangeSpec("flat"), Append((Row(3, "a", 3),))),
        (Maintain("expire with metadata"),),
        layout=Layout.BY_PART_THEN_BY_ID,
        initial=((Row(0, "a", 0),),),
    ),
    "a partition spec is replaced and expires while files of it are written": history_of(
        (Append((Row(3, "a", 3),)),),
        (ChangeSpec("part"),),
        (Maintain("expire with metadata"),),
        schedule=(0, 0, *(1,) * 10, *(2,) * 40),
        layout=Layout.BY_PART_THEN_BY_ID,
        initial=((Row(0, "a", 0),),),
    ),
    "the id of an expired partition spec is given to another while files of it are written": history_of(
        (Append((Row(3, "a", 3),)),),
        (ChangeSpec("flat"),),
        (Maintain("expire with metadata"),),
        (ChangeSpec("id"),),
        (Delete(Condition(low=3, high=3)),),
        schedule=(0, 0, *(1,) * 10, *(2,) * 40, *(3,) * 20),
        layout=Layout.FLAT_THEN_BY_PART,
        initial=((Row(0, "a", 0),),),
    ),
    "a partition spec expires whose id is before that of a new spec with files": history_of(
        (ChangeSpec("part"), Append((Row(3, "a", 3),))),
        (Maintain("expire with metadata"),),
        schedule=(0, 0, *(1,) * 40),
        layout=Layout.BY_ID_THEN_FLAT,
        initial=((), (Row(0, "a", 0),)),
    ),
}
