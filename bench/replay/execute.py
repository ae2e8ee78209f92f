"""Records a case, or replays what was recorded of it last."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import installed, program
from bench.common.evidence import LIMIT, RunError
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way

from headrace.bench import stacks
from headrace.errors import HeadraceError
from headrace.trace.model.reader import read
from headrace.trace.replay.choices import Choices
from headrace.trace.replay.compare import requests, seconds
from headrace.trace.replay.run import prepared, replay

from .cases import PYTHON, Case
from .programs import command

_RECORDING = Way("recorded", "trace(arguments=true)")
_OUTPUT = "HEADRACE_TRACE_OUTPUT"
_PAYLOAD = 128 << 20  # of the largest case, for the memory at hand


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError."""

    folder: Path
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self._inputs = self.folder / "inputs"
        self._inputs.mkdir()
        self._program = self.folder / "program"  # its files and its trace, until the next one
        self._choices: Choices | None = None  # of the replay of that trace
        self.stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        """The record of one run: of the program, or of the replay of its trace."""
        settle(self.folder, _PAYLOAD)
        try:
            found = self._record(case) if way.name == NATIVE.name else self._replay()
        except HeadraceError as error:
            raise RunError(str(error)) from None
        installed.require(self.installed)
        return found

    @property
    def _trace(self) -> Path:
        return self._program / "recorded"

    def _record(self, case: Case) -> dict[str, Any]:
        self.forget()
        self._program.mkdir()
        environ = {**self.environ, _OUTPUT: str(self._trace)}
        stack = self.stacks.of(_RECORDING)
        if case.kernel == PYTHON:
            words = command(case.name, self._inputs, self._program / "output.h5")
            done = subprocess.run(words, env=stack.environment(environ), check=False, text=True,
                                  capture_output=True, timeout=LIMIT)  # fmt: skip
            if done.returncode != 0:
                raise RunError(" / ".join(done.stderr.strip().splitlines()[-2:]))
        else:
            program.sample(program.Start(case.name, case.words), stack, environ, self._program)
        (seat,) = read(self._trace).seats
        return {"seconds": seconds(seat), "requests": len(requests(seat))}

    def _replay(self) -> dict[str, Any]:
        place, values = self.folder / "replay", self._program / "values"
        if self._choices is None:
            self._choices = prepared(self._trace, values, Choices(limit=LIMIT))
            settle(self.folder, _PAYLOAD)
        try:
            made = replay(self._trace, NATIVE.layers, place, self._choices)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        like = made.likeness
        return {
            "seconds": like.replayed_seconds, "requests": like.replayed, "recorded": like.requests,
            "equal": like.equal, "alike": like.alike, "calls": like.calls,
            "left_out": dict(made.left_out),
        }  # fmt: skip

    def forget(self) -> None:
        """Removes what a case has left."""
        self._choices = None
        shutil.rmtree(self._program, ignore_errors=True)
