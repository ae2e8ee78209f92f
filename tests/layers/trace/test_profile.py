"""The level `profile`: sums of what the level `all` has row by row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
from layers.trace.conftest import Traced

import headrace.trace

SUMMED = ("count", "bytes")


def work_on_a_file() -> None:
    with h5py.File("x.h5", "w") as f:
        chunked = f.create_dataset("chunked", (40, 1000), chunks=(1, 1000), compression=1)
        plain = f.create_dataset("plain", (40, 1000))
        for i in range(40):
            chunked[i] = np.arange(1000) + i
            plain[i, ::3] = chunked[i, ::3]
            f.attrs[f"a{i % 3}"] = i
        for i in range(20):
            f.create_group(f"g{i}").attrs["n"] = i
    with h5py.File("x.h5") as f:
        names: list[str] = []
        f.visit(names.append)  # with calls within one
        f.visititems(lambda name, each: names.append(f"{name} {len(each.attrs)}"))
        sums = [f["chunked"][...].sum(), f["plain"][...].sum()]
        try:
            f["nowhere"]
        except KeyError:
            print(len(names), *sums)


def sums_of(trace: headrace.trace.Trace, of: str, by: tuple[str, ...]) -> Counter[object]:
    sums: Counter[object] = Counter()
    for row in getattr(trace, of).to_pylist():
        for name in (*SUMMED, "length"):
            sums[(*(row[each] for each in by), name)] += row.get(name, 0)
    return sums


@pytest.fixture
def profiled(layer: Traced) -> headrace.trace.Trace:
    layer.python(work_on_a_file, "output=sums;level=profile;")
    return headrace.trace.open(layer.folder / "sums")


def test_sums_are_those_of_all_rows(layer: Traced, profiled: headrace.trace.Trace) -> None:
    layer.python(work_on_a_file)
    whole = layer.read()
    by = ("call", "path", "attribute", "failed", "line", "collective")
    assert sums_of(profiled, "calls", by) == sums_of(whole, "calls", by)
    of_requests = ("request", "file", "type", "failed")
    assert sums_of(profiled, "requests", of_requests) == sums_of(whole, "requests", of_requests)
    assert len(profiled.calls) < len(whole.calls) / 2


def test_requests_are_those_of_their_calls(layer: Traced, profiled: headrace.trace.Trace) -> None:
    layer.python(work_on_a_file)

    def written_by_path(trace: headrace.trace.Trace) -> Counter[str]:
        (seat,) = trace.seats
        known = seat.process.objects
        paths = [known[int(i)]["path"] if i else "" for i in seat.calls["object"]]
        written: Counter[str] = Counter()
        for row, kind, length in zip(
            seat.owner, seat.requests["kind"], seat.requests["length"], strict=True
        ):
            if row >= 0 and kind == 1:
                written[paths[row]] += int(length)
        return written

    found = written_by_path(profiled)
    assert found == written_by_path(layer.read())
    assert len(found) > 1


def test_times_are_those_of_the_calls_alone(layer: Traced) -> None:
    def iterate_slowly() -> None:
        import time  # noqa: PLC0415

        with h5py.File("x.h5", "w") as f:
            for i in range(5):
                f.create_group(f"g{i}")

            def look(name: str) -> None:
                time.sleep(0.02)
                with h5py.File(f"{name}.h5", "w", driver="core", backing_store=False):
                    time.sleep(0.02)

            begin = time.monotonic()
            f.visit(look)
            Path("seconds").write_text(str(time.monotonic() - begin))

    layer.python(iterate_slowly, "output=traced;level=profile;")
    took = float((layer.folder / "seconds").read_text())
    (seat,) = layer.read().seats
    assert 0.1 < seat.own.sum() < took + 0.1, "calls within calls are counted once"


def write_until_there_are_many() -> None:
    def high_water() -> int:
        with Path("/proc/self/status").open() as lines:
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (1000,))
        for i in range(20_000):
            d[i % 1000] = i
        before = high_water()
        for i in range(30_000):
            d[i % 1000] = i
        print(high_water() - before)


@pytest.mark.long
def test_a_long_run_takes_no_more_memory_and_little_space(layer: Traced) -> None:
    done = layer.python(write_until_there_are_many, "output=traced;level=profile;")
    assert int(done.out) < 2048
    (file,) = layer.output.iterdir()
    assert file.stat().st_size < 100_000
    calls = layer.read().calls.to_pylist()
    writes = sum(each["count"] for each in calls if each["call"] == "dataset_write")
    assert writes == 50_000
