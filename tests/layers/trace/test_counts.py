"""What a trace tells of bytes and calls is what others count of the same run.

Of kernels that is their own ledger, the layer `model` below and, for serial ones, strace; of random
programs what NumPy says of their selections.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import NATIVE_BELOW
from harness.ranks import launch
from harness.run import run
from harness.seed import LONG, SEED
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from kernels.bench_tool import SERIAL, program
from kernels.test_all_kernels import E3SM, RUNS, options
from layers.trace import counting
from layers.trace.conftest import Traced

from headrace.trace import Trace
from headrace.trace.model.seats import Seat

BELOW = f"under_vol=7202;under_info={{ledger=ledgers;{NATIVE_BELOW}}}"  # the layer `model`
# Datasets that kernels write, but not as their payload.
BESIDE = {
    "amrex": r"/(boxes|boxcenter|data:offsets=0)$",
    "cgns": r"^/ |/(CGNSLibraryVersion|Base 1|Zone 1|ZoneType|Elements|ElementRange)/ data$",
    "sw4": r"^/(Grid|ESSI|time)",
}
# What is read between writes is no payload of either side: as often as afterwards.
READ_TWICE = {"files-open-close"}
# Kernels count the letters of such texts, of which HDF5 passes on where they are.
LETTERS = {"h5py-strings-variable"}


@dataclass(frozen=True)
class Counted:
    """A run of a kernel; `serial` was under strace."""

    folder: Path
    trace: Trace
    samples: list[dict[str, Any]]
    serial: bool


def chosen(kernel: str, ranks: int) -> list[str]:
    """Over MPI the atmosphere's cases make requests of more pieces than a trace tells apart."""
    if kernel == "e3sm" and ranks:
        return ["--data", str(E3SM), "--only", "g-[!r]*"]
    return options(kernel)


def run_of(kernel: str, ranks: int, layer: Traced) -> Counted:
    folder = layer.folder
    library = str(SERIAL.prefix / "lib/libhdf5.so")
    before = launch(SERIAL, ranks) if ranks else [*counting.STRACE, folder / "strace"]
    done = run(
        [*before, program(), "--hdf5", library, "--dir", folder, "--samples", folder / "samples",
         kernel, "--quick", *chosen(kernel, ranks)],
        env=layer.env(HEADRACE_LOG_LEVEL="warning"), cwd=folder, limit=120,
    )  # fmt: skip
    assert done.status == 0, done.text
    loads = {load["seat"] for load in layer.loads if load["name"].startswith("headrace_trace")}
    assert loads == {"vol", "vfd"}
    assert layer.log == ""
    told = (folder / "samples").read_text().splitlines()
    return Counted(folder, layer.read(), [json.loads(line) for line in told], ranks == 0)


def payload(kernel: str, seat: Seat) -> Counter[tuple[str, str]]:
    """Bytes of values that were moved, by the case and direction."""
    known, calls = seat.process, seat.calls
    first = seat.process.rank <= 0
    found: Counter[tuple[str, str]] = Counter()
    for side, data, attributes in (
        ("written", "dataset_write", "attr_write"),
        ("read", "dataset_read", "attr_read"),
    ):
        # Of what all ranks write together, kernels count the first one's.
        once = kernel in {"files", "metadata"} and (first or side == "read")
        counted = seat.are((data, attributes) if once else (data,))
        columns = (
            calls[name][counted].tolist() for name in ("object", "bytes", "file_shape", "name")
        )
        for object_, size, shape, attribute in zip(*columns, strict=True):
            about = known.objects[object_]
            case = Path(known.files[about["file"]]["name"]).parent.name.removesuffix(".partial")
            if not first and side == "written" and re.fullmatch("metadata-.*-same", case):
                continue
            if re.search(BESIDE.get(kernel, "$^"), about["path"]):
                continue
            layout = None if attribute else known.datasets.get(object_)
            # Memory has gaps in it, or the dataset has more members than are moved.
            stored = known.shapes[shape]["elements"] * layout["type"]["size"] if layout else size
            found[case, side] += min(size, stored)
    return found


def callbacks_of(trace: Trace) -> Counter[str]:
    """How often each callback was called; of several rows of one call it is one."""
    found: Counter[str] = Counter()
    for process in trace.processes:
        calls = dict(
            zip(process.calls["number"].tolist(), process.calls["callback"].tolist(), strict=True)
        )
        found.update(process.callbacks[each] for each in calls.values())
    return found


@pytest.mark.share(10)
@pytest.mark.parametrize(("kernel", "ranks"), RUNS)
def test_kernels(kernel: str, ranks: int, tmp_path: Path) -> None:
    counted = run_of(kernel, ranks, Traced(tmp_path, below=BELOW))
    found: Counter[tuple[str, str]] = Counter()
    for seat in counted.trace.seats:
        found += payload(kernel, seat)
    for sample in counted.samples:
        case = f"{sample['kernel']}-{sample['case']}"
        if case not in LETTERS:
            expected = {
                side: sample["bytes"][side] * sample["rounds"] for side in ("written", "read")
            }
            if case in READ_TWICE:
                expected["read"] *= 2
            assert {side: found[case, side] for side in expected} == expected, case
    requests = counting.traced(counted.trace)
    assert requests == counting.in_ledgers(tmp_path / "ledgers")
    assert sum(map(len, requests.values())) > 0
    if counted.serial:
        system_calls = counting.in_system_calls(tmp_path / "strace", tmp_path)
        moved = counting.moved(requests)
        assert moved == {name: system_calls.get(name) for name in moved}
    told = callbacks_of(counted.trace)
    reported = counting.callbacks_in(tmp_path / "report")
    assert told == Counter({name: reported[name] for name in told})
    assert {"file_create", "file_open", "file_close"} <= told.keys()


SHAPE = (12, 30)
KINDS = ("i1", "i4", "f8", "c16")
LAYOUTS: tuple[dict[str, Any], ...] = (
    {},
    {"chunks": (5, 7)},
    {"chunks": (4, 30), "compression": 1},
)
Slice = tuple[int, int, int]


def slices(length: int) -> st.SearchStrategy[Slice]:
    """None that is empty: those make no calls of the layer that move anything."""
    return st.tuples(st.integers(0, length - 1), st.integers(1, length), st.integers(1, 4)).map(
        lambda drawn: (drawn[0], min(drawn[0] + drawn[1], length), drawn[2])
    )


STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "read", "attribute", "reopen", "flush"]),
              st.integers(0, 11), slices(SHAPE[0]), slices(SHAPE[1])),
    min_size=1, max_size=25,
)  # fmt: skip


def take_steps(steps: list[tuple[str, int, Slice, Slice]]) -> None:
    """Tells by NumPy's shapes how many bytes each dataset's reads and writes have moved."""
    f = h5py.File("x.h5", "w")
    moved: dict[str, int] = {}
    memory = {}
    for i in range(12):
        kind, layout = KINDS[i % 4], LAYOUTS[i // 4]
        f.create_dataset(f"d{i}", SHAPE, kind, **layout)
        memory[f"d{i}"] = np.zeros(SHAPE, kind)
    for step, (action, which, rows, columns) in enumerate(steps):
        name, place = f"d{which}", (slice(*rows), slice(*columns))
        if action == "write":
            memory[name][place] = step
            f[name][place] = memory[name][place]
        elif action == "read":
            found = f[name][place]
            assert (found == memory[name][place]).all()
        elif action == "attribute":
            f[name].attrs[f"a{step}"] = np.arange(which + 1)
        elif action == "flush":
            f.flush()
        else:
            f.close()
            f = h5py.File("x.h5", "r+")
        if action in ("read", "write"):
            key = f"{action} /{name}"
            moved[key] = moved.get(key, 0) + memory[name][place].nbytes
        if action == "attribute":
            moved[f"attributes /{name}"] = moved.get(f"attributes /{name}", 0) + 8 * (which + 1)
    f.close()
    print(json.dumps(moved))


@settings(
    max_examples=100 if LONG else 8,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@seed(SEED)
@given(steps=STEPS)
def test_random_programs(
    steps: list[tuple[str, int, Slice, Slice]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    layer = Traced(tmp_path_factory.mktemp("random"), below=BELOW)
    expected = Counter[str](json.loads(layer.python(partial(take_steps, steps)).out))
    trace = layer.read()
    found: Counter[str] = Counter()
    for row in trace.calls.to_pylist():
        kind, _, action = row["call"].partition("_")
        if action in ("read", "write") and kind == "dataset":
            found[f"{action} {row['path']}"] += row["bytes"]
        elif row["call"] == "attr_write":
            found[f"attributes {row['path']}"] += row["bytes"]
    assert found == expected
    assert counting.traced(trace) == counting.in_ledgers(layer.folder / "ledgers")
    told = callbacks_of(trace)
    reported = counting.callbacks_in(layer.folder / "report")
    assert told == Counter({name: reported[name] for name in told})
