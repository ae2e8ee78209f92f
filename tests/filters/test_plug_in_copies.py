"""Private copies of the filters' plug-ins, which the workers call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import hdf5plugin
import numpy as np
from filters.registered import find_plug_ins

if TYPE_CHECKING:
    from harness.layer import Layer
import pytest

pytestmark = pytest.mark.plain  # copies are loaded by RTLD_DEEPBIND

HERE = Path(__file__).parent


def write_and_close_all_descriptors() -> None:
    data = np.arange(200000, dtype="i4")
    filters = {"x": hdf5plugin.Blosc(), "y": hdf5plugin.Bitshuffle(), "z": hdf5plugin.BZip2()}
    for name, compression in filters.items():
        with h5py.File(f"{name}.h5", "w") as f:
            f.create_dataset("d", data=data, chunks=(20000,), compression=compression)
        os.closerange(3, 1024)


def require_written() -> None:
    find_plug_ins()
    for name in "xyz":
        assert (h5py.File(f"{name}.h5")["d"][...] == np.arange(200000)).all()


def test_copies_survive_a_program_that_closes_all_descriptors(filters: Layer) -> None:
    """The loader takes a name it has seen for the library that it loaded then."""
    filters.python(write_and_close_all_descriptors)
    assert filters.counted("chunks_encoded") == 30
    filters.plain(require_written)


def damage_all_chunks(file: Path) -> None:
    with h5py.File(file) as opened:
        d = opened["d"]
        infos = [d.id.get_chunk_info(i) for i in range(d.id.get_num_chunks())]
    with file.open("r+b") as raw:
        for info in infos:
            raw.seek(info.byte_offset + 20)
            raw.write(bytes([255] * 40))


def test_workers_call_no_library_that_the_program_is_linked_with(filters: Layer) -> None:
    """The plug-in itself does, to tell of errors, but a copy of it sees its own functions."""
    compiler = shutil.which("cc")
    assert compiler
    library = filters.folder / "library.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "stands_in.c"], check=True)
    program: list[str | Path] = [sys.executable, HERE / "programs/behind_stand_in.py", library]
    written = filters.command([*program, "write"])
    assert written.status == 0, written.text
    assert written.out.split()[1] == b"0", "calls from workers"
    assert filters.counted("chunks_encoded") == 64
    damage_all_chunks(filters.folder / "x.h5")
    read = filters.command([*program, "read"])
    assert read.status == 0, read.text
    assert filters.counted("left_for_error") == 1
    assert read.out.startswith(b"not read\n"), read.text
    calls, from_workers = map(int, read.out.split()[2:])
    assert calls > 0
    assert from_workers == 0
