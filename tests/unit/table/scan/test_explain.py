import html.parser
import io

import pytest
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def found(explained):
    return dict(explained.lines())


def test_explain_reports_skipped_files_with_reasons(new_table):
    table = new_table(BY_KIND)
    explained = table.scan("kind = 'a' and id = 1").explain()
    assert explained.counters["files_planned"] == 1
    assert explained.counters["files_skipped_by_partition"] + explained.counters["files_skipped_by_metrics"] >= 3
    assert "kind = 'a'" in str(explained)
    assert found(explained)["data files"].startswith("1 of ")
    assert "skipped by" in found(explained)["data files"]
    assert found(explained)["columns"] == "id, kind, value"
    assert explained.splits == 1


def test_explain_reads_row_groups_rows_and_bytes_from_footers(new_table):
    table = new_table()
    explained = table.scan(selected_fields=("id", "_pos")).explain()
    size = sum(table.inspect.files().column("file_size_in_bytes").to_pylist())
    assert explained.footers.row_groups == explained.footers.row_groups_kept == 2
    assert explained.footers.rows_selected == 6
    assert 0 < explained.footers.bytes_to_read < size
    assert found(explained)["columns"] == "id, _pos"
    assert found(explained)["row groups"] == "2 of 2 to read"
    without = table.scan().explain(footers=False)
    assert without.footers is None
    assert "row groups" not in found(without)
    assert found(without)["rows"] == "at most 6"


def test_explain_without_footers_reads_no_data_file(new_table):
    table = new_table()
    for path in table.inspect.files().column("file_path").to_pylist():
        table.io.core.delete(path)
    assert table.scan().explain(footers=False).counters["files_planned"] == 2


def test_explain_counts_delete_files_by_kind_and_data_file(new_table):
    table = new_table(properties={"write.delete.mode": "merge-on-read", "write.delete.granularity": "partition"})
    for row_filter in ("id = 1", "id = 2", "id = 4"):
        table.delete(row_filter)
    deletes = table.scan().explain().deletes
    assert (deletes.by_position, deletes.by_key, deletes.data_files) == (3, 0, 2)
    assert (deletes.most, deletes.median) == (2, 1)
    assert deletes.size > 0
    text = found(table.scan().explain())["delete files"]
    assert (
        text
        == "3 of 3 to apply; 3 position delete files; 2 data files affected: median 1 and at most 2 delete files each"
    )


def test_explain_covers_appended_files(new_table):
    table = new_table()
    first = table.snapshots()[0].snapshot_id
    explained = table.incremental_append_scan(from_snapshot_id_exclusive=first).explain()
    assert (explained.counters["files_planned"], explained.splits) == (1, 1)
    assert explained.footers.rows_selected == 3


def test_explain_shows_all_rows_without_a_filter_and_cuts_a_long_one(new_table):
    table = new_table()
    assert found(table.scan().explain())["filter"] == "all rows"
    many = f"id in ({', '.join(map(str, range(1000)))})"
    explained = table.scan(many).explain()
    assert explained.row_filter == many
    assert found(explained)["filter"] == f"{many[:600]}... ({len(many):,} characters)"


def test_explain_names_the_first_of_many_columns(catalog):
    import pyarrow as pa

    schema = pa.schema([(f"column_{place}", pa.int64()) for place in range(22)])
    explained = catalog.create_table("db.wide", schema).scan().explain()
    assert found(explained)["columns"].endswith("column_18, column_19 and 2 more")
    assert len(explained.columns) == 22


def test_explain_covers_a_table_without_snapshots(catalog):
    import pyarrow as pa

    explained = catalog.create_table("db.none", pa.schema([("id", pa.int64())])).scan().explain()
    assert "no snapshot" in str(explained)
    assert found(explained)["data files"] == "0 of 0 to read"


class Balanced(html.parser.HTMLParser):
    """A parser that collects text and fails on a tag that is not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("text", ["kind = '<script>alert(1)</script>'", "kind = '\"&amp;'"])
def test_explain_escapes_html(new_table, text):
    table = new_table()
    shown = table.scan(text).explain()._repr_html_()
    reader = Balanced()
    reader.feed(shown)
    assert reader.open == []
    assert "<script" not in shown
    assert str(table.scan(text).row_filter) in "".join(reader.text)


def test_explain_prints_a_tree(new_table):
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=120).print(new_table().scan("id > 2").explain())
    assert "data manifests: " in out.getvalue()
    assert "└──" in out.getvalue()
