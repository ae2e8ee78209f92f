"""What a program does at once after the write of chunks that are compressed behind it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import h5py
import pytest
from filters.fields import REST, frame

if TYPE_CHECKING:
    from harness.layer import Layer


def sevens() -> tuple[Any, Any]:
    """A file that is left open, and its dataset of as many elements as a frame."""
    f = h5py.File("x.h5", "w")
    d = f.create_dataset("d", (400, 500), "f4", maxshape=(None, 500), **REST)
    d[...] = 7
    return f, d


def write_the_same_again() -> None:
    f, d = sevens()
    d[...] = 8
    f.close()


def write_a_part() -> None:
    f, d = sevens()
    d[50] = 8
    f.close()


def write_parts() -> None:
    f, d = sevens()
    for i in range(400):
        d[i, 3:4] = 8
    f.close()


def write_scattered() -> None:
    f, d = sevens()
    d[[3, 5], :] = 8
    f.close()


def close_and_open() -> None:
    f, d = sevens()
    del d
    f["d"][0] = 8
    f.close()


def write_by_two_handles() -> None:
    f, d = sevens()
    e = f["d"]
    e[0] = 8
    d[1] = 8
    del e
    d[2] = 8
    f.close()


def shrink() -> None:
    f, d = sevens()
    d.resize(100, 0)
    d.resize(400, 0)
    f.close()


def shrink_within_a_chunk() -> None:
    f, d = sevens()
    d.resize(50, 0)
    d.resize(400, 0)
    f.close()


def delete() -> None:
    f, d = sevens()
    del d
    del f["d"]
    f.create_dataset("d", data=[9.0])
    f.close()


def move() -> None:
    f, d = sevens()
    del d
    f.move("d", "e")
    f.move("e", "d")
    f.close()


def copy() -> None:
    f, d = sevens()
    f.copy("d", "e")
    del f["d"]
    f.move("e", "d")
    assert d
    f.close()


def replace() -> None:
    f, d = sevens()
    del d
    del f["d"]
    f.create_dataset("d", data=frame(0) * 0 + 1)
    f.close()


def exit_with_all_open() -> None:
    keep = sevens()
    assert keep
    sys.exit()


def exit_with_the_file_open() -> None:
    f, d = sevens()
    del d
    assert f
    sys.exit()


def read_in_a_child() -> None:
    f, d = sevens()
    child = os.fork()
    if child == 0:
        os._exit(0 if (d[...] == 7).all() else 1)
    d[0] = 8
    assert os.waitpid(child, 0)[1] == 0
    f.close()


def write_after_a_child() -> None:
    f, d = sevens()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    d[0] = 8
    f.close()


# And the sum of the dataset in the end.
FOLLOWS = [
    (write_the_same_again, 8 * 200_000),
    (write_a_part, 7 * 200_000 + 500),
    (write_parts, 7 * 200_000 + 400),
    (write_scattered, 7 * 200_000 + 1000),
    (close_and_open, 7 * 200_000 + 500),
    (write_by_two_handles, 7 * 200_000 + 1500),
    (shrink, 7 * 50_000),
    (shrink_within_a_chunk, 7 * 25_000),
    (delete, 9),
    (move, 7 * 200_000),
    (copy, 7 * 200_000),
    (replace, 200_000),
    (exit_with_all_open, 7 * 200_000),
    (exit_with_the_file_open, 7 * 200_000),
    (read_in_a_child, 7 * 200_000 + 500),
    (write_after_a_child, 7 * 200_000 + 500),
]


@pytest.mark.share(16)
@pytest.mark.parametrize(("program", "total"), FOLLOWS)
@pytest.mark.parametrize("options", ["seat=vol;", "seat=both;chunk_cache=300000;threads=1;"])
def test_what_follows(filters: Layer, program: Any, total: int, options: str) -> None:
    filters.python(program, options)
    assert filters.value("float(f['d'][...].sum(dtype='f8'))") == str(float(total))
