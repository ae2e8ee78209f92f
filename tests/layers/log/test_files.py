"""Files that are open by several ids, linked or mounted, and files open when HDF5 ends."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np
import pytest
from harness.build import built
from harness.prefix import Hdf5
from harness.program import text_of
from harness.run import run
from layers.log.program_parts import hdf5_of_h5py

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

LATER = "canonicalise=later;"


def replay() -> None:
    for name in ("x.h5", "y.h5"):
        if Path(name).exists():
            h5py.File(name, "r+").close()


def begin() -> tuple[h5py.File, h5py.Dataset]:
    f = h5py.File("x.h5", "w")
    return f, f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))


def close_a_file_found_by_a_link() -> None:
    h5py.File("y.h5", "w").create_group("g")
    f = h5py.File("x.h5", "w")
    f["l"] = h5py.ExternalLink("y.h5", "g")
    f.create_dataset("d", (100, 100), "i4")[:, ::2] = 7
    far = h5py.h5i.get_file_id(h5py.h5o.open(f.id, b"l"))
    assert far.name.endswith(b"y.h5")
    f["d"][:, ::2] = 8
    far.close()
    f["d"][...] = 9
    f.close()


def test_the_file_of_an_object_behind_a_link_is_closed(layer: Layer) -> None:
    layer.python(close_a_file_found_by_a_link, LATER)
    assert layer.counted("writes_logged") > 0
    layer.python(replay)
    layer.plain("assert (h5py.File('x.h5')['d'][...] == 9).all()")


def write_with_committed_types() -> None:
    weak = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    weak.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    for _ in range(2):
        f = h5py.File(h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=weak))
        f["t"] = np.dtype("i4")
        f.create_dataset("d", (100, 100), dtype=f["t"])[:, ::2] = 7
        f["d"][:, 1::2] = 8
        f.id.close()


def check_committed() -> None:
    f = h5py.File("x.h5")
    assert (f["d"][:, ::2] == 7).all()
    assert (f["d"][:, 1::2] == 8).all()
    assert f["d"].id.get_type().committed()


@pytest.mark.parametrize("options", ["", LATER])
def test_committed_types_do_not_keep_a_file_open(layer: Layer, options: str) -> None:
    layer.python(write_with_committed_types, options)
    assert (layer.counted("writes_logged") > 0) == (not options)
    layer.python(replay)
    layer.plain(check_committed)


def close_hdf5() -> None:
    _f, d = begin()
    d[:, ::2] = 7
    hdf5_of_h5py().H5close()
    os._exit(0)


@pytest.mark.parametrize("options", ["", LATER])
def test_hdf5_is_closed_with_a_file_open(layer: Layer, options: str) -> None:
    layer.python(close_hdf5, options)
    assert layer.counted("writes_logged") > 0
    layer.python(replay)
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


@pytest.mark.parametrize("options", ["", LATER])
@pytest.mark.parametrize("build", ["1.14.5-openmpi", "2.2.0-mpich"])
def test_hdf5_ends_and_begins_anew(layer: Layer, build: str, options: str) -> None:
    program = built(f"tests/layers/log/ends_{Hdf5(build).mpi}")
    done = run([program, "x.h5"], env=layer.env(options), cwd=layer.folder, limit=60)
    assert done.status == 0, done.text
    assert layer.counted("writes_logged") == 3
    layer.python(replay)
    layer.plain("assert (h5py.File('x.h5')['d'][...] == np.arange(90) % 3 + 1).all()")


def write_at_the_end() -> None:
    _f, d = begin()
    libc = ctypes.CDLL(None)

    def end(_: int | None) -> None:
        d[...] = 9
        d[0, ::2] = 10

    at_end = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(end)
    assert libc.__cxa_atexit(at_end, None, None) == 0  # noqa: SLF001
    d[:, ::2] = 7
    libc.exit(0)


def check_the_end() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[1:] == 9).all()
    assert (d[0, ::2] == 10).all()
    assert (d[0, 1::2] == 9).all()


def test_a_program_writes_while_it_ends(layer: Layer) -> None:
    """After whatever the layer itself does when a process ends, and before HDF5 ends."""
    layer.python(write_at_the_end, LATER)
    layer.python(replay)
    layer.plain(check_the_end)


def write_to_a_mounted_file() -> None:
    x, y = h5py.File("x.h5", "w"), h5py.File("y.h5", "w")
    x.create_group("m")
    y.create_dataset("d", (100, 100), "i4")[:, ::2] = 6
    h5py.h5f.mount(x.id, b"m", y.id)
    x["m/d"][:, ::2] = 7
    h5py.h5f.unmount(x.id, b"m")
    y["d"][:, 1::2] = 8
    x.close()
    y.close()
    assert not list(Path().glob("*headrace*"))


def check_mounted() -> None:
    x, y = h5py.File("x.h5"), h5py.File("y.h5")
    assert not x.attrs
    assert not y.attrs
    assert (y["d"][:, ::2] == 7).all()
    assert (y["d"][:, 1::2] == 8).all()


def test_a_mounted_file(layer: Layer) -> None:
    layer.python(write_to_a_mounted_file, LATER)
    layer.plain(check_mounted)


def mount() -> None:
    x = h5py.File("x.h5", "w")
    x.create_group("m")
    h5py.h5f.mount(x.id, b"m", h5py.File("y.h5").id)


def test_a_file_with_a_log_is_not_mounted(layer: Layer) -> None:
    layer.python(
        "with h5py.File('y.h5', 'w') as f: f.create_dataset('d', (99, 99))[:, ::2] = 1", LATER
    )
    done = layer.start(mount)
    assert done.status == 1
    assert "y.h5 has a log, which must be replayed first" in done.text, done.text


def reuse_tokens() -> None:
    f = h5py.File("x.h5", "w")
    reused = 0
    for k in range(20):
        nameless = f.create_dataset(None, (100, 100), "i4")
        same = f[nameless.ref]
        same[:, ::2] = 1
        token = h5py.h5o.get_info(same.id).addr
        del nameless, same
        d = f.create_dataset(f"d{k}", (30, 50), "i8")
        reused += h5py.h5o.get_info(d.id).addr == token
        d[:, ::2] = 2**40 + k
    f.close()
    assert reused, "this shows nothing"


def check_reused() -> None:
    f = h5py.File("x.h5")
    assert all((f[f"d{k}"][:, ::2] == 2**40 + k).all() for k in range(20))
    assert not any(f[f"d{k}"][:, 1::2].any() for k in range(20))


@pytest.mark.parametrize("options", ["", LATER])
def test_a_token_that_is_used_again(layer: Layer, options: str) -> None:
    """A dataset without a link goes when it is closed."""
    layer.python(reuse_tokens, options)
    layer.python(replay)
    layer.plain(check_reused)


def read_swmr() -> None:
    d = h5py.File("x.h5", swmr=True)["d"]
    assert (d[:, ::2] == 7).all()
    assert (d[:, 1::2] == 8).all()


def begin_swmr(reader: str) -> None:
    f = h5py.File("x.h5", "w", libver="latest")
    d = f.create_dataset("d", (100, 100), "i4", chunks=(50, 50))
    d[:, ::2] = 7
    f.swmr_mode = True
    d[:, 1::2] = 8
    f.flush()
    subprocess.check_call([sys.executable, "-c", reader])
    f.close()


def test_swmr_begins(layer: Layer) -> None:
    layer.python(partial(begin_swmr, text_of(read_swmr)), LATER)


def write_through_a_link() -> None:
    f = h5py.File("y.h5", "w")
    f.create_dataset("own", (100, 100), "i4")[:, ::2] = 6
    f["l"] = h5py.ExternalLink("x.h5", "d")
    far = f["l"]
    far[:, ::2] = 7
    f["l"][:, 1::2] = 8
    f.close()


def check_linked() -> None:
    d = h5py.File("x.h5")["d"]
    assert (d[:, ::2] == 7).all()
    assert (d[:, 1::2] == 8).all()
    assert not h5py.File("x.h5").attrs


@pytest.mark.parametrize("options", ["", LATER])
def test_data_behind_a_link_is_in_its_own_file(layer: Layer, options: str) -> None:
    """Who opens that file knows nothing of logs beside others."""
    layer.plain("h5py.File('x.h5', 'w').create_dataset('d', (100, 100), 'i4', chunks=(50, 50))")
    layer.python(write_through_a_link, options)
    assert layer.counted("writes_logged") > 0
    layer.plain(check_linked)


def put_a_group_in_its_place() -> None:
    with h5py.File("x.h5") as f:
        mark, address = f.attrs["_headrace_log"], h5py.h5o.get_info(f["d"].id).addr
    with h5py.File("x.h5", "w") as f:
        f.create_group("d")
        assert h5py.h5o.get_info(f["d"].id).addr == address, "this shows nothing"
        f.attrs["_headrace_log"] = mark


def find_a_group(mode: str) -> None:
    text = ""
    try:
        f = h5py.File("x.h5", mode)
    except OSError as error:
        text = str(error)
    else:
        assert mode == "r"
        f.close()
    if text:
        assert "dataset /d of the log is not in file" in text, text
        assert "x.h5" in text, text
    h5py.File("x.h5", "w").close()


@pytest.mark.parametrize("mode", ["r+", "r"])
def test_another_kind_of_object_in_a_dataset_place(layer: Layer, mode: str) -> None:
    """It is told, and left open by nobody: HDF5 would keep the file."""
    layer.python(
        "with h5py.File('x.h5', 'w') as f: f.create_dataset('d', (99, 99), 'i4')[:, ::2] = 1", LATER
    )
    layer.plain(put_a_group_in_its_place)
    layer.python(partial(find_a_group, mode))


def end_with_two_ids_open() -> None:
    h5py.File("x.h5", "w").close()
    first = h5py.File("y.h5", "w", driver="split")
    _others = [h5py.File("y.h5", "r+", driver="split") for _ in range(2)]
    first.close()
    ctypes.CDLL(None).exit(0)


@pytest.mark.parametrize("options", ["", LATER])
def test_three_ids_of_a_file_when_hdf5_ends(layer: Layer, options: str) -> None:
    """HDF5 2.0 closes some when it has freed the file: it must not be asked about it."""
    layer.python(end_with_two_ids_open, options)


def flush_one_of_two() -> None:
    a, b = h5py.File("a.h5", "w"), h5py.File("b.h5", "w")
    for f in (a, b):
        f.create_dataset("d", (100, 100), "i4", maxshape=(None, 100), chunks=(10, 100))
        f["d"][:, ::2] = 1
        f.flush()
    b["d"].resize(200, 0)
    b["d"][100:, ::2] = 2
    b.create_dataset("new", (100, 100), "i4")[:, ::2] = 3
    a["d"][:, 1::2] = 2
    a.flush()
    os._exit(0)


def check_both() -> None:
    for name, odd in (("a.h5", 2), ("b.h5", 0)):
        with h5py.File(name, "r+") as f:
            d = f["d"][:100]
            assert (d[:, ::2] == 1).all(), name
            assert (d[:, 1::2] == odd).all(), name


def test_a_flush_is_one_of_its_file(layer: Layer) -> None:
    """The log of another one must not cover what HDF5 has not written of that."""
    layer.python(flush_one_of_two, LATER)
    layer.python(check_both, LATER + "recover=true;")


def move_amid_writes() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("g/h/d", (100, 100), "i4")
        d[:, ::2] = 1
        f.move("g", "k")
        d[:, 1::2] = 2


def check_moved() -> None:
    d = h5py.File("x.h5")["k/h/d"]
    assert (d[:, ::2] == 1).all()
    assert (d[:, 1::2] == 2).all()


def test_a_group_that_is_moved_amid_writes(layer: Layer) -> None:
    layer.python(move_amid_writes, LATER)
    assert layer.counted("writes_logged") > 0
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    layer.plain(check_moved)
