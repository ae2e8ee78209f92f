"""The bench of the bench: what the harness of headrace-bench adds, and how medians repeat.

    python bench/harness/run.py [--rounds N] [--output FOLDER]

In each round a plain program and the kernel `ior` write the same bytes with the same calls, in
turns. The overhead is the median over the rounds of the ratio of their times; repeatability is how
far the medians of parts of the rounds lie from the median of all.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.build import BUILD, ROOT, build

from headrace.measuring import machine
from headrace.measuring.stats import Ratio, ratio

HDF5 = ROOT / "build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so"
PART = 10  # rounds of which a median is made, to see how medians repeat
# Block and segments make 64 MiB; transfers from where calls dominate to where copying does.
BLOCK, SEGMENTS = 16 << 20, 4
TRANSFERS = (4 << 10, 64 << 10, 1 << 20)


def plain(folder: Path, transfer: int) -> float:
    """Seconds of the program without a harness."""
    command = [BUILD / "bench/harness/headrace_bench_plain", folder / "plain.h5"]
    sizes = [str(BLOCK), str(transfer), str(SEGMENTS)]
    done = subprocess.run([*command, *sizes], check=True, capture_output=True, text=True)
    (folder / "plain.h5").unlink()
    return float(done.stdout)


def harness(folder: Path, transfer: int) -> float:
    """Seconds of the write side, as headrace-bench tells them."""
    command = [str(BUILD / "bin/headrace-bench"), "--hdf5", str(HDF5), "--dir", str(folder)]
    shape = ["--block", str(BLOCK), "--transfer", str(transfer), "--segments", str(SEGMENTS)]
    done = subprocess.run([*command, "ior", *shape], check=True, capture_output=True, text=True)
    sample = json.loads(done.stdout)
    assert sample["verified"] is True
    return float(sample["write_wall"])


def compare(transfer: int, rounds: int) -> dict[str, Any]:
    """The rounds at one size of transfer, the two programs in turns, after one warm-up."""
    times: dict[str, list[float]] = {"plain": [], "harness": []}
    programs = {"plain": plain, "harness": harness}
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        for round_ in range(rounds + 1):
            names = list(programs) if round_ % 2 else list(programs)[::-1]
            for name in names:
                seconds = programs[name](Path(folder), transfer)
                if round_:
                    times[name].append(seconds)
    found = ratio(dict(enumerate(times["harness"])), dict(enumerate(times["plain"])))
    assert found is not None
    return {
        "transfer": transfer,
        "overhead": found.median - 1,
        "interval": interval(found),
        "median_seconds": {name: statistics.median(each) for name, each in times.items()},
        "repeatability": {name: repeatability(each) for name, each in times.items()},
        "seconds": times,
    }


def interval(found: Ratio) -> list[float] | None:
    """Of the overhead, with its coverage; none for few rounds."""
    if found.low is None or found.high is None or found.coverage is None:
        return None
    return [found.low - 1, found.high - 1, found.coverage]


def repeatability(seconds: Sequence[float]) -> float | None:
    """The largest distance of a part's median to that of all, relative; none for one part."""
    parts = [seconds[i : i + PART] for i in range(0, len(seconds) - PART + 1, PART)]
    if len(parts) < 2:
        return None
    middle = statistics.median(seconds)
    return max(abs(statistics.median(part) / middle - 1) for part in parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=40, help="at each size (40)")
    parser.add_argument("--output", type=Path, help="folder for harness.json")
    arguments = parser.parse_args()
    build()
    load = machine.load()
    results = [compare(transfer, arguments.rounds) for transfer in TRANSFERS]
    for each in results:
        low, high, coverage = each["interval"] or (float("nan"),) * 3
        print(
            f"transfers of {each['transfer'] >> 10:5} KiB: the harness adds {each['overhead']:+.2%}"
            f" ({low:+.2%} to {high:+.2%}, {coverage:.0%} coverage); medians of {PART} rounds"
            f" within {each['repeatability']['harness'] or float('nan'):.1%}"
        )
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        whole = {
            "machine": machine.describe(ROOT) | machine.sources(ROOT),
            "load_before": load,
            "results": results,
        }
        file = arguments.output / "harness.json"
        file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
