"""The frozen values of the package."""

from __future__ import annotations

import threading
import time

from icefloe.typedef import JsonModel
from pydantic_core import core_schema


class SlowToBuild:
    """A type whose validator takes time to build, and that counts its builds."""

    builds = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, _source, _handler):
        cls.builds += 1
        time.sleep(0.05)
        return core_schema.int_schema()


class Value(JsonModel):
    number: SlowToBuild


def test_model_that_threads_use_first_at_the_same_time_is_built_once():
    barrier, found = threading.Barrier(8), []

    def use(number):
        barrier.wait()
        found.append(Value(number=number).model_dump_json())

    threads = [threading.Thread(target=use, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [f'{{"number":{number}}}' for number in range(8)]
    assert SlowToBuild.builds == 1
