"""The layer under programs of one node, which share a folder that no other test has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import h5py
from harness.layer import Layer, Options
from harness.program import Program, text_of


@dataclass(frozen=True)
class Cache(Layer):
    shared: Path = Path()
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def env(self, options: Options = ..., **more: str) -> dict[str, str]:
        return super().env(options, **{"HEADRACE_SHARED": str(self.shared), **more})

    def begin(self, program: Program, environ: Mapping[str, str]) -> subprocess.Popen[str]:
        """Goes on beside the test, and is killed at its end at the latest."""
        command = [sys.executable, "-c", text_of(program)]
        pipe = subprocess.PIPE
        self.started.append(
            subprocess.Popen(
                command, env=environ, cwd=self.folder, text=True, stdin=pipe, stdout=pipe
            )
        )
        return self.started[-1]

    def damage(self, dataset: str, chunk: int) -> None:
        """In the file x.h5, one of the chunks that it has."""
        with h5py.File(self.folder / "x.h5") as file:
            at = file[dataset].id.get_chunk_info(chunk)
        with (self.folder / "x.h5").open("r+b") as raw:
            raw.seek(at.byte_offset + at.size // 2)
            raw.write(bytes(8))

    @property
    def in_memory(self) -> int:
        """Bytes that the shared files take."""
        return sum(file.stat().st_blocks * 512 for file in self.shared.iterdir())
