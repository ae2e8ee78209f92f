"""Long runs: PYTHONPATH=tests python -m random_programs --programs 100000."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from harness.build import PLUGINS

from random_programs.compare import Arena, DifferenceError
from random_programs.run import drive
from random_programs.stacks import STACKS, native, stack, took_part


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))  # noqa: S311
    parser.add_argument("--stack", action="append", help=f"of {sorted(STACKS)}, or NAME:OPTIONS")
    parser.add_argument("--plugins", type=Path, default=PLUGINS)
    parser.add_argument("--length", type=int, default=14, help="least operations of a program")
    parser.add_argument(
        "--lost", type=int, default=0, help="programs to print that end native HDF5"
    )
    parser.add_argument("--folder", type=Path, required=True, help="for what is found, too")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    plain = native(folder)
    stacks = [stack(name, given.plugins, folder, plain) for name in given.stack or ["async"]]
    arena = Arena(plain, stacks, folder)
    begin = time.monotonic()
    status = 0
    with arena:
        try:
            drive(arena, given.programs, given.seed, given.length)
        except DifferenceError as found:
            print(found)
            status = 1
    under = ", ".join(one.name for one in stacks)
    seconds = time.monotonic() - begin
    print(f"seed {given.seed}: {arena.summary()}; under {under} in {seconds:.0f} s")
    for one in stacks:
        print(f"{one.name}: {took_part(one)} files opened through it")
    for text in arena.native_lost[: given.lost]:
        print("--- lost natively", *text, sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
