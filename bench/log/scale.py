"""What the model of a file system says of the log over many ranks, beside native HDF5.

Two ranks are recorded; docs/guide/model.md tells how more are made of them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.common.evidence import LIMIT, RunError

from headrace.errors import HeadraceError
from headrace.measuring import programs

from . import ledgers
from .execute import Runner
from .ledgers import METADATA, WRITE, Records
from .record import CASE, Recorded, record

PRESETS = ("lustre-4", "lustre-48", "lustre-160", "nfs")
RANKS = (2, 10, 100, 1000, 10_000)
PLACEMENTS = ("append", "interleave")
TURNS = 8  # logical ranks of the kernel that each of the two plays
MOST = 50_000_000  # requests that are replayed at once; of more a sample is
# Of the network, for each rank, where those of a node share 100 Gbit/s.
BYTES_A_SECOND, LATENCY = 200e6, 10e-6


@dataclass
class Point:
    """Seconds of one preset, placement and number of ranks."""

    preset: str
    placement: str
    ranks: int
    seconds: dict[str, float] = field(default_factory=dict)  # of native ways, and parts of the log
    sampled: dict[str, float] = field(default_factory=dict)  # the part of the requests replayed

    def native(self, caches: str) -> float:
        return self.seconds[f"native, {caches}"]

    def part(self, name: str, caches: str) -> float:
        """Of the log."""
        return self.seconds[name if name in (APPEND, GATHER) else f"{name}, {caches}"]

    def log(self, caches: str) -> float:
        return sum(self.part(name, caches) for name in PARTS)

    def json(self) -> dict[str, Any]:
        return asdict(self) | {"log": {caches: self.log(caches) for caches in CACHES}}


@dataclass(frozen=True)
class Scaled:
    """All that the page needs."""

    points: Sequence[Point]
    logs: Sequence[Mapping[str, Any]]
    check: Mapping[str, float]

    def json(self) -> dict[str, Any]:
        logs = [{name: each[name] for name in _SIZES} for each in self.logs]
        points = [each.json() for each in self.points]
        return {"case": CASE.name, "logs": logs, "check": self.check, "points": points}


_SIZES = ("size", "data_bytes", "index_bytes", "patterns")
CACHES = NONE, BEST = ("no caches", "best caches")
APPEND, GATHER = "append", "gather"
PARTS = (APPEND, "indexes", GATHER, "data", "settle")


Given = Sequence[tuple[str, int, Records]]  # ledgers: file, rank, requests


@dataclass(frozen=True)
class Part:
    """What is replayed. The time is that of so many ranks, times the weight, added up."""

    replays: Sequence[tuple[Given, int, float]]
    sampled: float = 1  # the part of the requests that is replayed

    @property
    def shared(self) -> bool:
        """Whether all ranks do it to the same file."""
        return self.replays[0][0][0][0] == "file"


def parts(recorded: Recorded) -> dict[str, Callable[[int], Part]]:
    """What to replay for so many ranks."""
    logs = recorded.logs
    own = [(f"log {rank}", rank, ledgers.appended(log)) for rank, log in enumerate(logs)]
    found: dict[str, Callable[[int], Part]] = {APPEND: partial(cut, own)}
    written = [_raw_bytes(each) for each in recorded.settle]
    for caches in CACHES:
        best = caches == BEST
        native, settle = (
            [
                ("file", rank, ledgers.gathered(each) if best else each)
                for rank, each in enumerate(one)
            ]
            for one in (recorded.native, recorded.settle)
        )
        shares = ledgers.shares(logs, written, TURNS, best)
        data = [(f"log {log}", rank, each) for (rank, log), each in shares.items()]
        found[f"native, {caches}"] = partial(cut, native)
        indexes = [(f"log {rank}", rank, ledgers.index(log, best)) for rank, log in enumerate(logs)]
        found[f"indexes, {caches}"] = partial(cut, indexes)
        found[f"data, {caches}"] = partial(cut, data)
        found[f"settle, {caches}"] = partial(cut, settle)
    return found


def _raw_bytes(records: Records) -> int:
    raw = (records["kind"] == WRITE) & (records["flags"] & METADATA == 0)
    return int(records["length"][raw].sum())


def cut(given: Given, ranks: int, like: int = 0) -> Part:
    """As much of it as can be replayed by that many ranks, or by `like`."""
    whole = sum(len(each) for _, _, each in given)
    share = min(1, MOST * CASE.ranks / (like or ranks) / whole)
    if share == 1:
        return Part([(given, ranks, 1)])
    kept = [
        (file, rank, ledgers.sampled(each, int(len(each) * share))) for file, rank, each in given
    ]
    part = sum(len(each) for _, _, each in kept) / whole
    return Part([(kept, ranks, 1 / part)], part)


def gather(logs: Sequence[Mapping[str, Any]], ranks: int) -> float:
    """Seconds until every rank has the indexes of all, by a ring."""
    largest = max(int(log["index_bytes"]) for log in logs)
    return ranks * (LATENCY + largest / BYTES_A_SECOND)


def seconds(part: Part, folder: Path, options: Sequence[str]) -> float:
    """RunError."""
    return sum(weight * replay(given, folder, ranks, options)
               for given, ranks, weight in part.replays)  # fmt: skip


def replay(given: Given, folder: Path, ranks: int, options: Sequence[str]) -> float:
    """Seconds on the modelled file system; RunError."""
    folder.mkdir()
    try:
        files = []
        for number, (file, rank, records) in enumerate(given):
            files.append(folder / f"{number}.ledger")
            ledgers.write(files[-1], file, rank, records)
        answer = folder / "answer.json"
        words = ["replay", *map(str, files), "--ranks", str(ranks), "--json", str(answer), *options]
        done = subprocess.run(
            [str(programs.bench(None, "headrace-model")), *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        if done.returncode != 0:
            raise RunError(f"headrace-model: {done.stderr.strip()}")
        told = json.loads(answer.read_text(encoding="utf-8"))["results"][0]
    except HeadraceError as error:
        raise RunError(str(error)) from None
    except subprocess.TimeoutExpired:
        raise RunError(f"headrace-model still ran after {LIMIT} s") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return float(told["seconds"])


def curve(
    recorded: Recorded,
    folder: Path,
    tell: Callable[[Point], None],
    presets: Sequence[str] = PRESETS,
    ranks: Sequence[int] = RANKS,
) -> list[Point]:
    """All points; only what goes to the shared file depends on the placement."""
    found = []
    for number in ranks:
        replayed = {name: make(number) for name, make in parts(recorded).items()}
        for preset in presets:
            own: dict[str, float] = {}
            for placement in PLACEMENTS:
                point = Point(preset, placement, number)
                point.seconds[GATHER] = gather(recorded.logs, number)
                for name, part in replayed.items():
                    if part.shared or name not in own:
                        options = ["--preset", preset]
                        options += ["--placement", placement] if part.shared else []
                        own[name] = seconds(part, folder / "replayed", options)
                    point.seconds[name], point.sampled[name] = own[name], part.sampled
                found.append(point)
                tell(point)
    return found


def check(recorded: Recorded, folder: Path, like: int = max(RANKS)) -> dict[str, float]:
    """What a sample as for so many ranks says of 10, over what the whole says, by preset."""
    given = [("file", rank, each) for rank, each in enumerate(recorded.native)]
    found = {}
    for preset in PRESETS:
        both = (cut(given, 10, like), cut(given, 10))
        part, whole = (seconds(each, folder / "replayed", ["--preset", preset]) for each in both)
        found[preset] = part / whole
    return found


def measure(runner: Runner, tell: Callable[[Point], None]) -> Scaled:
    """Records, and replays; RunError."""
    recorded = record(runner)
    checked = check(recorded, runner.folder)
    return Scaled(curve(recorded, runner.folder, tell), recorded.logs, checked)
