"""Pieces on full or failing disks, processes that are killed, locks and deletions."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness.layer import NATIVE_BELOW, PRELUDE, Layer

from headrace.stripe.fuse import fuse
from headrace.stripe.sets import find

OPTIONS = "files=3;size=4KiB;"
# Two flushes; each step that fails is told, and the others are made.
STEPS = """
import json
told = []
def attempt(step, action):
    try:
        return action()
    except Exception as error:
        told.append(f"{step}: {error}")

def first(f):
    f["a"] = np.arange(20000.0)
    f.create_dataset("c", data=np.arange(10000).reshape(100, 100), chunks=(7, 30), compression=1)

def second(f):
    f["a"][:] = np.arange(20000.0) + 1
    f["b"] = np.arange(5000)
    last = h5py.h5p.create(h5py.h5p.DATASET_CREATE)  # set aside and not written: the file is cut
    last.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    last.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((10_000,))
    h5py.h5d.create(f.id, b"unwritten", h5py.h5t.NATIVE_DOUBLE, space, last)

f = attempt("create", lambda: h5py.File("x.h5", "w"))
if f is not None:
    attempt("first", lambda: first(f))
    attempt("flush", f.flush)
    attempt("second", lambda: second(f))
    attempt("flush", f.flush)
    attempt("close", f.close)
f = None
print(json.dumps(told))
"""
CHECK = """
with h5py.File("NAME") as f:
    assert (f["a"][()] == np.arange(20000.0) + 1).all() and (f["b"][()] == np.arange(5000)).all()
    assert (f["c"][()].ravel() == np.arange(10000)).all()
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual=OPTIONS)


def over_fault(folder: Path, options: str) -> Layer:
    below = f"under_vol=7204;under_info={{{options};journal={folder}/journal;{NATIVE_BELOW}}}"
    return Layer(folder, "stripe", ("vol", "vfd"), usual=OPTIONS, below=below)


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        *((each, "kind=error;errno=ENOSPC") for each in ("write", "truncate", "open", "close")),
        ("write", "kind=short;part=30"),
    ],
)
def test_each_call_fails_once(tmp_path: Path, operation: str, kind: str) -> None:
    """Of a subfile or the stub. Who is told of no failure has a whole file."""
    journal = tmp_path / "journal"
    silent = []
    for hit in (1, 2, 3, 5, 8, 13, 21, 34, 55):
        journal.unlink(missing_ok=True)
        for path in tmp_path.glob("x.h5*"):
            path.unlink()
        faulty = over_fault(tmp_path, f"{kind};op={operation};first={hit};file=x.h5*")
        told = json.loads(faulty.python(STEPS).out)
        if not journal.read_text():
            break  # there are no more such calls
        if told:
            assert "x.h5" in " ".join(told), told
            continue
        silent.append(hit)
        fuse(find(tmp_path / "x.h5"), tmp_path / "whole.h5", lambda _: None, verify=False)
        faulty.plain(CHECK.replace("NAME", "whole.h5"))
        (tmp_path / "whole.h5").unlink()
    assert hit > 1, "no such call was made"
    assert operation == "open" or not silent, silent


def test_a_subfile_that_cannot_be_read(tmp_path: Path) -> None:
    Layer(tmp_path, "stripe", ("vol", "vfd"), usual=OPTIONS).python(STEPS)
    faulty = over_fault(tmp_path, "kind=error;op=read;file=*subfile*2_of_3;count=0")
    done = faulty.start("print(h5py.File('x.h5')['a'][:].sum())")
    assert done.status == 1
    assert "2_of_3" in done.text
    assert "Input/output error" in done.text


def test_a_full_disk(layer: Layer, tmp_path: Path) -> None:
    """One subfile's disk has no room left; what is written once there is some is right."""
    program = f"""
import resource
{STEPS.split("f = attempt", maxsplit=1)[0]}
f = h5py.File("x.h5", "w")
first(f)
f.flush()
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, most))
attempt("write", lambda: f.create_dataset("large", data=np.arange(100_000.0)))
attempt("flush", f.flush)
assert told and all("x.h5" in each for each in told), told
assert "subfile" in told[0] and "File too large" in told[0], told
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
if "large" in f: del f["large"]
second(f)
f.flush()
f.close()
"""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    layer.python(f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{program}")
    fuse(find(tmp_path / "x.h5"), tmp_path / "whole.h5", lambda _: None, verify=False)
    layer.plain(CHECK.replace("NAME", "whole.h5"))


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.02, 0.1])
def test_killed_after_a_flush(layer: Layer, delay: float) -> None:
    """What the flush covered is read, whatever was written since."""
    program = f"""{PRELUDE}
f = h5py.File("x.h5", "w")
f["a"] = np.arange(20000.0)
f.create_dataset("rows", (0, 100), maxshape=(None, 100), chunks=(10, 100), dtype="i4")
f.flush()
print("flushed", flush=True)
for row in range(100_000):
    f["rows"].resize(row + 1, axis=0)
    f["rows"][row] = row
"""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=layer.env(),
        cwd=layer.folder,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "flushed\n"
        time.sleep(delay)
        writer.kill()
        assert writer.wait(timeout=30) == -signal.SIGKILL
    found = find(layer.folder / "x.h5")
    fuse(found, layer.folder / "whole.h5", lambda _: None, verify=False)
    check = "assert (h5py.File('NAME')['a'][()] == np.arange(20000.0)).all()"
    layer.python(check.replace("NAME", "x.h5"))
    layer.plain(check.replace("NAME", "whole.h5"))


def test_one_writer_at_a_time(layer: Layer) -> None:
    """The stub is locked as an ordinary file is."""
    layer.python(
        """
f = h5py.File("x.h5", "w")
import subprocess
other = subprocess.run([sys.executable, "-c", "import h5py; h5py.File('x.h5', 'r+')"],
                       capture_output=True, text=True)
assert other.returncode == 1 and "unable to lock file" in other.stderr, other.stderr
"""
    )


def test_a_deleted_file_leaves_nothing(layer: Layer) -> None:
    layer.python(
        """
import ctypes
h5py.File("x.h5", "w")["a"] = np.arange(20000.0)
(library,) = {line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line}
assert ctypes.CDLL(library).H5Fdelete(b"x.h5", ctypes.c_int64(0)) == 0
assert not [name for name in os.listdir() if name.startswith("x.h5")]
"""
    )


def test_forked_children_and_threads(layer: Layer) -> None:
    """A child that reads by itself and ends, and threads that write datasets of their own."""
    layer.python(
        """
from concurrent.futures import ThreadPoolExecutor
f = h5py.File("x.h5", "w")
f["a"] = np.arange(20000.0)
f.flush()
child = os.fork()
if child == 0:
    ok = (f["a"][()] == np.arange(20000.0)).all()
    os._exit(0 if ok else 1)
assert os.waitpid(child, 0)[1] == 0
def write(number):
    f[f"d{number}"] = np.full(5000, number)
with ThreadPoolExecutor(4) as pool:
    list(pool.map(write, range(40)))
f.close()
with h5py.File("x.h5") as f:
    assert all((f[f"d{number}"][()] == number).all() for number in range(40))
"""
    )


@pytest.mark.parametrize("holder", ["r", "r+"])
@pytest.mark.parametrize("stack", ["stripe", "async,stripe"])
def test_who_is_refused_changes_nothing(layer: Layer, holder: str, stack: str) -> None:
    """HDF5 asks for the lock after the driver has opened a file: the set stays as it was."""
    layer.python('with h5py.File("x.h5", "w") as f: f["a"] = np.arange(20000.0)')
    before = {path.name: path.read_bytes() for path in layer.folder.glob("x.h5*")}
    assert any(name.endswith(".state") for name in before)
    program = f"""
import subprocess
f = h5py.File("x.h5", {holder!r})
other = subprocess.run([sys.executable, "-c", "import h5py; h5py.File('x.h5', 'r+')"],
                       capture_output=True, text=True)
assert other.returncode == 1 and "unable to lock file" in other.stderr, other.stderr
read = "import h5py; print(h5py.File('x.h5', 'r', locking=False)['a'][:].sum())"
subprocess.run([sys.executable, "-c", read], check=True)
os._exit(0)
"""
    if stack == "stripe":
        layer.python(program, f"{OPTIONS}fuse=close;")
    else:
        below = f"under_vol=7214;under_info={{{OPTIONS}fuse=close;{layer.below}}}"
        Layer(layer.folder, "async", ("vol", "vfd"), "seat=both;", below=below).python(program)
    if holder == "r":  # HDF5 2.x marks a file that it opens for writing
        assert {path.name: path.read_bytes() for path in layer.folder.glob("x.h5*")} == before
    layer.python('assert h5py.File("x.h5")["a"][:].sum() == 19999 * 10000')
