"""The session of calls that name none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.session import active_session


def test_active_session_is_found_in_other_threads(spark):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(active_session).result() is spark


@pytest.mark.parametrize("value", ["local[2]", 5, object])
def test_active_session_refuses_what_is_no_session(value):
    with pytest.raises(ValidationError, match="spark: expected a SparkSession, got "):
        active_session(value)
