"""A layer of this checkout's build below programs, and what it reports of them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import EllipsisType
from typing import Any

from harness.build import NOT_BUILT, PLUGINS, sanitized
from harness.program import Program, text_of
from harness.run import Command, Result, run
from harness.stack import CLEAN

PRELUDE = "import os, sys, h5py, numpy as np\n"  # of programs that are texts
NATIVE_BELOW = "under_vol=0;under_info={}"
Options = str | EllipsisType | None  # `...` for the usual ones, None for native HDF5


@dataclass(frozen=True)
class Layer:
    """Programs run in `folder`; each must have loaded the layer in all of its seats."""

    folder: Path
    name: str
    seats: tuple[str, ...] = ("vol",)
    always: str = ""  # options before those of a program
    usual: str = ""  # those of a program that says nothing
    below: str = NATIVE_BELOW

    @property
    def plugins(self) -> Path:
        return PLUGINS

    def env(self, options: Options = ..., **more: str) -> dict[str, str]:
        if options is None:
            return {**CLEAN, **more}
        options = self.usual if isinstance(options, EllipsisType) else options
        found = (self.plugins / f"libheadrace_{self.name}.so").exists()
        assert found, NOT_BUILT
        return sanitized(
            {
                **CLEAN,
                "HDF5_PLUGIN_PATH": str(self.plugins),
                "HDF5_VOL_CONNECTOR": f"headrace_{self.name} {self.always}{options}{self.below}",
                "HEADRACE_REPORT": str(self.folder / "report"),
                "HEADRACE_LOG_FILE": str(self.folder / "log"),
                "HEADRACE_LOG_LEVEL": "debug",
                **more,
            }
        )

    def command(
        self, words: Command, options: Options = ..., limit: float = 90, **environ: str
    ) -> Result:
        """Any program, such as one in C."""
        before = self._seats_taken()
        done = run(words, env=self.env(options, **environ), cwd=self.folder, limit=limit)
        loaded = self._seats_taken() - before
        if options is not None:
            assert loaded.keys() >= set(self.seats), f"loaded in {loaded} only: {done.text}"
        return done

    def _seats_taken(self) -> Counter[str]:
        """By the layer itself, not by what is below it."""
        own = f"headrace_{self.name}"
        return Counter(load["seat"] for load in self.loads if load["name"] == own)

    def start(
        self, program: Program, options: Options = ..., limit: float = 90, **environ: str
    ) -> Result:
        return self.command(_command(program), options, limit, **environ)

    def python(
        self, program: Program, options: Options = ..., limit: float = 90, **environ: str
    ) -> Result:
        """Which must succeed."""
        done = self.start(program, options, limit, **environ)
        assert done.status == 0, done.text
        return done

    def plain(self, program: Program) -> str:
        """What the program prints in h5py without any plug-in; it must succeed."""
        done = run(_command(program), env=CLEAN, cwd=self.folder, limit=90)
        assert done.status == 0, done.text
        return done.out.decode().strip()

    def value(self, expression: str) -> str:
        """Of an expression over `f`, the file x.h5, in h5py without any plug-in."""
        return self.plain(f"with h5py.File('x.h5') as f: print({expression})")

    @property
    def report(self) -> list[dict[str, Any]]:
        """All events, of all programs so far."""
        path = self.folder / "report"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def loads(self) -> list[dict[str, Any]]:
        return [event for event in self.report if event["event"] == "load"]

    def statistics(self, seat: str) -> list[dict[str, int]]:
        told = [event for event in self.report if event["event"] == "statistics"]
        return [event["values"] for event in told if event["seat"] == seat]

    def counted(self, name: str) -> int:
        """A statistic of all programs together; reports leave out what is 0."""
        assert self.loads, "no program has loaded the layer"
        told = [event["values"] for event in self.report if event["event"] == "statistics"]
        return sum(values.get(name, 0) for values in told)

    @property
    def log(self) -> str:
        path = self.folder / "log"
        return path.read_text() if path.exists() else ""


def async_over(folder: Path, below: str = NATIVE_BELOW) -> Layer:
    """The async layer in both of its seats."""
    return Layer(folder, "async", ("vol", "vfd"), "seat=both;", below=below)


def _command(program: Program) -> list[str]:
    prelude = PRELUDE if isinstance(program, str) else ""
    return [sys.executable, "-c", prelude + text_of(program)]
