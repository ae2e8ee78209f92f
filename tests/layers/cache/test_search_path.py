"""Plug-ins that merely lie where HDF5 looks for filters do nothing to a program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np
import pytest
from harness.program import text_of
from harness.run import run
from harness.stack import CLEAN
from layers.cache.node import Cache


def make() -> None:
    with h5py.File("blosc.h5", "w") as f:
        f.create_dataset("d", data=np.arange(5000), chunks=(100,), compression=hdf5plugin.Blosc())


def use_filters_of_hdf5() -> None:
    with h5py.File("x.h5", "w") as f:
        for name in ("gzip", "lzf"):
            how = {"chunks": (100,), "compression": name, "shuffle": True, "fletcher32": True}
            f.create_dataset(name, data=np.arange(5000), **how)
    with h5py.File("x.h5", "r+") as f:
        f["gzip"][7:200] = 5
    with h5py.File("x.h5", "r") as f:
        print(f["gzip"][:300].tolist(), int(f["lzf"][...].sum()))
    assert "libheadrace" not in Path("/proc/self/maps").read_text()


def use_a_filter_that_is_looked_for() -> None:
    """HDF5 opens one library after the other to ask it what it is, until it has the filter."""
    with h5py.File("blosc.h5", "r") as f:
        try:
            print(int(f["d"][...].sum()))
        except OSError as error:
            print(error)


def open_what_is_no_file() -> None:
    """HDF5 asks each connector that it finds whether it knows the file."""
    Path("text.h5").write_text("This is no file of HDF5's. " * 1000)
    for name in ("text.h5", "missing.h5"):
        try:
            h5py.File(name, "r")
        except OSError as error:
            print(type(error), error)
        print(h5py.is_hdf5(name))


def open_what_is_locked() -> None:
    """The same, of a file that HDF5's own connector knows, and may not open."""
    another = "import h5py; f = h5py.File('x.h5', 'w', locking=True); print(flush=True); input()"
    writer = subprocess.Popen(
        [sys.executable, "-c", another], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    try:
        h5py.File("x.h5", "r", locking=True)
    except OSError as error:
        print(type(error), error)
    writer.communicate(b"\n")


def foreign(cache: Cache, where: str) -> Path:
    """Filters that others bring, or none."""
    if where == "there":
        return Path(hdf5plugin.PLUGIN_PATH)
    (empty := cache.folder / "empty").mkdir(exist_ok=True)
    return empty


def ours(cache: Cache, which: str) -> Path:
    """All plug-ins, or that of the layer alone: HDF5 asks them in whatever order they lie there."""
    if which == "all":
        return cache.plugins
    folder = cache.folder / "lib/plugins"
    folder.mkdir(parents=True)
    (folder / "libheadrace_cache.so").symlink_to(cache.plugins / "libheadrace_cache.so")
    for module in cache.plugins.parent.glob("*.so"):
        (folder.parent / module.name).symlink_to(module)
    return folder


def seen(cache: Cache, program: Callable[[], None], *plugins: Path) -> tuple[str, list[bytes]]:
    """What it prints and leaves."""
    told = {"HEADRACE_SHARED": str(cache.shared), "HEADRACE_REPORT": "report"}
    path = ":".join(map(str, plugins))
    command = [sys.executable, "-c", text_of(program)]
    done = run(command, env={**CLEAN, **told, "HDF5_PLUGIN_PATH": path}, cwd=cache.folder)
    assert done.status == 0, done.text
    return done.text, [file.read_bytes() for file in sorted(cache.folder.glob("*.h5"))]


@pytest.mark.parametrize(
    ("program", "filters", "which"),
    [
        (use_filters_of_hdf5, "there", "all"),
        (use_a_filter_that_is_looked_for, "there", "all"),
        (use_a_filter_that_is_looked_for, "nowhere", "all"),
        (open_what_is_no_file, "nowhere", "all"),
        (open_what_is_locked, "nowhere", "alone"),
    ],
)
def test_a_program_is_as_natively(
    cache: Cache, program: Callable[[], None], filters: str, which: str
) -> None:
    """And it makes no memory for chunks, nor a table of who writes."""
    path = foreign(cache, filters)
    # A program of its own: the tests' process may have PyTables' Blosc, of another HDF5.
    seen(cache, make)
    natively = seen(cache, program, path)
    assert seen(cache, program, ours(cache, which), path) == natively
    assert not [*cache.shared.iterdir()]
    # What cannot be opened natively HDF5 tries with each connector, and these tell of that.
    assert program.__name__.startswith("open") or not (cache.folder / "report").exists()


def count_threads() -> None:
    for name in ("blosc.h5", "missing.h5"):
        try:
            with h5py.File(name) as f:
                f["d"][...]
        except OSError:
            pass
    print([each.joinpath("comm").read_text() for each in Path("/proc/self/task").iterdir()])


def test_no_thread_is_started(cache: Cache) -> None:
    path = foreign(cache, "there")
    seen(cache, make)
    assert seen(cache, count_threads, cache.plugins, path) == seen(cache, count_threads, path)
