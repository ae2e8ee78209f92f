"""Logs that outlive the program, and cannot be used as they are: canonicalise=later."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import pytest
from layers.log.later.waiting import LATER, logs, made, read_all, write

if TYPE_CHECKING:
    from harness.layer import Layer


def print_refusal(mode: str) -> None:
    try:
        h5py.File("x.h5", mode)
    except OSError as error:
        print(error)


def refused(layer: Layer, mode: str, options: str) -> str:
    """What the layer says when x.h5 is opened."""
    return layer.python(partial(print_refusal, mode), options).text


def flush_and_end() -> None:
    f, _d, _e = made()
    f.flush()
    os._exit(0)


@pytest.mark.parametrize("options", [LATER, ""])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_program_that_did_not_close_its_file(layer: Layer, mode: str, options: str) -> None:
    """More may have been written than is there, so somebody has to decide."""
    layer.python(flush_and_end, LATER)
    text = refused(layer, mode, options)
    assert f"{layer.folder}/x.h5 did not close it; `headrace recover` takes" in text, text
    assert f"log {logs(layer)[0]} cannot be used" in text, text
    layer.python(partial(read_all, mode), options + "recover=true;")
    assert len(logs(layer)) == (mode == "r")


def cut_off_the_last_flush() -> None:
    f, d, _e = made()
    f.flush()
    log = next(Path("x.h5.headrace").iterdir())
    flushed = log.stat().st_size
    d[:, 1::2] = 9
    f.close()
    os.truncate(log, flushed)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_log_without_its_last_flush(layer: Layer, mode: str) -> None:
    """It is a whole one of a program that was killed then, but the file was closed."""
    write(layer, cut_off_the_last_flush)
    assert "did not close it" in refused(layer, mode, LATER)


def replace_dataset(shape: tuple[int, ...], kind: str) -> None:
    mark = h5py.File("x.h5").attrs["_headrace_log"]
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", shape, kind)
        f.create_group("g").create_dataset("e", (40, 40), "f8")
        f.attrs["_headrace_log"] = mark


def read_twice(mode: str) -> None:
    for _ in range(2):
        try:
            f = h5py.File("x.h5", mode)
            d = f["d"]
            for _ in range(2):
                try:
                    d[...]
                except OSError as error:
                    print(error)
        except OSError as error:
            print(error)


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("shape", "kind", "cause"),
    [
        (
            (100, 1000),
            "f4",
            "little-endian float s31 e8@23 bias 127 m23@0 implied, but in its log 4-byte",
        ),
        ((100, 1000), ">i4", "big-endian signed integer, but in its log 4-byte little-endian"),
        ((100, 1000), "u4", "unsigned integer, but in its log 4-byte little-endian signed"),
        ((100, 1000), "i8", "8-byte little-endian signed integer, but in its log 4-byte"),
        ((200, 500), "i4", "extent 200 x 500, but in its log any x 1000"),
        ((100000,), "i4", "extent 100000, but in its log any x 1000"),
        ((99, 1000), "i4", "extent 99 x 1000, but in its log"),
    ],
)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_another_dataset_in_its_place(
    layer: Layer, shape: tuple[int, ...], kind: str, cause: str, mode: str
) -> None:
    write(layer)
    layer.plain(partial(replace_dataset, shape, kind))
    text = layer.python(partial(read_twice, mode)).text
    assert text.count(f"dataset /d of file {layer.folder}/x.h5 has ") >= 2, text
    assert text.count(cause) == (4 if mode == "r" else 2), text
    assert len(logs(layer)) == 1


def remove(layer: Layer) -> None:
    logs(layer)[0].unlink()


def cut(layer: Layer, size: int) -> None:
    log = logs(layer)[0]
    log.write_bytes(log.read_bytes()[:size])


def append(layer: Layer) -> None:
    log = logs(layer)[0]
    log.write_bytes(log.read_bytes() + b"x")


def flip(layer: Layer, at: int) -> None:
    log = logs(layer)[0]
    data = bytearray(log.read_bytes())
    data[at] ^= 1
    log.write_bytes(data)


def write_another_log() -> None:
    f = h5py.File("y.h5", "w")
    f.create_dataset("d", (9, 9), "i1")[:, ::2] = 1
    f.close()


def put_another(layer: Layer) -> None:
    layer.python(write_another_log, LATER)
    logs(layer)[0].write_bytes(logs(layer, "y.h5")[0].read_bytes())


@pytest.mark.share(8)
@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (remove, "cannot be opened"),
        (partial(cut, size=20), "it belongs to another file"),
        (partial(cut, size=0), "it belongs to another file"),
        (partial(flip, at=4000), "has another checksum"),
        (partial(flip, at=70), "is not whole, but others follow it"),
        (partial(cut, size=-1), "did not close it"),
        (append, "1 bytes follow"),
        (put_another, "it belongs to another file"),
    ],
)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_log_that_cannot_be_used(
    layer: Layer, damage: Callable[[Layer], None], cause: str, mode: str
) -> None:
    write(layer)
    damage(layer)
    for options in [LATER] if "not close" in cause else [LATER, "recover=true;"]:
        text = refused(layer, mode, options)
        assert cause in text, text
        assert "x.h5.headrace/" in text
    assert layer.value("len(f.attrs)") == "1", "the file is as it was"
