"""How good the model of a file system is on this disk, and what it says of many ranks.

    python bench/model/run.py [--output FOLDER] [--rounds N]

Records ledgers of kernels, has `headrace-model validate` play them for real beside its prediction,
and replays those of two ranks for up to 10 000. Writes model.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.build import BUILD, ROOT, build

from headrace import plan
from headrace.measuring import machine

HDF5 = ROOT / "build/hdf5/1.14.5-openmpi/install/lib/libhdf5.so"
# Kernel -> the case and options that are recorded: large and contiguous, many small, compressed.
SERIAL = {
    "ior": ["--only", "independent"],
    "vpic": ["--only", "contiguous*", "--particles", "1Mi", "--timesteps", "2"],
    "metadata": ["--quick"],
    "h5py": ["--quick"],
}
SCALED = ["ior", "--block", "4Mi", "--segments", "4"]
PRESETS = ("lustre-4", "lustre-48", "lustre-160", "nfs", "object-gateway")
RANKS = "2,10,100,1000,10000"


def record(folder: Path, command: list[str], launcher: tuple[str, ...] = ()) -> list[str]:
    """The ledgers of one run of headrace-bench, those of requests only."""
    ledgers = folder / "ledgers"
    ledgers.mkdir(parents=True)
    variables = plan.prepare(f"model(ledger={ledgers})", None, dict(os.environ)).assign
    program = [str(BUILD / "bin/headrace-bench"), "--hdf5", str(HDF5), "--dir", str(folder)]
    subprocess.run(
        [*launcher, *program, *command],
        env={**os.environ, **variables, "HDF5_PLUGIN_PATH": str(BUILD / "lib/plugins")},
        check=True,
        capture_output=True,
    )
    return sorted(str(file) for file in ledgers.glob("*.ledger"))


def run_tool(*arguments: str) -> str:
    command = [str(BUILD / "bin/headrace-model"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def validate(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """A row for each kernel and way: seconds predicted and measured for its ledgers, by round."""
    rows = []
    for kernel, options in SERIAL.items():
        ledgers = record(folder / kernel, [kernel, *options])
        for cache in ("cached", "sync"):
            given = ["validate", *ledgers, "--dir", str(folder), "--cache", cache, "--json"]
            played = [json.loads(run_tool(*given))["ledgers"] for _ in range(rounds)]
            sums = [
                {key: sum(each[key] for each in one) for key in ("predicted", "measured")}
                for one in played
            ]
            errors = [each["predicted"] / each["measured"] - 1 for each in sums]
            rows.append({"kernel": kernel, "cache": cache, "rounds": sums, "errors": errors})
    return rows


def scale(folder: Path) -> list[dict[str, Any]]:
    """The replays of two recorded ranks, by preset."""
    launcher = ("mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "2")
    command = [*SCALED, "--only", "independent"]
    ledgers = record(folder / "scaled", command, launcher)
    replays = []
    for preset in PRESETS:
        answer = folder / f"{preset}.json"
        given = ["--preset", preset, "--ranks", RANKS, "--json", str(answer)]
        run_tool("replay", *ledgers, *given)
        replays.append(json.loads(answer.read_text(encoding="utf-8")))
    return replays


def show(rows: list[dict[str, Any]], replays: list[dict[str, Any]]) -> None:
    table = Table("kernel", "cache", "error of the prediction: median", "least", "most")
    for row in rows:
        each = row["errors"]
        figures = (statistics.median(each), min(each), max(each))
        table.add_row(row["kernel"], row["cache"], *(f"{figure:+.0%}" for figure in figures))
    scaling = Table("ranks", *(replay["preset"] for replay in replays), title="modelled efficiency")
    for results in zip(*(replay["results"] for replay in replays), strict=True):
        figures_ = (f"{result['efficiency']:.1%}" for result in results)
        scaling.add_row(str(results[0]["ranks"]), *figures_)
    console = Console()
    console.print(table, scaling)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, help="folder for model.json")
    arguments = parser.parse_args()
    build()
    load = machine.load()
    with tempfile.TemporaryDirectory(prefix="headrace-model-") as name:
        about = machine.describe(Path(name)) | machine.sources(ROOT)
        rows = validate(Path(name), arguments.rounds)
        replays = scale(Path(name))
    show(rows, replays)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        whole = {"machine": about, "load_before": load, "validation": rows, "replays": replays}
        text = json.dumps(whole, indent=1) + "\n"
        (arguments.output / "model.json").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
