"""One file reached in two ways must stay one file: two sets of caches would lose data."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import h5py
import numpy as np
import pytest
from h5py import h5f, h5o, h5p
from harness.stack import NATIVE
from harness.stacked import Stacked

from headrace.libraries import loaded_hdf5


def write_by_a_link_and_directly(explicit: bool) -> None:
    """The link is followed with an access list that names a driver of its own."""
    h5py.File("b.h5", "w").close()
    with h5py.File("a.h5", "w") as a:
        a["link"] = h5py.ExternalLink("b.h5", "/")
    b = h5py.File("b.h5", "r+", locking=False)
    a = h5py.File("a.h5", "r+", locking=False)
    files = h5p.create(h5p.FILE_ACCESS)
    if explicit:
        files.set_fapl_sec2()
    files.set_fclose_degree(h5f.CLOSE_STRONG)
    files.set_file_locking(False, True)
    links = h5p.create(h5p.LINK_ACCESS)
    links.set_elink_fapl(files)
    group = h5py.Group(h5o.open(a.id, b"link", lapl=links))
    for i in range(20):
        b[f"p{i}"] = np.arange(100) + i
        group[f"q{i}"] = np.arange(100) - i
    print(sorted(b) == sorted(group), len(b), links.get_elink_fapl().get_driver() == h5py.h5fd.SEC2)
    group = None
    b.close()
    a.close()
    with h5py.File("b.h5") as f:
        print(sum((f[f"p{i}"][:] - f[f"q{i}"][:] == 2 * i).all() for i in range(20)))


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("stack", [NATIVE, "null(seat=vol)", "null(seat=both)", "null,model"])
def test_external_link_to_an_open_file(stacked: Stacked, stack: str, explicit: bool) -> None:
    done = stacked.start(partial(write_by_a_link_and_directly, explicit), stack)
    assert done.status == 0, done.text
    assert done.out.decode().split("\n")[:2] == ["True 40 True", "20"]


def open_again_with_the_same_access() -> None:
    f = h5py.File("x.h5", "w")
    again = h5f.open(b"x.h5", h5f.ACC_RDWR, fapl=f.id.get_access_plist())
    g = h5py.File(again)
    f["a"] = 1
    print(list(g), g.driver)


@pytest.mark.parametrize("stack", [NATIVE, "null(seat=both)"])
def test_reopened_with_its_own_access_list(stacked: Stacked, stack: str) -> None:
    done = stacked.start(open_again_with_the_same_access, stack)
    assert done.status == 0, done.text
    assert done.out.decode() == "['a'] sec2\n"


def access_by_null(text: bytes) -> Any:
    """A file access list with the null layer, by its connection string."""
    hdf5 = ctypes.CDLL(str(loaded_hdf5()[0].file))
    hdf5.H5VLregister_connector_by_name.restype = ctypes.c_int64
    hdf5.H5VLregister_connector_by_name.argtypes = ctypes.c_char_p, ctypes.c_int64
    hdf5.H5VLconnector_str_to_info.argtypes = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    hdf5.H5Pset_vol.argtypes = ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
    connector = hdf5.H5VLregister_connector_by_name(b"headrace_null", 0)
    info = ctypes.c_void_p()
    assert hdf5.H5VLconnector_str_to_info(text, connector, ctypes.byref(info)) >= 0
    files = h5p.create(h5p.FILE_ACCESS)
    assert hdf5.H5Pset_vol(files.id, connector, info) >= 0
    return files


def write_by_two_stacks() -> None:
    """A file that a link leads to is opened with the driver of the file that holds the link."""
    over_model = b"under_vol=7202;under_info={under_vol=0;under_info={}}"
    one, other = access_by_null(over_model), access_by_null(b"under_vol=0;under_info={}")
    h5py.File("t.h5", "w").close()
    a = h5py.File(h5f.create(b"a.h5", h5f.ACC_TRUNC, fapl=one))
    t = h5py.File(h5f.open(b"t.h5", h5f.ACC_RDWR, fapl=one))
    b = h5py.File(h5f.create(b"b.h5", h5f.ACC_TRUNC, fapl=other))
    for holder in (a, b):
        holder["link"] = h5py.ExternalLink("t.h5", "/")
    t["n"] = np.arange(3)
    print("n" in a["link"], "n" in b["link"])
    a["link"]["q"] = np.arange(4000)
    b["link"]["s"] = np.arange(4000)
    t["r"] = np.arange(4000)
    for file in (b, t, a):
        file.close()
    with h5py.File("t.h5") as f:
        print(sorted(f))


def test_two_stacks_in_a_process(stacked: Stacked) -> None:
    done = stacked.start(write_by_two_stacks, "null(seat=both)", HDF5_USE_FILE_LOCKING="FALSE")
    assert done.status == 0, done.text
    assert done.out.decode() == "True True\n['n', 'q', 'r', 's']\n"
