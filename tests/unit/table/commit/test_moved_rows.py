"""Rewrites that move rows to another partition spec, beside concurrent deletes by key."""

import pytest
from icefloe.exceptions import ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.table.write.equality_deletes import write_equality_deletes
from icefloe.transforms import IdentityTransform

BY_KIND = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "kind"))


def repartitioned(table, *columns):
    """Replace the partition spec by one of other columns."""
    with table.update_spec() as update:
        for field in table.spec().fields:
            update.remove_field(field.name)
        for column in columns:
            update.add_identity(column)
    return table


def rewrite_beside_deletes(catalog, rows, spec_id, key=1):
    """Delete a row by its key in files of a partition spec, while another handle rewrites all rows; return the rewriting handle."""
    writer, rewriter = catalog.load_table("db.t"), catalog.load_table("db.t")
    read = rewriter.current_snapshot()
    paths = sorted(set(rewriter.scan(selected_fields=("_file",)).to_arrow().column("_file").to_pylist()))
    new = rewriter.transaction().target().writer.data_files(rewriter.scan().to_arrow())
    files = write_equality_deletes(writer.io, writer.metadata, rows((key, "a", None)), [1], spec_id=spec_id)
    writer.new_row_delta().add_deletes(files[0]).commit()
    rewrite = rewriter.new_rewrite().validate_from_snapshot(read.snapshot_id).delete(paths).append(new)
    rewrite.data_sequence_number(read.sequence_number).commit()
    return rewriter


def ids(catalog):
    return sorted(catalog.load_table("db.t").scan().to_arrow().column("id").to_pylist())


def test_rewrite_to_another_spec_conflicts_with_deletes_by_key_that_do_not_apply_there(catalog, new_table, rows):
    repartitioned(new_table(BY_KIND), "id")
    with pytest.raises(ValidationException, match="deleted rows of files that this operation replaces"):
        rewrite_beside_deletes(catalog, rows, 0)
    assert ids(catalog) == [2, 3, 4, 5, 6]


def test_rewrite_within_a_spec_keeps_rows_deleted_by_key(catalog, new_table, rows):
    new_table(BY_KIND)
    rewrite_beside_deletes(catalog, rows, 0)
    assert ids(catalog) == [2, 3, 4, 5, 6]


def test_rewrite_to_another_spec_keeps_rows_deleted_by_key_in_every_partition(catalog, new_table, rows):
    repartitioned(repartitioned(new_table(BY_KIND)), "id")
    rewrite_beside_deletes(catalog, rows, 1)
    assert ids(catalog) == [2, 3, 4, 5, 6]


def test_rewrite_to_another_spec_conflicts_with_deletes_by_key_that_apply_only_there(catalog, new_table, rows):
    repartitioned(new_table(BY_KIND), "id")
    before = ids(catalog)
    with pytest.raises(ValidationException, match="deleted keys of partitions to which this operation moves rows"):
        rewrite_beside_deletes(catalog, rows, 1)
    assert ids(catalog) == before


def test_rewrite_of_mixed_specs_conflicts_with_deletes_by_key_of_one_of_them(catalog, new_table, rows):
    table = repartitioned(new_table(BY_KIND), "id")
    table.append(rows((7, "a", None)))
    before = ids(catalog)
    with pytest.raises(ValidationException, match="deleted keys of partitions to which this operation moves rows"):
        rewrite_beside_deletes(catalog, rows, 1)
    assert ids(catalog) == before


def test_rewrite_to_another_spec_allows_deletes_by_key_in_other_partitions(catalog, new_table, rows):
    repartitioned(new_table(BY_KIND), "id")
    before = ids(catalog)
    rewrite_beside_deletes(catalog, rows, 1, key=100)
    assert ids(catalog) == before


@pytest.mark.parametrize(("spec_id", "problem"), [(0, "deleted rows of files"), (1, "deleted keys of partitions")])
def test_rewrite_to_another_spec_conflicts_with_deletes_of_its_own_transaction(
    catalog, new_table, rows, spec_id, problem
):
    table = repartitioned(new_table(BY_KIND), "id")
    before, read = ids(catalog), table.current_snapshot()
    paths = sorted(set(table.scan(selected_fields=("_file",)).to_arrow().column("_file").to_pylist()))
    new = table.transaction().target().writer.data_files(table.scan().to_arrow())
    transaction = table.transaction()
    for file in write_equality_deletes(table.io, table.metadata, rows((1, "a", None)), [1], spec_id=spec_id):
        transaction.new_row_delta().add_deletes(file).commit()
    rewrite = transaction.new_rewrite().delete(paths).append(new).data_sequence_number(read.sequence_number)
    with pytest.raises(ValidationException, match=f"an earlier change of this transaction {problem}"):
        rewrite.commit()
    assert ids(catalog) == before


def test_compaction_of_several_specs_allows_deletes_by_key_of_a_partition_that_only_keeps_its_rows(
    catalog, new_table, rows
):
    table = repartitioned(new_table(BY_KIND), "id")
    table.append(rows((100, "a", None)))
    table.append(rows((100, "b", None)))
    compaction = table.maintenance.rewrite_data_files().options(rewrite_all=True)
    plan = compaction.plan()
    writer = catalog.load_table("db.t")
    files = write_equality_deletes(writer.io, writer.metadata, rows((100, "a", None)), [1, 2], spec_id=1)
    writer.new_row_delta().add_deletes(files[0]).commit()
    result = compaction.execute(plan)
    assert (len(result.snapshot_ids), result.failed_data_files_count) == (1, 0)
    assert ids(catalog) == [1, 2, 3, 4, 5, 6, 100]
