"""Shared vectors of corrupt manifest lists: errors contain the reason and the offset."""

import json
import re
from pathlib import Path

import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError, FeatureUnsupportedError

VECTORS = Path(__file__).parent.parent / "vectors" / "corrupt_manifest_list.json"


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text("utf-8")), ids=lambda case: case["note"])
def test_corrupt_manifest_list_is_an_error(tmp_path, case):
    path = tmp_path / "list.avro"
    path.write_bytes(bytes.fromhex(case["bytes"]))
    if "unsupported" in case:
        expected, message = FeatureUnsupportedError, re.escape(case["unsupported"])
    else:
        prefix = f"{case['what']} is corrupt at byte {case['at']}: "
        expected, message = CorruptFileError, re.escape(prefix) + ".*" + re.escape(case["reason"])
    with pytest.raises(expected, match=re.escape(str(path)) + ".*" + message):
        _core.read_manifest_list(_core.FileIo({}), str(path))
