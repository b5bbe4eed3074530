"""Write to a table and maintain it in child processes that are killed at random moments, and check the table after each.

Arguments: kind of catalog, directory, number of kills, seed. Prints one line for each kill: the steps that were completed before it.
"""

import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random

import pyarrow as pa
from icefloe.catalog import load_catalog

kind, directory, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
properties = {"type": kind, "warehouse": f"{directory}/warehouse"}
if kind == "sql":
    properties["uri"] = f"sqlite:///{directory}/catalog.db"
log = Path(directory) / "log"
POLICY = {
    "write.delete.mode": "merge-on-read",
    "maintenance.compact.min-small-files": "2",
    "maintenance.compact.max-deletes-per-file": "1",
    "maintenance.manifests.min-count": "2",
    "history.expire.max-snapshot-age-ms": "1",
}
VERBS = {
    "compact": lambda table: table.maintenance.rewrite_data_files().options(rewrite_all=True),
    "deletes": lambda table: table.maintenance.rewrite_position_deletes().options(rewrite_all=True),
    "manifests": lambda table: table.maintenance.rewrite_manifests(),
    "expire": lambda table: table.maintenance.expire_snapshots().older_than("0s"),
    "orphans": lambda table: table.maintenance.remove_orphan_files().older_than("0s").force(),
    "policy": lambda table: table.maintenance.policy(),
}


def ids_of(table, ref="main"):
    return sorted(table.scan().use_ref(ref).to_arrow().column("id").to_pylist())


def step(table, rng, ids, number):
    """Note the ids that a step leads to, make it, and note that it is done. Return the ids."""
    verb = rng.choice(["append", "append", "delete", "overwrite", *VERBS])
    new, low = [number * 10, number * 10 + 1], rng.choice(ids or [0])
    after = {
        "append": sorted([*ids, *new]),
        "delete": [one for one in ids if one != low],
        "overwrite": sorted([*(one for one in ids if one > low), *new]),
    }.get(verb, ids)
    with log.open("a") as out:
        out.write(json.dumps([verb, after]) + "\n")
    rows = pa.table({"id": pa.array(new, pa.int64())})
    if verb == "append":
        table.append(rows)
    elif verb == "delete":
        table.delete(f"id = {low}")
    elif verb == "overwrite":
        table.overwrite(rows, f"id <= {low}")
    else:
        VERBS[verb](table).execute()
    return after


def live(round_number, ids):
    rng = Random(f"{seed} {round_number}")
    with load_catalog("cat", **properties) as catalog:
        table = catalog.load_table("db.t")
        for number in range(1, 1000):
            ids = step(table, rng, ids, 1000 * round_number + number)


def killed(round_number, ids, seconds):
    """Run steps in a child, and kill it a time after its first step began. Return the number of steps that began."""
    log.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            live(round_number, ids)
        except BaseException:  # noqa: BLE001 - the child must not run on as its parent
            traceback.print_exc()
        os._exit(1)
    while not log.exists():
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, "the child ended before it was killed"


def begun():
    """Return the steps that began: verb and ids after it. The last line may be incomplete."""
    lines = log.read_text().split("\n")
    return [json.loads(line) for line in lines[:-1]]


def main():
    moments, ids = Random(seed), [1, 2, 3]
    with load_catalog("cat", **properties) as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", pa.schema([("id", pa.int64())]), properties=POLICY)
        table.append(pa.table({"id": pa.array(ids, pa.int64())}))
        table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "first").commit()
    for round_number in range(kills):
        killed(round_number, ids, moments.random())
        steps = begun()
        allowed = [ids, *(after for _, after in steps)][-2:]
        with load_catalog("cat", **properties) as catalog:
            table = catalog.load_table("db.t")
            found = ids_of(table)
            assert found in allowed, f"expected {allowed}, got {found} after {steps}"
            table.maintenance.policy().execute()
            table.maintenance.remove_orphan_files().older_than("0s").force().execute()
            assert ids_of(catalog.load_table("db.t")) == found, "maintenance changed rows"
            assert ids_of(table, "first") == [1, 2, 3], "the tag lost rows"
        ids = found
        print(" ".join(verb for verb, _ in steps), flush=True)


main()
