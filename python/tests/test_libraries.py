"""Finding the copies of libhdf5 in a process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import PROGRAMS, Compiler


def _copies(*words: str) -> dict[str, bool]:
    """What a fresh process finds when it has done as the words say (programs/finds_copies.py)."""
    command = [sys.executable, str(PROGRAMS / "finds_copies.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_process_without_hdf5() -> None:
    assert _copies() == {}


def test_a_copy_is_initialised_once_it_is_used(fake_hdf5: Path) -> None:
    assert _copies(str(fake_hdf5)) == {str(fake_hdf5): False}
    assert _copies(f"{fake_hdf5}:H5Fopen") == {str(fake_hdf5): True}


def test_what_only_depends_on_a_copy_is_none(
    fake_hdf5: Path, tmp_path: Path, compiler: Compiler
) -> None:
    user = tmp_path / "libuser.so"
    compiler(user, "user_library.c", str(fake_hdf5))
    assert _copies(f"{user}:f") == {str(fake_hdf5): True}


def test_two_copies_are_told_apart(fake_hdf5: Path, tmp_path: Path, compiler: Compiler) -> None:
    other = compiler.hdf5(tmp_path / "libother.so", "1.14.6")
    found = _copies(str(fake_hdf5), f"{other}:H5Fopen")
    assert found == {str(fake_hdf5): False, str(other): True}


def test_a_build_that_hides_the_flag_tells_by_an_id(tmp_path: Path, compiler: Compiler) -> None:
    library = str(compiler(tmp_path / "libsafe.so", "hides_the_flag.c"))
    assert _copies(library) == {library: False}
    assert _copies(f"{library}:H5Fopen") == {library: True}


def test_h5py_initialises_its_copy() -> None:
    found = _copies("h5py")
    (library,) = found
    assert "h5py.libs/libhdf5" in library
    assert found[library] is True
