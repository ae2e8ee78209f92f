"""mode=delay: requests take as long as the model says, and never less than they really do."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest

if TYPE_CHECKING:
    from layers.model.conftest import Model


def time_four_chunks() -> None:
    begin = time.monotonic()
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (4, 1000), "f8", chunks=(1, 1000))
        for i in range(4):
            d[i] = np.full(1000, i, "f8")
            f.flush()
    print(time.monotonic() - begin)


@pytest.mark.parametrize("settings", ["latency=20ms", "latency=2ms;bandwidth=200000"])
def test_each_request_takes_its_time(model: Model, settings: str) -> None:
    full = f"mode=delay;preset=none;{settings};ledger=ledgers"
    took = float(model.python(time_four_chunks, full).out)
    options = [word for part in settings.split(";") for word in f"--{part}".split("=")]
    (result,) = model.replay(*model.ledgers, "--preset", "none", *options)["results"]
    assert result["seconds"] > 0.1
    assert took >= result["seconds"]


def test_without_delay_it_is_fast(model: Model) -> None:
    assert float(model.python(time_four_chunks, "preset=none;latency=1s").out) < 1


def write_ten_chunks(name: str) -> None:
    with h5py.File(name, "w") as f:
        d = f.create_dataset("d", (10, 100), "f8", chunks=(1, 100))
        for i in range(10):
            d[i] = i


def test_processes_wait_for_each_other(model: Model) -> None:
    """Two processes on one server take as long as the requests of both."""
    settings = "mode=delay;preset=none;servers=1;latency=20ms;shared=queues;summary=summary"
    begin = time.monotonic()
    children = [model.background(partial(write_ten_chunks, f"x{n}.h5"), settings) for n in range(2)]
    assert [child.wait(60) for child in children] == [0, 0]
    took = time.monotonic() - begin
    requests = sum(each["writes"]["requests"] for each in model.summaries)
    assert requests >= 20
    assert took >= requests * 0.02
    assert model.log == ""


def test_a_file_of_somebody_else_is_left_alone(model: Model) -> None:
    for content in (b"precious", bytes(1000000)):
        (model.folder / "queues").write_bytes(content)
        model.python(time_four_chunks, "mode=delay;preset=none;latency=1ms;shared=queues")
        assert (model.folder / "queues").read_bytes() == content
        told = f"the shared queues {model.folder}/queues cannot be used (it is some other file)"
        assert told in model.log
