"""What run.py does."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from bench.common.evidence import RunError
from bench.cost import page, reference
from bench.cost.count import Counts, count, least
from bench.cost.judge import judge, text
from bench.cost.reference import Reference
from bench.cost.stacks import BUILD, HDF5S, NAMES, NATIVE, Hdf5, varies

RUNS = 3  # at most, before an operation is said to be dearer
_AT_ONCE = 2


def main() -> int:
    """Status 1 when an operation has become dearer."""
    parser = argparse.ArgumentParser(prog="bench/cost/run.py", description="See README.md.")
    parser.add_argument("--only", nargs="+", default=NAMES, choices=NAMES, metavar="STACK")
    parser.add_argument("--hdf5", choices=[each.version for each in HDF5S], help="one of them")
    parser.add_argument(
        "--write", action="store_true", help="make the reference, and the tables of README.md"
    )
    given = parser.parse_args()
    if given.write and (given.only is not NAMES or given.hdf5):
        parser.error("a reference has all stacks and every HDF5")
    hdf5s = [each for each in HDF5S if given.hdf5 in (None, each.version)]
    try:
        build()
        return write() if given.write else compare(hdf5s, given.only)
    except RunError as error:
        print(error, file=sys.stderr)
        return 2


def build() -> None:
    """The plug-ins and programs that are counted; RunError tells what failed."""
    command = ["cmake", "--build", str(BUILD), "--target", "headrace_plugins", "headrace_cost"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RunError(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-4000:]}")


def write() -> int:
    """Counts everything. Raises RunError."""
    keys = [(hdf5, name) for hdf5 in HDF5S for name in NAMES]
    runs = _at_once([key for key in keys for _ in range(RUNS if varies(key[1]) else 1)])
    counted = {key: least([run for of, run in runs if of == key]) for key in keys}
    made = Reference(
        {
            hdf5.version: {
                name: reference.reduced(counted[hdf5, name], counted[hdf5, NATIVE])
                for name in NAMES
            }
            for hdf5 in HDF5S
        }
    )
    reference.save(made)
    page.write(made)
    return 0


def _at_once(keys: Sequence[tuple[Hdf5, str]]) -> list[tuple[tuple[Hdf5, str], Counts]]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(zip(keys, pool.map(lambda key: count(*key), keys), strict=True))


def compare(hdf5s: Sequence[Hdf5], names: Sequence[str]) -> int:
    """Prints what has changed. Raises RunError."""
    keys = [(hdf5, name) for hdf5 in hdf5s for name in names]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda key: verdict(*key), keys))
    print("\n".join(each for _, each in found if each) or "nothing is dearer, nothing cheaper")
    return int(any(dearer for dearer, _ in found))


def verdict(hdf5: Hdf5, name: str) -> tuple[bool, str]:
    """Whether an operation under the stack has become dearer in each of some runs, and what to say.

    Raises RunError.
    """
    known = reference.load()
    native = _native(hdf5)
    runs = [native if name == NATIVE else count(hdf5, name)]
    while True:
        found = judge(hdf5.version, name, least(runs), native, known)
        if not found.dearer or len(runs) == RUNS:
            return bool(found.dearer), text(hdf5.version, name, found)
        runs.append(count(hdf5, name))


@cache
def _native(hdf5: Hdf5) -> Counts:
    return count(hdf5, NATIVE)
