"""Kernels leave under each stack what they leave natively, as a reader without plug-ins sees it."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
from harness.prefix import Hdf5
from harness.run import run as run_program
from harness.stack import CLEAN
from kernels.bench_tool import SERIAL, Bench
from kernels.expected import Array
from kernels.test_all_kernels import E3SM, KERNELS, SERIAL_ONLY, under
from kernels.test_vpic import STRIDED
from kernels.test_vpic import written as written_by_vpic

Options = tuple[object, ...]
Contents = dict[str, Any]
Natively = Callable[[str, int, str, Options], dict[str, Contents]]

# Ranks -> stacks. With a budget large writes are staged, too.
STACKS = {
    0: ["async", "async(budget=64MiB)", "log", "async,log", "log(canonicalise=later)"],
    2: [
        "async(mpi_staging=true)",
        "log(mpi_logs=rank)",
        "async(mpi_staging=true),log(mpi_logs=rank)",
        "log(mpi_logs=rank,canonicalise=later)",
    ],
}


class Run(NamedTuple):
    kernel: str
    ranks: int
    stack: str


RUNS = [
    Run(kernel, ranks, stack)
    for ranks, stacks in STACKS.items()
    for stack in stacks
    for kernel in KERNELS
    if not (ranks and kernel in SERIAL_ONLY)
]
SLOW_PARTICLES = 4000
VPIC = ("--slow-particles", SLOW_PARTICLES, "--uneven", *STRIDED)
# All cases of some kernels take long.
USUAL: dict[str, Options] = {
    "e3sm": ("--only", "g-[bc]*-independent"),
    "iotest": ("--gzip", "0,6"),
    "ml": ("--only", "*-union"),
    "vpic": VPIC,
}
WHOLE: dict[str, Options] = {
    "iotest": ("--fill-values", "all", "--gzip", "0,6", "--libver-bound-low", "earliest,latest"),
    "vpic": VPIC,
}
# Of the others all is long rows or whole blocks.
LOGGED = {0: {"e3sm", "vpic"}, 2: set(KERNELS) - {"bdcats", "hacc", "ior"}}
REPLAY = """
import sys, h5py
for name in sys.argv[1:]:
    h5py.File(name, "r+").close()
"""


def name_of(run: Run) -> str:
    return "-".join(map(str, run))


def contents(path: Path, places: Array | None) -> Contents:
    """Objects by name: type, shape, storage, and a digest of the data; attributes, too."""
    made: Contents = {}

    def add(name: str, thing: h5py.Group | h5py.Dataset | h5py.Datatype) -> None:
        made[name] = {key: digest(np.asarray(value)) for key, value in sorted(thing.attrs.items())}
        if isinstance(thing, h5py.Dataset):
            data = thing[()] if places is None else thing[()][places]
            made[name] |= {"/shape": (thing.shape, thing.maxshape), "/storage": storage(thing)}
            made[name]["/data"] = (repr(thing.dtype), digest(np.asarray(data)))

    with h5py.File(path) as file:
        add("/", file)
        file.visititems(add)
    return made


def storage(dset: h5py.Dataset) -> Any:
    plist = dset.id.get_create_plist()
    filters = [plist.get_filter(number) for number in range(plist.get_nfilters())]
    return plist.get_layout(), dset.chunks, filters, plist.get_fill_time()


def digest(data: Any) -> str:
    raw = repr(data.tolist()).encode() if data.dtype.hasobject else data.tobytes()
    return f"{data.dtype} {data.shape} {hashlib.sha256(raw).hexdigest()}"


def left_by(bench: Bench, kernel: str, options: Options) -> dict[str, Contents]:
    """What a run leaves, file by file."""
    data = ("--data", E3SM) if kernel == "e3sm" else ()
    samples = bench.samples(kernel, "--quick", "--keep", *data, *options, limit=300)
    settle(bench)
    made: dict[str, Contents] = {}
    for case in [each["case"] for each in samples]:
        folder = bench.kept(kernel, case)
        before = len(made)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and h5py.is_hdf5(path):
                places = written(kernel, case, bench.ranks)
                made[f"{case}/{path.relative_to(folder)}"] = contents(path, places)
        assert len(made) > before, f"case {case} left no file"
    return made


def written(kernel: str, case: str, ranks: int) -> Array | None:
    """What MPI may put between the blocks of collective writes is undefined; None for all."""
    if kernel == "vpic" and case == "strided-collective":
        return written_by_vpic(ranks, SLOW_PARTICLES, strided=True)
    return None


def settle(bench: Bench) -> None:
    """Opens each file that has logs for writing, under the stack."""
    files = [logs.with_suffix("") for logs in sorted(bench.folder.rglob("*.headrace"))]
    if files:
        assert "later" in bench.environ["HDF5_VOL_CONNECTOR"]
        command: list[str | Path] = [sys.executable, "-c", REPLAY, *files]
        done = run_program(command, env={**CLEAN, **bench.environ}, cwd=bench.folder)
        assert done.status == 0, done.text
    assert not list(bench.folder.rglob("*.headrace"))


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> Natively:
    """What a kernel leaves natively, run once."""

    @functools.cache
    def made(kernel: str, ranks: int, hdf5: str, options: Options) -> dict[str, Contents]:
        bench = Bench(tmp_path_factory.mktemp("native"), Hdf5(hdf5), ranks)
        return left_by(bench, kernel, options)

    return made


def did(bench: Bench) -> Counter[str]:
    """Files by seat, and statistics, of all that took part."""
    made: Counter[str] = Counter()
    for line in (bench.folder / "report.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["event"] == "file":
            made[f"{event['name'].removesuffix('_mpi')}, {event['seat']}"] += 1
        if event["event"] == "statistics":
            made.update(event["values"])
    return made


def compare(natively: Natively, run: Run, bench: Bench, options: Options) -> None:
    kernel, ranks, stack = run
    native = natively(kernel, ranks, bench.hdf5.name, options)
    bench = under(bench, stack)
    other = left_by(bench, kernel, options)
    assert other.keys() == native.keys()
    for name, there in native.items():
        assert other[name] == there, name
    done = did(bench)
    if "log" in stack:
        assert done["headrace_log, vol"] >= len(native), done
        assert done["writes_logged"] > 0 or kernel not in LOGGED[ranks], done
    if "async" in stack:
        assert min(done["headrace_async, vol"], done["headrace_async, vfd"]) >= len(native), done
        assert done["written_behind_bytes"] + done["writes_logged"] > 0, done
    if "budget" in stack:
        assert done["not_staged_bytes"] == 0, done


@pytest.mark.share(9)
@pytest.mark.parametrize("run", RUNS, ids=name_of)
def test_the_same_files(natively: Natively, run: Run, tmp_path: Path) -> None:
    bench = Bench(tmp_path, SERIAL, run.ranks)
    compare(natively, run, bench, USUAL.get(run.kernel, ()))


@pytest.mark.long
@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"])
@pytest.mark.parametrize("run", RUNS, ids=name_of)
def test_the_same_files_of_all_cases(
    natively: Natively, run: Run, hdf5: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path, Hdf5(hdf5), run.ranks)
    compare(natively, run, bench, WHOLE.get(run.kernel, ()))


def test_one_other_element_is_found(tmp_path: Path) -> None:
    """Which no kernel has to notice: in an attribute, or where nothing was written."""
    bench = Bench(tmp_path)
    before = left_by(bench, "vpic", (*VPIC, "--only", "strided-independent"))
    (name,) = before
    path = bench.kept("vpic", "strided-independent") / "data.h5"
    with h5py.File(path, "r+") as file:
        file["Timestep_1/px"][7] = 1
    after = contents(path, None)
    assert [one for one in after if after[one] != before[name][one]] == ["Timestep_1/px"]
