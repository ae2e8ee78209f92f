"""The process that puts logs in order behind the program (canonicalise=background)."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from log_layer import PLUGINS, Log

REAL = PLUGINS.parents[1] / "bin/headrace-replay"
# Begins when file `go` is there.
HELD = f'#!/bin/sh\n(until [ -e go ]; do sleep 0.05; done; exec {REAL} "$@") &\n'


@dataclass(frozen=True)
class Elsewhere(Log):
    """The layer, installed where another program may stand for the one that it starts."""

    @property
    def plugins(self) -> Path:
        return self.folder / "lib/plugins"

    @property
    def program(self) -> Path:
        return self.folder / "bin" / REAL.name

    def install(self, text: str | None) -> None:
        self.plugins.mkdir(parents=True)
        modules = PLUGINS.parent.glob("libheadrace_mpi_*.so")
        for path in (PLUGINS.parent / "libheadrace_core.so", *modules):
            shutil.copyfile(path, self.folder / "lib" / path.name)
        shutil.copy(PLUGINS / "libheadrace_log.so", self.plugins)
        if text is not None:
            self.program.parent.mkdir()
            self.program.write_text(text)
            self.program.chmod(0o755)


def wait(layer: Log, *names: str) -> None:
    """Until the files are ordinary ones, and nobody is at work on them."""
    end = time.monotonic() + 30
    folders = [layer.folder / f"{name}.headrace" for name in names]
    while processes(layer) or any(folder.exists() for folder in folders):
        assert time.monotonic() < end, f"some still wait: {layer.log}"
        time.sleep(0.01)


def processes(layer: Log) -> list[int]:
    """Those that work in the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/headrace-replay") and str(layer.folder).encode() in words[2]:
            found.append(int(path.parent.name))
    return found
