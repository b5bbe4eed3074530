"""Plans and results as values, text and HTML."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.maintenance import Plan, Result
from icefloe.table.maintenance.display import bytes_text, rows_as_text


@dataclass(frozen=True)
class Sweep(Plan):
    verb: ClassVar[str] = "sweep"
    count: int

    is_empty = False
    file_count = 0
    total_bytes = 0

    def summary(self):
        return f"sweep {self.count} <files>"

    def rows(self):
        return pa.table({"file": [f"f{number}" for number in range(self.count)], "reason": ["a & b"] * self.count})

    def as_dict(self):
        return {"count": self.count}


@dataclass(frozen=True)
class Swept(Result):
    verb: ClassVar[str] = "sweep"

    def summary(self):
        return "swept"

    def as_dict(self):
        return {}


def test_plan_is_shown_with_its_first_rows():
    assert str(Sweep(2)) == "sweep 2 <files>\nfile  reason\nf0    a & b\nf1    a & b"
    lines = str(Sweep(23)).splitlines()
    assert len(lines) == 23
    assert lines[-1] == "and 3 more rows"


def test_times_and_flags_of_a_plan_are_shown_in_words():
    rows = pa.table({"at": pa.array([1500], pa.timestamp("ms", "UTC")), "expires": [True], "size": [None]})
    assert rows_as_text("plan", rows).splitlines()[1:] == [
        "at                        expires  size",
        "1970-01-01T00:00:01.500Z  yes",
    ]


def test_plan_without_rows_is_its_summary():
    assert str(Sweep(0)) == "sweep 0 <files>"
    assert Sweep(0)._repr_html_() == "<p>sweep 0 &lt;files&gt;</p>"


def test_html_of_a_plan_is_escaped():
    assert Sweep(1)._repr_html_() == (
        "<p>sweep 1 &lt;files&gt;</p><table><thead><tr><th>file</th><th>reason</th></tr></thead>"
        "<tbody><tr><td>f0</td><td>a &amp; b</td></tr></tbody></table>"
    )


def test_result_is_shown_as_its_summary():
    assert str(Swept()) == "swept"


@pytest.mark.parametrize(("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 30, "5.0 GiB")])
def test_sizes_have_binary_units(size, text):
    assert bytes_text(size) == text


def test_plan_of_an_unknown_verb_is_refused(new_table):
    with pytest.raises(ValidationError, match="plan of 'sweep': the table has no such maintenance verb"):
        new_table().maintenance.execute(Sweep(1))
