"""What HDF5 does only for drivers that have a feature (H5FD_FEAT_*), and what files in pieces lack.

SWMR by every way in: when a file is opened or made, later, below async; ordinary files keep it.
Symbolic links: see tests/crash/test_symbolic_links.py, too.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from harness.layer import Layer

OPTIONS = "files=3;size=4KiB;"
NAMES_REMEDY = "headrace fuse makes one file of it"
ROWS = """
f = h5py.File("x.h5", "w", libver="latest")
d = f.create_dataset("d", (10,), maxshape=(None,), chunks=(10,), dtype="i4")
"""
# An ordinary file, followed by another process.
FOLLOWED = """
import subprocess
f.swmr_mode = True
d.resize((20,))
d[:] = 7
d.flush()
read = "import h5py; print(h5py.File('x.h5', 'r', libver='latest', swmr=True)['d'][:].sum())"
shown = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True)
assert shown.stdout == "140\\n", shown
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual=OPTIONS)


def over_stripe(folder: Path) -> Layer:
    below = f"under_vol=7214;under_info={{{OPTIONS}under_vol=0;under_info={{}}}}"
    return Layer(folder, "async", ("vol", "vfd"), "seat=both;", below=below)


def require_refused(text: str) -> None:
    assert "stripe: file" in text, text
    assert "x.h5 is in pieces" in text, text
    assert "(SWMR)" in text, text
    assert NAMES_REMEDY in text, text


@pytest.mark.parametrize("stack", ["stripe", "async,stripe"])
def test_a_file_in_pieces_is_not_followed(layer: Layer, stack: str) -> None:
    """Who was refused goes on: the file is as it was."""
    which = over_stripe(layer.folder) if stack == "async,stripe" else layer
    said = which.python(f"""{ROWS}
d[:] = 5
for step in (lambda: setattr(f, "swmr_mode", True), lambda: f.id.start_swmr_write()):
    try:
        step()
    except Exception as error:
        print(error)
assert not f.swmr_mode
d.resize((20,))
d[10:] = 6
f.close()
for options in ({{"mode": "r", "swmr": True}}, {{"mode": "r+", "swmr": True}}):
    try:
        h5py.File("x.h5", libver="latest", **options)
    except Exception as error:
        print(error)
try:
    h5py.h5f.open(b"x.h5", h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE)
except Exception as error:
    print(error)
with h5py.File("x.h5", "r+") as f:
    assert f["d"][:].sum() == 110
    f["e"] = 1
""").out.decode()  # fmt: skip
    refusals = [line for line in said.splitlines() if line]
    assert len(refusals) >= 4, said
    for each in refusals:
        require_refused(each)
    layer.python("assert h5py.File('x.h5')['d'][:].sum() == 110")
    assert list(layer.folder.glob("*.config"))


def test_ordinary_files_are_followed(layer: Layer) -> None:
    """Those that were there before, and those that are made for it."""
    layer.plain(ROWS)
    layer.python(f"f = h5py.File('x.h5', 'r+', libver='latest'); d = f['d']\n{FOLLOWED}")
    layer.python(f"""
access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
flags = h5py.h5f.ACC_TRUNC | h5py.h5f.ACC_SWMR_WRITE
f = h5py.File(h5py.h5f.create(b"x.h5", flags, fapl=access))
d = f.create_dataset("d", (10,), maxshape=(None,), chunks=(10,), dtype="i4")
d[:] = 7
f.flush()
f.close()
f = h5py.File("x.h5", "r+", libver="latest")
d = f["d"]
{FOLLOWED}""")
    assert not list(layer.folder.glob("*subfile*"))


def test_what_hdf5_tells_of_files_for_swmr_only(layer: Layer) -> None:
    """H5Fget_eoa and H5Fincrement_filesize ask for a driver that could do SWMR."""
    layer.python("""
import ctypes
(library,) = {line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line}
hdf5 = ctypes.CDLL(library)
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(10000)
    eoa = ctypes.c_uint64()
    assert hdf5.H5Fget_eoa(ctypes.c_int64(f.id.id), ctypes.byref(eoa)) == 0
    assert 80000 < eoa.value < 100000, eoa
    assert hdf5.H5Fincrement_filesize(ctypes.c_int64(f.id.id), ctypes.c_uint64(5000)) == 0
with h5py.File("x.h5", "r+") as f:
    assert f["d"][9999] == 9999
""")


def test_opening_by_a_symbolic_link_syncs_nothing(tmp_path: Path) -> None:
    """HDF5 asks for the descriptor then, as a program does that will write by it."""
    below = "under_vol=7204;under_info={kind=error;op=flush;file=*subfile*;count=0;"
    below += f"journal={tmp_path}/journal;under_vol=0;under_info={{}}}}"
    faulty = Layer(tmp_path, "stripe", ("vol", "vfd"), usual=OPTIONS, below=below)
    faulty.python("""
with h5py.File("x.h5", "w") as f: f["d"] = np.arange(5000)
os.symlink("x.h5", "sym.h5")
with h5py.File("sym.h5", "r+") as f:
    f["e"] = np.arange(5000)
    f.flush()
assert h5py.File("sym.h5")["e"][4999] == 4999
""")


MANY = """
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (36, most))
files = []
try:
    for i in range(TOP):
        files.append(h5py.File(f"f{i}.h5", MODE))
        if MODE == "w": files[-1]["d"] = np.full(3000, i)
except OSError:
    pass
print(len(files))
for k in range(3):
    for i, f in enumerate(files):
        assert f["d"][5] == i and f["d"][2999] == i
        if MODE != "r":
            f["d"][:] = i
            f.flush()
for f in files: f.close()
"""


def test_descriptors(layer: Layer) -> None:
    """Nearly as many files as natively: subfiles that are least used are closed meanwhile."""
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] >= 36
    program = MANY.replace("TOP", "60")
    native = int(layer.plain(program.replace("MODE", "'w'")))
    for path in layer.folder.glob("f*.h5"):
        path.unlink()
    most = int(layer.python(program.replace("MODE", "'w'"), "files=1;").out)
    assert native - 3 <= most <= native, (most, native)
    for mode in ("'r+'", "'r'"):
        program = MANY.replace("TOP", str(most)).replace("MODE", mode)
        assert int(layer.python(program, "files=1;").out) == most, mode


def test_one_file_of_many_subfiles(layer: Layer) -> None:
    """More of them than the process may have open, read and written by turns."""
    layer.python("""
import resource
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (36, most))
data = np.random.default_rng(1).integers(0, 99, 100_000)
with h5py.File("x.h5", "w") as f:
    f["d"] = data
    f["d"][::7] = data[::7]
    f.flush()
    assert (f["d"][:] == data).all()
with h5py.File("x.h5") as f:
    assert (f["d"][:] == data).all()
""", "files=60;size=1KiB;")  # fmt: skip
    assert len(list(layer.folder.glob("*_of_60"))) == 60
