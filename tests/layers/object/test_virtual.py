"""Virtual datasets in containers: what a program reads and writes is what it does in files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.run import run
from harness.stack import CLEAN

PROGRAMS = Path(__file__).with_name("virtual_programs.py")


def outputs(layer: Layer, words: list[str], **environ: str) -> tuple[str, str]:
    """Natively and under the layer."""
    native = layer.folder / "native"
    native.mkdir()
    done = run(words, env={**CLEAN, **environ}, cwd=native, limit=90)
    assert done.status == 0, done.text
    under = layer.command(words, **environ)
    assert under.status == 0, under.text
    return done.out.decode(), under.out.decode()


def test_random_mappings_as_in_files(object_layer: Layer) -> None:
    words = [sys.executable, str(PROGRAMS), "0", "25"]
    native, under = outputs(object_layer, words)
    lines = native.splitlines()
    assert len(lines) > 1000
    assert native.count("fails") < len(lines) / 4
    assert under.splitlines() == lines
    sources = [path.read_bytes()[9:19] for path in object_layer.folder.glob("s*.h5")]
    assert sources.count(b"container=") > 20
    assert sum(start != b"container=" for start in sources) > 20


def look_in_folders() -> None:
    for folder in "beside", "listed", "named", "by_environment", "here":
        os.makedirs(folder)
        name = os.environ["NAME"]
        with h5py.File(f"{folder}/only_{folder}.h5", "w") as f:
            f["d"] = [len(folder)]
        with h5py.File(f"{folder}/all.h5", "w") as f:
            f["d"] = [len(folder)]
    names = ["only_beside", "only_listed", "only_by_environment", "only_here", "all"]
    layout = h5py.VirtualLayout((2 * len(names),), "i4")
    for i, name in enumerate(names):
        layout[2 * i] = h5py.VirtualSource(f"{name}.h5", "d", (1,))[0]
        layout[2 * i + 1] = h5py.VirtualSource(f"/nowhere/{name}.h5", "d", (1,))[0]
    with h5py.File("beside/v.h5", "w") as f:
        f.create_virtual_dataset("v", layout, fillvalue=-1)
    os.symlink("beside/v.h5", "link.h5")
    os.chdir("here")
    for path in "../beside/v.h5", "../link.h5":
        for prefix in None, "../listed", "${ORIGIN}/../listed":
            with h5py.File(path) as f:
                dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
                if prefix:
                    dapl.set_virtual_prefix(prefix.encode())
                found = np.zeros(2 * len(names), "i4")
                h5py.h5d.open(f.id, b"v", dapl).read(h5py.h5s.ALL, h5py.h5s.ALL, found)
                print(path, prefix, found.tolist())


@pytest.mark.parametrize("environ", [{}, {"HDF5_VDS_PREFIX": "../nothing:../by_environment"}])
def test_sources_are_found_where_hdf5_finds_them(
    object_layer: Layer, environ: dict[str, str]
) -> None:
    from harness.program import text_of

    prelude = "import os, h5py, numpy as np\n"
    words = [sys.executable, "-c", prelude + text_of(look_in_folders)]
    native, under = outputs(object_layer, words, NAME="x", **environ)
    assert under.splitlines() == native.splitlines()
    assert len(set(native.splitlines())) == 6
    assert "-1" in native
