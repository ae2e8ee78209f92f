"""Logs on a node's own storage (option `path`): what is written is there first."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.program import text_of
from harness.run import Result, run
from harness.stack import CLEAN
from layers.log.later.background import processes, wait
from layers.log.later.commands import HEADRACE
from layers.log.ranks.kept_by_ranks import FILES, require_in_order, succeed

pytestmark = pytest.mark.sanitized

FOLDER = f"headrace-{os.geteuid()}"


@pytest.fixture
def place() -> Iterator[Path]:
    """On another file system than the tests' files."""
    made = Path(tempfile.mkdtemp(prefix="headrace-test-", dir="/dev/shm"))
    yield made
    shutil.rmtree(made)


def logs_in(place: Path) -> list[Path]:
    return sorted(place.glob(f"{FOLDER}/logs@*/*"))


def later(place: Path, more: str = "canonicalise=later;") -> str:
    return f"{more}path={place};"


def checkpoint(value: int, name: str = "x.h5", mode: str = "w") -> None:
    """Whole arrays by a call each, which HDF5 alone writes without any detour."""
    with h5py.File(name, mode) as f:
        for kind, how in (("plain", {}), ("gzip", {"compression": 1, "chunks": (100, 100)})):
            d = f.require_dataset(kind, (300, 400), "f8", **how)
            d[...] = np.arange(120_000.0).reshape(300, 400) + value
        f.attrs["step"] = value


def check(value: int, name: str = "x.h5") -> None:
    with h5py.File(name) as f:
        for kind in ("plain", "gzip"):
            found = f[kind][...]
            assert (found == np.arange(120_000.0).reshape(300, 400) + value).all(), kind
        assert f.attrs["step"] == value


def print_before() -> None:
    with h5py.File("x.h5") as f:
        print(f["plain"][...].any())


def open_file(mode: str) -> None:
    h5py.File("x.h5", mode)


def headrace(layer: Layer, *words: str | Path, **environ: str) -> Result:
    return run([HEADRACE, *words], env={**CLEAN, **environ}, cwd=layer.folder)


def test_all_is_written_there_and_migrated_by_the_command(layer: Layer, place: Path) -> None:
    layer.python(partial(checkpoint, 1), later(place))
    assert layer.counted("writes_logged") == 2
    assert [each.suffix for each in logs_in(place)] == [".file", ".log"]
    assert place.stat().st_dev != layer.folder.stat().st_dev
    (link,) = layer.folder.glob("x.h5.headrace/*")
    assert link.is_symlink()
    layer.python(partial(check, 1))  # through the log
    assert layer.plain(print_before) == "False"
    listed = headrace(layer, "cache", "ls", "--logs", place)
    assert f"{layer.folder}/x.h5 has " in listed.text
    done = headrace(layer, "cache", "migrate", "--path", place)
    assert done.status == 0, done.text
    layer.plain(partial(check, 1))
    assert not logs_in(place)
    assert not (layer.folder / "x.h5.headrace").exists()


@pytest.mark.parametrize(("when", "rate", "least"), [("later", 512, 3), ("background", 1024, 1.5)])
def test_within_a_bandwidth(layer: Layer, place: Path, when: str, rate: int, least: float) -> None:
    """KiB a second, of two arrays of 960 kB; the command alone takes some 1.5 s."""
    layer.python(partial(checkpoint, 1), later(place, f"canonicalise={when};bandwidth={rate}KiB;"))
    began = time.monotonic()
    if when == "background":
        wait(layer, "x.h5")
    else:
        more = {"HEADRACE_LOG_BANDWIDTH": f"{rate}KiB"}
        done = headrace(layer, "cache", "migrate", "--path", place, **more)
        assert done.status == 0, done.text
    assert time.monotonic() - began > least
    assert not logs_in(place)
    layer.plain(partial(check, 1))


def test_a_process_of_its_own_migrates_it(layer: Layer, place: Path) -> None:
    for value in (1, 2):
        layer.python(partial(checkpoint, value), later(place, "canonicalise=background;"))
        wait(layer, "x.h5")
        assert layer.log.count("is in order") == value, layer.log
        layer.plain(partial(check, value))
    assert not logs_in(place)
    assert not [*layer.folder.glob("x.h5.*")]


def test_a_writer_under_the_layer_migrates_it(layer: Layer, place: Path) -> None:
    layer.python(partial(checkpoint, 1), later(place))
    layer.python(partial(checkpoint, 2, mode="r+"), later(place))
    layer.python(partial(check, 2))
    layer.python(partial(checkpoint, 3, mode="r+"))
    layer.plain(partial(check, 3))
    assert not logs_in(place)


def test_a_new_file_of_the_name_removes_it(layer: Layer, place: Path) -> None:
    layer.python(partial(checkpoint, 1), later(place))
    layer.python(partial(checkpoint, 2))
    layer.plain(partial(check, 2))
    assert not logs_in(place)


def test_files_of_one_name_in_two_folders(layer: Layer, place: Path) -> None:
    for value, name in ((1, "a"), (2, "b")):
        (layer.folder / name).mkdir()
        layer.python(partial(checkpoint, value, f"{name}/x.h5"), later(place))
    assert len(logs_in(place)) == 4
    assert headrace(layer, "cache", "migrate", "--path", place).status == 0
    for value, name in ((1, "a"), (2, "b")):
        layer.plain(partial(check, value, f"{name}/x.h5"))


def test_on_another_node_it_is_refused_with_that_nodes_name(layer: Layer, place: Path) -> None:
    layer.python(partial(checkpoint, 1), later(place))
    here = place / FOLDER
    here.rename(place / "elsewhere")
    for mode in ("r", "r+"):
        refused = layer.start(partial(open_file, mode))
        assert refused.status != 0
        assert f"on the storage of node {socket.gethostname()}" in refused.text
    refused = headrace(layer, "replay", "x.h5")
    assert refused.status != 0
    assert f"on the storage of node {socket.gethostname()}" in refused.text
    (place / "elsewhere").rename(here)
    layer.python(partial(check, 1))


@pytest.mark.parametrize("when", ["close", "later", "background"])
def test_without_that_storage_it_is_beside_the_file(layer: Layer, when: str) -> None:
    layer.python(partial(checkpoint, 1), f"canonicalise={when};path={layer.folder}/missing;")
    wait_or_migrate(layer, when)
    layer.plain(partial(check, 1))
    if when != "close":
        assert "beside its file" in layer.log


def wait_or_migrate(layer: Layer, when: str) -> None:
    if when == "background":
        wait(layer, "x.h5")
    elif when == "later":
        assert headrace(layer, "replay", "x.h5").status == 0
    assert not processes(layer)


def test_a_relative_path_and_a_file_that_is_called_like_a_folder_of_logs(layer: Layer) -> None:
    (layer.folder / "disk").mkdir()
    for when in ("later", "background"):
        options = f"canonicalise={when};path=disk;"
        layer.python(partial(checkpoint, 1, "logs@x.h5"), options)
        if when == "background":
            wait(layer, "logs@x.h5")
        else:
            layer.python(partial(check, 1, "logs@x.h5"))
            assert headrace(layer, "cache", "migrate", "--path", "disk").status == 0
        layer.plain(partial(check, 1, "logs@x.h5"))
        assert not logs_in(layer.folder / "disk")


def test_a_file_that_was_moved_is_not_said_to_be_done(layer: Layer, place: Path) -> None:
    layer.python(partial(checkpoint, 1), later(place))
    for name in ("x.h5", "x.h5.headrace"):
        (layer.folder / name).rename(layer.folder / name.replace("x", "y"))
    layer.python(partial(checkpoint, 2), later(place))
    done = headrace(layer, "cache", "migrate", "--path", place)
    assert done.status == 1
    assert "is left: it was made for" in done.text
    layer.plain(partial(check, 2))
    layer.python(partial(check, 1, "y.h5"))
    assert headrace(layer, "replay", "y.h5").status == 0
    layer.plain(partial(check, 1, "y.h5"))
    assert not logs_in(place)
    assert headrace(layer, "cache", "migrate", "--path", place / "missing").status == 2


def test_a_crash_leaves_what_was_flushed(layer: Layer, place: Path) -> None:
    def crash() -> None:
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", (10, 1000), "i4")
        for i in range(10):
            d[i] = i + 1
            if i == 5:
                f.flush()
        os._exit(1)

    def recovered() -> None:
        with h5py.File("x.h5") as f:
            print(f["d"][:, 0].tolist()[:6], (f["d"][:6] == np.arange(1, 7)[:, None]).all())

    layer.start(crash, later(place))
    assert len(logs_in(place)) == 2
    done = headrace(layer, "recover", "x.h5")
    assert done.status == 0, done.text
    assert layer.plain(recovered) == "[1, 2, 3, 4, 5, 6] True"
    assert not logs_in(place)


def test_a_log_of_scattered_writes_may_be_there_without_a_name(layer: Layer, place: Path) -> None:
    def columns() -> None:
        with h5py.File("x.h5", "w") as f:
            d = f.create_dataset("d", (2000, 100), "i4")
            for i in range(100):
                d[:, i] = i

    layer.python(columns, f"path={place};")
    assert layer.counted("writes_logged") == 100
    assert not logs_in(place)
    assert layer.plain(columns_are_right) == "True"


def columns_are_right() -> None:
    with h5py.File("x.h5") as f:
        print((f["d"][...] == np.arange(100)).all())


def many_checkpoints(count: int) -> None:
    """4 MB by each call."""
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", (count, 500_000), "f8", chunks=(1, 500_000))
        for i in range(count):
            d[i] = i


def check_many(count: int) -> None:
    with h5py.File("x.h5") as f:
        assert (f["d"][:, ::1000] == np.arange(count)[:, None]).all()


def test_a_place_that_becomes_full_costs_time_alone(layer: Layer) -> None:
    """In a mount namespace of its own, where a small file system is mounted."""
    small = layer.folder / "small"
    small.mkdir()
    (layer.folder / "write.py").write_text(text_of(partial(many_checkpoints, 12)))
    script = f"""
    set -e
    mount -t tmpfs -o size=20m none {small}
    {sys.executable} write.py
    {HEADRACE} replay x.h5
    """
    unshare = shutil.which("unshare")
    assert unshare is not None
    if run([unshare, "-mu", "true"], env=CLEAN, cwd=layer.folder).status != 0:
        pytest.skip("mount namespaces are not allowed here")
    done = layer.command([unshare, "-m", "sh", "-c", script], later(small))
    assert done.status == 0, done.text
    assert layer.counted("writes_logged") > 0
    layer.plain(partial(check_many, 12))


@pytest.mark.parametrize("per", ["rank", "node"])
def test_ranks_of_a_node_find_each_others(layer: Layer, place: Path, per: str) -> None:
    connector = (
        f"headrace_log canonicalise=later;mpi_logs={per};path={place};under_vol=0;under_info={{}}"
    )
    succeed(layer, Hdf5("2.2.0-mpich"), 2, "mpi_logs", "write", "0", connector=connector)
    assert any(each.suffix == ".log" for each in logs_in(place))
    assert headrace(layer, "cache", "migrate", "--path", place).status == 0
    require_in_order(layer, *FILES)
    assert not logs_in(place)
