"""Histories that once violated a rule."""

from __future__ import annotations

import pytest

from tests.simulator.checks import violation_in, violation_of
from tests.simulator.generator import random_history
from tests.simulator.interpreter import run
from tests.simulator.operations import (
    AddColumn,
    Append,
    ChangeSpec,
    ClientTransaction,
    Fault,
    History,
    Layout,
    OverwritePartitions,
    Publish,
    RenameTable,
    ReplaceTable,
    RewriteManifests,
    Rollback,
    Row,
    SetProperty,
)
from tests.simulator.schedules import interleavings

HOUR_MS = 3_600_000


@pytest.mark.parametrize("clocks", [(0, HOUR_MS), (HOUR_MS, 0), (-HOUR_MS, 0), (0, -HOUR_MS)])
@pytest.mark.parametrize("change", [AddColumn("c0"), SetProperty("k0", "1")], ids=["schema", "property"])
def test_table_stays_readable_after_commits_of_slow_and_fast_clocks(change, clocks):
    history = History(
        seed=0,
        layout=Layout.FLAT,
        initial=((Row(0, "a", 0),),),
        transactions=(
            ClientTransaction((Append((Row(1, "a", 1),)),), explicit=False),
            ClientTransaction((change,), explicit=True),
        ),
        shared_only=True,
        clocks=clocks,
    )
    for scheduled, outcome in interleavings(history):
        assert violation_in(scheduled, outcome) is None


@pytest.mark.parametrize("explicit", [True, False])
def test_snapshot_staged_before_a_commit_of_a_fast_clock_to_another_branch_is_staged_again(explicit):
    history = History(
        seed=0,
        layout=Layout.FLAT,
        initial=(),
        transactions=(
            ClientTransaction((Publish(branch="main"),), explicit=explicit),
            ClientTransaction((OverwritePartitions((Row(0, "a", 100),), branch="dev"),), explicit=explicit),
        ),
        branches=("dev",),
        shared_only=True,
        clocks=(HOUR_MS, 0),
        staged=(Row(2, "a", 9),),
    )
    for scheduled, outcome in interleavings(history):
        assert violation_in(scheduled, outcome) is None


def test_change_to_the_spec_that_a_client_read_is_nothing_beside_another_change_of_the_spec():
    history = History(
        seed=0,
        layout=Layout.FLAT,
        initial=((Row(0, "a", 0),),),
        transactions=(
            ClientTransaction((OverwritePartitions((Row(1, "a", 1),)), ChangeSpec("part")), explicit=True),
            ClientTransaction((ChangeSpec("flat"), Append((Row(2, None, 2), Row(3, "a", 3)))), explicit=True),
        ),
        shared_only=True,
    )
    for scheduled, outcome in interleavings(history):
        assert violation_in(scheduled, outcome) is None


@pytest.mark.parametrize("seed", [80_000_008_191, 80_000_017_716, 80_000_024_031])
def test_drop_whose_reply_is_lost_is_done_if_another_client_removed_the_table(seed):
    assert violation_of(random_history(seed)) is None


def test_rename_whose_reply_is_lost_is_done_if_another_client_made_it():
    rename = ClientTransaction((RenameTable("u", "w"),), explicit=False)
    history = History(
        seed=500000039630,
        layout=Layout.FLAT,
        initial=(),
        transactions=(rename, rename),
        schedule=(1, 1, 0, 0, 0, 1, 1),
        shared_only=False,
        faults=(Fault(client=0, call="catalog.rename", number=0, kind="late", delay=25),),
        others=("u",),
    )
    outcome = run(history)
    assert (outcome.committed, outcome.swaps) == ((1, 0), (1,))
    assert violation_in(history, outcome) is None


def test_cherry_pick_that_becomes_a_move_of_main_leaves_no_manifests_behind():
    # Client 0 writes a snapshot on top of the rewritten manifests. Before its swap, client 1 rolls main back to the staged snapshot's parent.
    history = History(
        seed=200000014448,
        layout=Layout.FLAT,
        initial=(),
        transactions=(
            ClientTransaction((Publish(),), explicit=False),
            ClientTransaction((Append((Row(7, "a", 100),)), Rollback()), explicit=True),
            ClientTransaction((RewriteManifests(),), explicit=True),
        ),
        schedule=(2, 1, 2, 1, 1, 2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1),
        staged=(Row(2, "b", 4),),
        shared_only=False,
    )
    outcome = run(history)
    assert outcome.swaps == (2, 1, 0)
    assert violation_in(history, outcome) is None


def test_rollback_after_a_snapshot_of_its_transaction_fails_beside_a_replacement():
    # Client 0 rolls back from its own snapshot, which it writes again on top of the replacement.
    history = History(
        seed=500000204531,
        layout=Layout.FLAT,
        initial=((Row(0, "a", 0),),),
        transactions=(
            ClientTransaction((Append((Row(1, "a", 1),)), Rollback()), explicit=True),
            ClientTransaction((ReplaceTable((Row(2, "a", 2),), "flat"),), explicit=True),
        ),
        shared_only=True,
    )
    refused = set()
    for scheduled, outcome in interleavings(history):
        assert violation_in(scheduled, outcome) is None
        refused |= {reason.split(":")[0] for reason in outcome.refused.values()}
    assert "ValidationException" in refused
