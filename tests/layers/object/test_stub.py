"""The file that has a container's name: what programs may do with it, and what they are told."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from harness.layer import Layer
from harness.run import run
from harness.stack import CLEAN

from headrace import stores

WRITE = "with h5py.File('x.h5', 'w') as f: f['d'] = np.arange(3)"
READ = "with h5py.File('{}', '{}') as f: print(f['d'][...])"


@pytest.fixture
def made(object_layer: Layer) -> Layer:
    object_layer.python(WRITE)
    return object_layer


def refused(layer: Layer, program: str, *words: str) -> None:
    done = layer.start(program)
    assert done.status == 1, done.text
    assert all(word in done.text for word in words), done.text


def test_a_name_is_a_file(made: Layer) -> None:
    stub = made.folder / "x.h5"
    assert stub.read_bytes().startswith(b"\x89HDF\r\n\x1a\n\ncontainer=")
    assert stub.stat().st_size < 4096
    stub.rename(made.folder / "y.h5")
    assert made.python(READ.format("y.h5", "r+")).out == b"[0 1 2]\n"
    program = "print(h5py.is_hdf5('y.h5'), h5py.is_hdf5('z.h5'))"
    assert made.python(program).out == b"True False\n"


def test_its_time_is_that_of_the_last_writing_close(made: Layer, tmp_path: Path) -> None:
    stub = tmp_path / "x.h5"
    os.utime(stub, (1, 1))
    made.python("with h5py.File('x.h5') as f: list(f)")
    made.python("with h5py.File('x.h5', 'r+') as f: list(f)")
    assert stub.stat().st_mtime == 1
    made.python("with h5py.File('x.h5', 'r+') as f: f['more'] = 1")
    assert stub.stat().st_mtime > 1e9


def test_plain_hdf5_refuses_it(made: Layer) -> None:
    with pytest.raises(OSError, match="superblock version"):
        h5py.File(made.folder / "x.h5")


def test_a_copy_can_be_read_only(made: Layer) -> None:
    shutil.copy(made.folder / "x.h5", made.folder / "copy.h5")
    assert made.python(READ.format("copy.h5", "r")).out == b"[0 1 2]\n"
    refused(made, READ.format("copy.h5", "r+"), "copy.h5 is a copy of the stub", "x.h5")
    made.python("with h5py.File('copy.h5', 'w') as f: f['d'] = 1")  # a container of its own
    assert made.python(READ.format("x.h5", "r")).out == b"[0 1 2]\n"
    (made.folder / "x.h5").unlink()
    assert made.python(READ.format("copy.h5", "r+")).out == b"1\n"


def test_the_copy_is_the_one_where_the_first_is_gone(made: Layer) -> None:
    shutil.copy(made.folder / "x.h5", made.folder / "copy.h5")
    (made.folder / "x.h5").unlink()
    assert made.python(READ.format("copy.h5", "r+")).out == b"[0 1 2]\n"


def test_what_is_written_anew_leaves_nothing_of_the_old(made: Layer) -> None:
    made.python("with h5py.File('x.h5', 'w') as f: f['d'] = np.zeros((1000, 1000))")
    files = made.folder / "store/files"
    assert sum(1 for one in files.rglob("*") if one.is_file() and one.stat().st_size > 65536) == 8
    made.python(WRITE)
    assert sum(1 for one in files.rglob("*") if one.is_file() and one.stat().st_size > 65536) == 0
    assert made.python(READ.format("x.h5", "r")).out == b"[0 1 2]\n"


def test_an_open_file_is_not_replaced(made: Layer) -> None:
    for program in (
        "g = h5py.File('x.h5'); h5py.File('x.h5', 'w')",
        "import subprocess\nwith h5py.File('x.h5'):\n  sys.exit(subprocess.call([sys.executable, "
        "'-c', 'import h5py; h5py.File(\"x.h5\", \"w\")']))",
    ):
        refused(made, program, "open")
    refused(made, "h5py.File('x.h5', 'x')", "x.h5")
    assert made.python(READ.format("x.h5", "r")).out == b"[0 1 2]\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda stub: stub.write_bytes(stub.read_bytes()[:40]), ("x.h5 is damaged",)),
        (
            lambda stub: stub.write_bytes(stub.read_bytes().replace(b"container=", b"container=z")),
            ("x.h5 is damaged",),
        ),
        (lambda stub: shutil.rmtree(stub.parent / "store"), ("does not exist", "container")),
    ],
)
def test_damage_is_told(made: Layer, change: Callable[[Path], Any], words: tuple[str, ...]) -> None:
    change(made.folder / "x.h5")
    refused(made, READ.format("x.h5", "r"), *words)


def test_without_a_store_it_says_what_to_do(made: Layer) -> None:
    done = made.start(READ.format("x.h5", "r"), "")
    assert f"object(store={made.folder}/store)" in done.text
    done = made.start(WRITE, "")
    assert "object(store=/path)" in done.text


def test_others_may_not_look_into_a_store(made: Layer) -> None:
    assert (made.folder / "store").stat().st_mode & 0o077 == 0
    taken = made.folder / "taken"
    taken.mkdir(0o755)
    (taken / "file").write_text("theirs")
    done = made.start(WRITE, f"store={taken};")
    assert done.status == 1
    assert str(taken) in done.text


def test_deleting_it_deletes_what_is_in_it(made: Layer, tmp_path: Path) -> None:
    program = (
        "import ctypes\nlibrary = next(line.split()[-1] for line in open('/proc/self/maps') "
        "if '/libhdf5-' in line)\n"
        "delete = ctypes.CDLL(library).H5Fdelete\n"
        "delete.argtypes = [ctypes.c_char_p, ctypes.c_int64]\n"
        "print(delete(b'x.h5', 0))\n"
    )
    assert made.python(program).out == b"0\n"
    assert not (tmp_path / "x.h5").exists()


def test_folders_may_have_any_name(tmp_path: Path) -> None:
    (folder := tmp_path / "a\nmade=b\\n").mkdir()
    odd = Layer(folder, "object", usual=f"store={tmp_path}/s\\nstore;")
    odd.python(WRITE)
    assert odd.python(READ.format("x.h5", "r+")).out == b"[0 1 2]\n"
    stub = stores.read_stub(folder / "x.h5")
    assert stub is not None
    assert stub.store == f"{tmp_path}/s\\nstore"
    (folder / "x.h5").rename(folder / "store=y.h5")
    assert odd.python(READ.format("store=y.h5", "r+")).out == b"[0 1 2]\n"
    (folder / "store=y.h5").rename(folder / "x.h5")
    shutil.copy(folder / "x.h5", tmp_path)
    copied = Layer(tmp_path, "object", usual=f"store={tmp_path}/s\\nstore;")
    refused(copied, READ.format("x.h5", "r+"), "is a copy of the stub", "made=b\\n/x.h5")


def test_the_launcher_takes_it(tmp_path: Path) -> None:
    headrace = Path(sys.executable).with_name("headrace")
    stack = f"object(store={tmp_path}/store)"
    for program in (WRITE, READ.format("x.h5", "r")):
        text = f"import h5py, numpy as np\n{program}"
        words: list[str | Path] = [headrace, "run", "--quiet", "--stack", stack, "--"]
        done = run([*words, sys.executable, "-c", text], env=CLEAN, cwd=tmp_path)
        assert done.status == 0, done.text
    assert done.out == b"[0 1 2]\n"
