"""Finding the copies of libhdf5 in a process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import FAKE_HDF5, Compiler

_SHOW = """
import ctypes, json, sys
from headrace.libraries import loaded_hdf5
{action}
print(json.dumps({{str(c.file): c.initialised for c in loaded_hdf5()}}))
"""


def _copies(action: str, *arguments: str) -> dict[str, bool]:
    """What a fresh process finds after `action`."""
    command = [sys.executable, "-c", _SHOW.format(action=action), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_a_process_without_hdf5() -> None:
    assert _copies("") == {}


def test_a_copy_is_initialised_once_it_is_used(fake_hdf5: Path) -> None:
    load = "library = ctypes.CDLL(sys.argv[1])"
    assert _copies(load, str(fake_hdf5)) == {str(fake_hdf5): False}
    assert _copies(f"{load}; library.H5Fopen()", str(fake_hdf5)) == {str(fake_hdf5): True}


def test_what_only_depends_on_a_copy_is_none(
    fake_hdf5: Path, tmp_path: Path, compiler: Compiler
) -> None:
    user = tmp_path / "libuser.so"
    compiler(user, "void H5Fopen(void); void f(void) { H5Fopen(); }", str(fake_hdf5))
    action = "ctypes.CDLL(sys.argv[1]).f()"
    assert _copies(action, str(user)) == {str(fake_hdf5): True}


def test_two_copies_are_told_apart(fake_hdf5: Path, tmp_path: Path, compiler: Compiler) -> None:
    other = compiler(tmp_path / "libother.so", FAKE_HDF5, '-DVERSION="1.14.6"')
    action = "ctypes.CDLL(sys.argv[1]); ctypes.CDLL(sys.argv[2]).H5Fopen()"
    found = _copies(action, str(fake_hdf5), str(other))
    assert found == {str(fake_hdf5): False, str(other): True}


def test_a_build_that_hides_the_flag_tells_by_an_id(tmp_path: Path, compiler: Compiler) -> None:
    source = """
    long H5T_NATIVE_INT_g = -1;
    void H5get_libversion(void) {}
    void H5Fopen(void) { H5T_NATIVE_INT_g = 216172782113783851; }
    """
    library = str(compiler(tmp_path / "libsafe.so", source))
    assert _copies("ctypes.CDLL(sys.argv[1])", library) == {library: False}
    assert _copies("ctypes.CDLL(sys.argv[1]).H5Fopen()", library) == {library: True}


def test_h5py_initialises_its_copy() -> None:
    found = _copies("import h5py")
    (library,) = found
    assert "h5py.libs/libhdf5" in library
    assert found[library] is True
