"""Record batches as Arrow IPC streams, which travel with tasks."""

import pyarrow as pa
import pytest
from icefloe.table.scan import task_group
from icefloe.table.scan.task_group import batch_from_ipc, batch_to_ipc

BATCH = pa.record_batch(
    {"n": [[0], [1, 2], None, [3]], "texts": [["a"], ["bc", None], [], ["d", "e", "f"]]},
    schema=pa.schema([("n", pa.list_(pa.int64())), ("texts", pa.list_(pa.string()))], metadata={"key": "value"}),
)


@pytest.mark.parametrize("writes_offsets_from_zero", [True, False])
@pytest.mark.parametrize("start", [0, 1, 3, 4])
def test_slice_of_a_batch_is_written_and_read(monkeypatch, start, writes_offsets_from_zero):
    monkeypatch.setattr(task_group, "_WRITES_OFFSETS_FROM_ZERO", writes_offsets_from_zero)
    sliced = BATCH.slice(start)
    found = batch_from_ipc(batch_to_ipc(sliced))
    assert found.equals(sliced, check_metadata=True)


def test_slice_is_copied_for_a_pyarrow_that_writes_its_offsets(monkeypatch):
    """Offsets of lists begin at zero in the batch that such a pyarrow is given."""
    written = []

    class Recording(pa.RecordBatchStreamWriter):
        def write_batch(self, batch):
            written.append(batch)
            super().write_batch(batch)

    def recording(sink, schema):
        return Recording(sink, schema)

    monkeypatch.setattr(task_group, "_WRITES_OFFSETS_FROM_ZERO", False)
    monkeypatch.setattr(pa.ipc, "new_stream", recording)
    batch_to_ipc(BATCH.slice(1))
    [batch] = written
    assert [column.offsets[0].as_py() for column in batch.columns] == [0, 0]
