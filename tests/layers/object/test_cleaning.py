"""What `headrace object` cleans and removes: beside programs, for power cuts, and around types."""

from __future__ import annotations

import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.build import PLUGINS, sanitized
from harness.corpus import compile_preload
from harness.layer import Layer
from harness.run import Result, run
from harness.stack import CLEAN

MAKE = """
with h5py.File('x.h5', 'w') as f:
    f.create_dataset('d', (8,), 'i4', chunks=(4,), maxshape=(None,))[...] = 1
with h5py.File('x.h5', 'r+') as f:
    f['d'].resize((4,))  # a chunk is garbage
"""
TOOL = PLUGINS.parents[1] / "bin/headrace-object"


def tool(layer: Layer, *words: str, **environment: str) -> Result:
    return run([TOOL, *words], env=sanitized({**CLEAN, **environment}), cwd=layer.folder)


def told(layer: Layer, *words: str) -> list[dict[str, Any]]:
    done = tool(layer, *words)
    assert done.status == 0, done.text
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.fixture
def two_copies(object_layer: Layer) -> Layer:
    """A container whose first stub is gone, and which two copies of that lead to."""
    object_layer.python("with h5py.File('x.h5', 'w') as f: f['d'] = np.arange(3)")
    for name in ("y.h5", "z.h5"):
        shutil.copy(object_layer.folder / "x.h5", object_layer.folder / name)
    (object_layer.folder / "x.h5").unlink()
    return object_layer


OPEN_COPY = """
import subprocess
f = h5py.File('y.h5', 'r+')
f['mine'] = np.arange(20)
f.flush()
other = "import h5py; h5py.File('z.h5', 'r+').close()"
subprocess.run([sys.executable, '-c', other], check=True)
done = subprocess.run({command!r}, capture_output=True, text=True)
print(done.returncode, done.stdout + done.stderr)
f['more'] = 1
f.close()
"""


def beside_a_writer(layer: Layer, command: list[str]) -> Result:
    """Runs it while a program writes by y.h5, and another one has opened z.h5 last."""
    return layer.python(OPEN_COPY.format(command=command))


@pytest.mark.parametrize(
    "words", [("gc", "z.h5"), ("gc", "store"), ("fsck", "z.h5"), ("rm", "z.h5")]
)
def test_a_program_that_writes_by_another_copy_is_left_alone(
    two_copies: Layer, words: tuple[str, ...]
) -> None:
    if words[0] == "rm":  # of a copy only the copy is removed: z.h5 says that it is none
        stub = two_copies.folder / "z.h5"
        text = stub.read_bytes()
        stub.write_bytes(re.sub(rb"inode=\d+", b"inode=%d" % stub.stat().st_ino, text))
    out = beside_a_writer(two_copies, [str(TOOL), *words]).out.decode()
    assert out.startswith("1" if words[1] == "store" else "2"), out
    assert "open to be written" in out
    look = "with h5py.File('y.h5') as f: print(sorted(f), f['mine'][...].sum())"
    assert two_copies.python(look).out == b"['d', 'mine', 'more'] 190\n"
    assert tool(two_copies, "gc", "z.h5").status == 0


def test_a_file_is_not_replaced_while_another_name_of_it_is_written(object_layer: Layer) -> None:
    object_layer.python("with h5py.File('x.h5', 'w') as f: f['d'] = np.arange(3)")
    (object_layer.folder / "x.h5").rename(object_layer.folder / "z.h5")
    shutil.copy(object_layer.folder / "z.h5", object_layer.folder / "y.h5")
    for act in ("h5py.File('z.h5', 'w')", "h5py.h5f.delete(b'z.h5')"):
        if "delete" in act and not hasattr(h5py.h5f, "delete"):
            continue
        done = beside_a_writer(object_layer, [sys.executable, "-c", f"import h5py; {act}"])
        assert b"another name" in done.out, done.text
    look = "with h5py.File('z.h5') as f: print(sorted(f))"
    assert object_layer.python(look).out == b"['d', 'mine', 'more']\n"


def test_what_a_command_changes_survives_a_power_cut(object_layer: Layer, tmp_path: Path) -> None:
    preload = compile_preload(tmp_path, Path(__file__).parent / "programs/syncs.c")
    options = f"store={object_layer.folder}/store;durable=power;"
    object_layer.python(MAKE, options)
    for words in (("gc", "x.h5"), ("rm", "x.h5")):
        done = tool(object_layer, *words, LD_PRELOAD=str(preload))
        assert done.status == 0, done.text
        (syncs,) = re.findall(rb"syncs: (\d+)", done.err)
        assert int(syncs) > 0, words
    assert told(object_layer, "ls", "store") == []


def use_a_type(part: str) -> None:
    if part == "make":
        with h5py.File("x.h5", "w") as f:
            f["type"] = np.dtype([("a", "i4")])
            f["type"].attrs["unit"] = "m"
            f.create_dataset("of_type", (3,), f["type"])
            f["d"] = 1
            f["d"].attrs.create("of_type", 5, dtype=f["type"])
            del f["type"]
    with h5py.File("x.h5") as f:
        assert f["of_type"].id.get_type().committed()
        assert h5py.Datatype(f["of_type"].id.get_type()).attrs["unit"] == "m"


def test_a_committed_type_in_use_is_kept(object_layer: Layer) -> None:
    object_layer.python(partial(use_a_type, "make"))
    assert told(object_layer, "fsck", "x.h5")[-1]["garbage"] == 0
    assert told(object_layer, "gc", "x.h5")[0]["entries"] == 0
    object_layer.python(partial(use_a_type, "look"))
    object_layer.python("with h5py.File('x.h5', 'r+') as f: del f['of_type'], f['d']")
    told(object_layer, "gc", "x.h5")
    assert told(object_layer, "stat", "x.h5")[0]["datatypes"] == 0


def copy_what_is_of_a_type() -> None:
    with h5py.File("x.h5", "w") as f:
        f["type"] = np.dtype([("a", "i4")])
        f.create_group("g").attrs.create(
            "of_type", np.array((5,), f["type"].dtype), dtype=f["type"]
        )
        f.create_dataset("g/d", (3,), f["type"])
        f.copy("g", "copy")
        f.copy("copy", "again")
        for name in ("g", "again"):
            del f[name].attrs["of_type"], f[f"{name}/d"]
        f.flush()
        del f["type"]
    with h5py.File("x.h5") as f:
        assert f["copy/d"].id.get_type().committed()
        assert h5py.h5a.open(f["copy"].id, b"of_type").get_type().committed()


def test_a_copy_counts_as_what_is_of_a_type(object_layer: Layer) -> None:
    object_layer.python(copy_what_is_of_a_type)
    told(object_layer, "gc", "x.h5")
    assert told(object_layer, "fsck", "x.h5")[-1]["garbage"] == 0
