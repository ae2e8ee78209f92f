"""The same steps on several sides: natively and under each stack. Each must see the same."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import reject
from random_programs.compare import DifferenceError, Stack, difference, seen
from random_programs.workers import LostError, Worker

LIMIT = 300.0  # seconds for one step: no machine is as slow, only a hang takes as long
# What cannot be done with a file that is open for reading and has a log (docs/guide/log.md).
REFUSED = "has a log, which must be replayed first"
Answer = list[dict[str, Any]]


class Side:
    """A writer and a reader, which know each other by the files in their folder only."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self.stack = stack
        self.folder = folder
        self.workers = {who: self._worker(who, stack.environment) for who in ("writer", "reader")}
        if stack.later:
            recovers = {**stack.environment, "HEADRACE_LOG_RECOVER": "true"}
            self.workers["recoverer"] = self._worker("recoverer", recovers)

    def _worker(self, who: str, environment: Mapping[str, str]) -> Worker:
        return Worker(environment, self.folder, f"{self.stack.name}_{who}", "machines.process")

    def place(self, example: int) -> Path:
        return self.folder / f"e{example}" / self.stack.name

    def copied(self, which: str, example: int) -> Path:
        """A folder with copies of the file and of what belongs to it."""
        place = self.place(example)
        into = place / "copy"
        shutil.rmtree(into, ignore_errors=True)
        into.mkdir()
        shutil.copyfile(place / f"{which}.h5", into / f"{which}.h5")
        logs = f"{which}.h5.headrace"
        if (place / logs).is_dir():
            shutil.copytree(place / logs, into / logs)
        return into


@dataclass
class Sides:
    """Use it as a context manager; `begin` and `end` are around each example."""

    sides: list[Side]  # the native one first
    plain: Worker  # a reader without plug-ins
    examples: int = 0
    steps: int = 0
    failed: int = 0
    looks: int = 0
    refused: int = 0  # examples that end with what a log refuses
    natively_lost: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)  # what differed, the shrunk one last
    broken: bool = False  # the example, so that its processes may end as they like

    def __enter__(self) -> Sides:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers():
            status = worker.close()
            assert status in (0, None), f"{worker.name}: {status}\n{worker.said()}"

    def _workers(self) -> list[Worker]:
        return [self.plain, *(one for side in self.sides for one in side.workers.values())]

    def begin(self) -> None:
        self.examples += 1
        self.history, self.broken = [], False
        for side in self.sides:
            side.place(self.examples).mkdir(parents=True)

    def end(self) -> None:
        """All processes end as programs do, whatever they have open."""
        self._await_ends([one for one in self._workers() if one.process is not None], over=True)
        shutil.rmtree(self.sides[0].place(self.examples).parent, ignore_errors=True)

    def exit(self, who: str) -> None:
        self.history.append(f"{who} ends")
        self._await_ends([side.workers[who] for side in self.sides])

    def _await_ends(self, workers: list[Worker], *, over: bool = False) -> None:
        for worker in workers:
            worker.tell({"end": True})
        self._answers(workers, over=over)

    def step(self, who: str, statements: list[str]) -> Answer:
        """What the statements show natively; under each stack it is the same."""
        self.history += [f"{who}: {statement}" for statement in statements]
        self.steps += len(statements)
        native, *others = self._asked(self.sides, who, statements)
        self.failed += sum("error" in one for one in native)
        for side, other in zip(self.sides[1:], others, strict=True):
            self._compare(statements, side, native, other)
        return native

    def _asked(self, sides: list[Side], who: str, statements: list[str]) -> list[Answer]:
        workers = [side.workers[who] for side in sides]
        for side, worker in zip(sides, workers, strict=True):
            place = str(side.place(self.examples))
            worker.tell({"folder": place, "statements": statements})
        return [answer["results"] for answer in self._answers(workers)]

    def _answers(self, workers: list[Worker], *, over: bool = False) -> list[dict[str, Any]]:
        answers, lost = [], {}
        for worker in workers:
            try:
                answers.append(worker.answer(LIMIT))
            except LostError as error:
                lost[worker.name] = error
        if not lost or self.broken:
            return answers
        told = "\n".join(f"{name}: {error}" for name, error in lost.items())
        if not any(name.startswith("native_") for name in lost):
            raise self.differs(told)
        self.broken = True
        self.natively_lost.append("\n".join([told, *self.history]))
        if not over:
            reject()  # there is nothing to compare with
        return answers

    def _compare(self, statements: list[str], side: Side, native: Answer, other: Answer) -> None:
        # LZF stores a chunk as it is where it gains nothing; the layers' own gains elsewhere.
        masks_differ = any("lzf" in one for one in self.history)
        for statement, here, there in zip(statements, native, other, strict=True):
            if masks_differ and ("filter_mask" in statement or "show_chunk" in statement):
                continue
            # HDF5 fails to read the only chunk of a dataset that it has in memory; a layer may
            # have had it flushed.
            if "show_chunk(" in statement and "error" in here:
                continue
            if side.stack.later and REFUSED in there.get("message", ""):
                self.refused += 1
                self.broken = True
                reject()  # what was to be copied is missing from here on, say
            if where := difference(seen(here, side.stack), seen(there, side.stack), ""):
                raise self.differs(f"{side.stack.name}: {statement}\n  {where}\n  {there}")

    def live(self, which: str) -> None:
        """What the reader's process finds in a file that was flushed, and is still open."""
        statement = f"show(contents('{which}.h5', locking=False))"
        self.history.append(f"reader: {statement}")
        # With canonicalise=later nobody may read a file that its writer has not closed.
        sides = [side for side in self.sides if not side.stack.later]
        native, *others = self._asked(sides, "reader", [statement])
        for side, other in zip(sides[1:], others, strict=True):
            self._compare([statement], side, native, other)

    def on_disk(self, which: str, *, closed: bool) -> None:
        """What a reader without plug-ins finds in copies of the file."""
        if not (self.sides[0].place(self.examples) / f"{which}.h5").exists():
            return  # could not be created
        self.history.append(f"plain reader: {which}.h5")
        copies = {side.stack.name: side.copied(which, self.examples) for side in self.sides}
        native, *_ = copies.values()
        expected = self._plain(native, which)
        self.looks += expected["error"] is None
        for side in self.sides[1:]:
            copy = copies[side.stack.name]
            if side.stack.later:
                if not closed and expected["error"]:
                    continue  # marked as open for writing, which recovering takes away
                if (copy / f"{which}.h5.headrace").exists():
                    worker = side.workers["reader" if closed else "recoverer"]
                    self._told(worker, copy, f"h5py.File('{which}.h5', 'r+').close()")
            if same_bytes(native / f"{which}.h5", copy / f"{which}.h5"):
                continue
            if where := difference(expected, self._plain(copy, which), ""):
                raise self.differs(f"{which}.h5 of {side.stack.name}, read natively: {where}")

    def _plain(self, copy: Path, which: str) -> dict[str, Any]:
        result = self._told(self.plain, copy, f"show(contents('{which}.h5'))")
        return {"shown": result["shown"], "error": result.get("error")}

    def _told(self, worker: Worker, folder: Path, statement: str) -> dict[str, Any]:
        worker.tell({"folder": str(folder), "statements": [statement]})
        (answer,) = self._answers([worker])
        result: dict[str, Any] = answer["results"][0]
        return result

    def differs(self, why: str) -> DifferenceError:
        self.broken = True
        self.found.append("\n".join([why, "--- all steps", *self.history]))
        if len(self.found) == 1:  # at once: shrinking it takes its time, and may be cut short
            (self.sides[0].folder / "first").write_text(self.found[0])
        return DifferenceError(self.found[-1])


def same_bytes(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()
