"""The process that puts logs in order behind the program (canonicalise=background)."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from harness.build import PLUGINS
from harness.layer import Layer
from harness.program import Program

BACKGROUND = "canonicalise=background;"
REAL = PLUGINS.parents[1] / "bin/headrace-replay"
# Begins when file `go` is there.
HELD = f'#!/bin/sh\n(until [ -e go ]; do sleep 0.05; done; exec {REAL} "$@") &\n'
Chunks = tuple[int, int] | None
CHUNKS = (10, 100)


@dataclass(frozen=True)
class Elsewhere(Layer):
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


def wait(layer: Layer, *names: str) -> None:
    """Until the files are ordinary ones, and nobody is at work on them."""
    end = time.monotonic() + 30
    folders = [layer.folder / f"{name}.headrace" for name in names]
    while processes(layer) or any(folder.exists() for folder in folders):
        assert time.monotonic() < end, f"some still wait: {layer.log}"
        time.sleep(0.01)


def processes(layer: Layer) -> list[int]:
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


def begin(chunks: Chunks = (10, 100), libver: str = "earliest") -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File("x.h5", "w", libver=libver)
    d = f.create_dataset("d", (100, 1000), "i4", chunks=chunks, fillvalue=-1)
    for k in range(0, 1000, 2):
        d[:, k] = np.arange(100) + k
    return f, d


def expected() -> np.ndarray:
    d = np.full((100, 1000), -1)
    d[:, ::2] = np.arange(100)[:, None] + np.arange(0, 1000, 2)
    return d


def write_and_close(chunks: Chunks = CHUNKS) -> None:
    f, _d = begin(chunks)
    f.close()


def check(name: str = "x.h5", mode: str = "r") -> None:
    f = h5py.File(name, mode)
    assert (f["d"][...] == expected()).all()


def check_ordinary() -> None:
    f = h5py.File("x.h5")
    assert not f.attrs
    assert (f["d"][...] == expected()).all()


def write(layer: Layer, program: Program = write_and_close) -> None:
    layer.python(program, BACKGROUND)
    assert layer.counted("writes_logged") >= 500


def waits(layer: Layer) -> bool:
    return bool(list(layer.folder.glob("x.h5.headrace/*.log")))
