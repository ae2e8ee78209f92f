"""Programs under a stack of layers, as `headrace env` puts it there, in a folder of their own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from harness.program import Program, text_of
from harness.report import Report
from harness.run import Result, run
from harness.stack import NATIVE, stack_env


@dataclass(frozen=True)
class Stacked:
    folder: Path
    usual: str  # stack of a program that says nothing

    def start(self, program: Program, stack: str = "", **environ: str) -> Result:
        env = stack_env(stack or self.usual, self.folder / "report", **environ)
        return run([sys.executable, "-c", text_of(program)], env=env, cwd=self.folder)

    def plain(self, program: Program) -> str:
        """What the program prints in h5py without any plug-in; it must succeed."""
        done = self.start(program, NATIVE)
        assert done.status == 0, done.text
        return done.out.decode().strip()

    def value(self, expression: str) -> str:
        """Of an expression over `f`, the file x.h5, in h5py without any plug-in."""
        return self.plain(f"import h5py\nwith h5py.File('x.h5') as f: print({expression})")

    @property
    def report(self) -> Report:
        """What the plug-ins of the programs run so far have reported."""
        return Report(self.folder / "report")
