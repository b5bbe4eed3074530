"""The table of tests/vectors/README.md is true: every group and every file is there, and read by the tests that it names."""

from __future__ import annotations

import json
import re

from tests.unit.vectors.vector_cases import VECTORS

ROOT = VECTORS.parents[1]
GROUPS = set(range(1, 48))
ROW = re.compile(
    r"^\| (?P<groups>[^|]*) \| `(?P<file>[a-z_/]+)\.json` \| (?P<case>[^|]*) \| (?P<rust>[^|]*) \| (?P<python>[^|]*) \|$"
)


def rows() -> list[dict[str, str]]:
    """Return the rows of the table of files."""
    lines = (VECTORS / "README.md").read_text(encoding="utf-8").splitlines()
    return [match.groupdict() for line in lines if (match := ROW.match(line))]


def numbers(text: str) -> set[int]:
    """Return the numbers of `1-9, 12`."""
    found: set[int] = set()
    for part in re.findall(r"\d+(?:-\d+)?", text):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def test_every_group_has_a_file() -> None:
    assert set().union(*(numbers(row["groups"]) for row in rows())) == GROUPS


def test_every_file_is_in_the_table_once() -> None:
    stored = {path.stem for path in [*VECTORS.glob("*.json"), *(VECTORS / "reference").glob("*.json")]}
    listed = [row["file"] for row in rows()]
    assert sorted(listed) == sorted(stored)


def test_files_hold_the_groups_that_the_table_says() -> None:
    for row in rows():
        own = VECTORS / f"{row['file']}.json"
        found: set[int] = set()
        for case in json.loads(own.read_text(encoding="utf-8")) if own.exists() else []:
            group = case.get("group", 0)
            found |= set(group) if isinstance(group, list) else {group}
        assert found - {0} == numbers(row["groups"]), row


def test_named_tests_read_their_file() -> None:
    for row in rows():
        for side, root in (("rust", ROOT / "rust"), ("python", ROOT / "tests")):
            named = re.findall(r"`([\w/]+\.(?:rs|py))`", row[side])
            if not named:
                assert row[side].startswith("none: "), row
            for name in named:
                source = (root / name).read_text(encoding="utf-8")
                assert re.search(rf'["/]{row["file"]}(\.json)?"', source), (row["file"], name)
