"""Files that become one again when the program closes them, or behind it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness.build import PLUGINS
from harness.layer import Layer
from harness.prefix import Hdf5
from harness.ranks import succeed
from harness.until import until

from headrace.stripe import check
from headrace.stripe.configuration import Layout
from headrace.stripe.fuse import split
from headrace.stripe.sets import find

FUSE = PLUGINS.parents[1] / "bin/headrace-fuse"
WRITE = """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(100000.0)
    f.create_dataset("c", data=np.arange(10000).reshape(100, 100), chunks=(7, 30), compression=1)
"""
READ = """
with h5py.File("x.h5") as f:
    assert (f["d"][()] == np.arange(100000.0)).all()
    assert (f["c"][()].ravel() == np.arange(10000)).all()
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual="files=3;size=4KiB;fuse=close;")


def files(layer: Layer) -> list[str]:
    return sorted(path.name for path in layer.folder.iterdir() if path.name[:4] in ("x.h5", ".x.h"))


def at_work(layer: Layer) -> list[int]:
    """The processes behind programs of this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/headrace-fuse") and str(layer.folder).encode() in words[1]:
            found.append(int(path.parent.name))
    return found


def wait(layer: Layer) -> None:
    end = time.monotonic() + 30
    while at_work(layer):
        assert time.monotonic() < end, layer.log
        time.sleep(0.01)


@pytest.mark.parametrize("stack", ["", "async"])
def test_whole_when_it_is_closed(layer: Layer, stack: str) -> None:
    if stack:
        below = f"under_vol=7214;under_info={{{layer.usual}{layer.below}}}"
        above = Layer(layer.folder, "async", ("vol", "vfd"), "seat=both;", below=below)
        above.python("os.umask(0o027)\n" + WRITE)
        assert above.counted("written_behind_bytes") > 20_000
    else:
        layer.python("os.umask(0o027)\n" + WRITE)
        assert layer.counted("striped_written_bytes") > 800_000
    assert files(layer) == ["x.h5"]
    assert (layer.folder / "x.h5").stat().st_mode & 0o777 == 0o640
    layer.plain(READ)
    layer.python(READ)


def test_only_who_has_written_makes_it_whole(layer: Layer) -> None:
    layer.python(WRITE, "files=3;")
    layer.python(READ)
    assert len(files(layer)) == 6
    layer.python("with h5py.File('x.h5', 'r+') as f: f['more'] = 5")
    assert files(layer) == ["x.h5"]
    layer.plain(READ)


@pytest.mark.parametrize("when", ["later", "close", "background"])
def test_a_forked_child_ends(layer: Layer, when: str) -> None:
    """HDF5 closes the file in the child, and the parent goes on to write to it."""
    layer.python(
        """
import glob
f = h5py.File("x.h5", "w")
f["a"] = np.arange(5000)
f.flush()
if (child := os.fork()) == 0:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
(state,) = glob.glob("*.state")
assert "state=open" in open(state).read()
f["b"] = np.arange(50000)
f.close()
""",
        f"files=3;size=4KiB;fuse={when};",
    )
    until(lambda: when == "later" or files(layer) == ["x.h5"])
    layer.python("f = h5py.File('x.h5'); assert f['b'][49999] == 49999 and f['a'][4999] == 4999")


@pytest.mark.parametrize("stack", ["", "async"])
def test_open_twice(layer: Layer, stack: str) -> None:
    """HDF5 opens it for a moment to see that it has it; only the last close makes one file."""
    above = layer
    if stack:
        below = f"under_vol=7214;under_info={{{layer.usual}{layer.below}}}"
        above = Layer(layer.folder, "async", ("vol", "vfd"), "seat=both;", below=below)
    above.python(
        """
import glob
f = h5py.File("x.h5", "w")
f["a"] = np.arange(1000)
g = h5py.File("x.h5", "r+")
g["b"] = np.arange(1000)
assert len(glob.glob("x.h5*")) == 6
f["a"][:] = np.arange(1000) + 1
f.close()
assert len(glob.glob("x.h5*")) == 6
assert g["b"][999] == 999 and g["a"][999] == 1000
g.close()
assert len(glob.glob("x.h5*")) == 1
"""
    )
    assert layer.value("f['a'][999], f['b'][999]") == "1000 999"


def test_folders(layer: Layer, tmp_path: Path) -> None:
    """Links to subfiles elsewhere go with what they lead to."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    layer.python(WRITE, f"files=3;size=4KiB;fuse=close;dirs={tmp_path}/one:{tmp_path}/two;")
    assert files(layer) == ["x.h5"]
    assert not [*tmp_path.glob("one/*"), *tmp_path.glob("two/*")]
    assert layer.value("f['d'][99999]") == "99999.0"


def test_a_user_block(layer: Layer, tmp_path: Path) -> None:
    """Of a file that was cut up when it had one."""
    path = tmp_path / "x.h5"
    layer.plain(WRITE.replace('"w"', '"w", userblock_size=1024'))
    with path.open("r+b") as file:
        file.write(b"mine")
    split(path, path, Layout(4096, 3), (), lambda _: None)
    layer.python("h5py.File('x.h5', 'r+')['e'] = np.arange(5000)")
    assert files(layer) == ["x.h5"]
    assert path.read_bytes().startswith(b"mine")
    assert layer.value("f.userblock_size, f['d'][99999], f['e'][4999]") == "1024 99999.0 4999"


def test_no_room_for_the_whole(layer: Layer) -> None:
    """The close says so, and all is there in pieces."""
    limit = 500_000  # bytes of any file; a piece has fewer
    program = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
    done = layer.start(program + WRITE)
    assert done.status != 0
    assert "x.h5 stays in pieces" in done.text
    assert len(files(layer)) == 6
    assert not check.fault_of(find(layer.folder / "x.h5"))
    layer.python(READ)


def test_behind_the_program(layer: Layer) -> None:
    """Who opens the file again meanwhile finds it whole."""
    again = "with h5py.File('x.h5', 'r+') as f: f['d'][:5] = f['d'][:5]\n"
    layer.python(WRITE + again + READ, "files=3;size=4KiB;fuse=background;")
    wait(layer)
    assert files(layer) == ["x.h5"]
    layer.plain(READ)
    assert "is one file now" in layer.log


def begin(layer: Layer, config: Path) -> list[int]:
    """A process behind no program, if it is still there."""
    stub = layer.folder / "x.h5"
    with config.open("r+b") as locked:
        subprocess.run(
            ["/bin/bash", "-c", f"exec {FUSE} {stub} {config} 3<&{locked.fileno()}"],
            pass_fds=[locked.fileno()],
            check=True,
        )
    return at_work(layer)


@pytest.mark.parametrize("after", [0, 0.0005, 0.002, 0.01, 0.03])
def test_killed_behind_the_program(layer: Layer, after: float) -> None:
    """The set is there, or the file; who comes next has what was written."""
    layer.python(WRITE, "files=3;size=512;")
    found = find(layer.folder / "x.h5")
    processes = begin(layer, found.config)
    time.sleep(after)
    for each in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    wait(layer)
    layer.python(READ, "files=3;fuse=later;")
    if any(name.endswith(".config") for name in files(layer)):
        layer.python("h5py.File('x.h5', 'r+').close()")
    layer.plain(READ)


def test_who_writes_past_the_locks_is_not_overwritten(layer: Layer) -> None:
    """A program without the layer, and without locks, that makes the file anew."""
    layer.python(WRITE, "files=3;size=4KiB;")
    found = find(layer.folder / "x.h5")
    lock = "import fcntl, sys\nf = open('x.h5', 'r+b')\nfcntl.flock(f, fcntl.LOCK_EX)\n"
    with subprocess.Popen(
        [sys.executable, "-c", lock + "print('locked', flush=True)\nsys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=layer.folder,
    ) as other:  # fmt: skip
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"locked\n"
        assert begin(layer, found.config)  # it waits for the lock
        layer.plain("os.environ['HDF5_USE_FILE_LOCKING'] = 'FALSE'\n"
                    "h5py.File('x.h5', 'w', locking=False)['new'] = 5")  # fmt: skip
        other.stdin.close()
    wait(layer)
    assert layer.value("list(f)") == "['new']"


@pytest.mark.parametrize(("mode", "output", "says"), [
    ("r", None, "a program has it open"),
    ("r+", None, "a program has it open"),
    ("r+", "whole.h5", "a program has it open for writing"),
    ("r", "whole.h5", ""),
])  # fmt: skip
def test_while_it_is_open(layer: Layer, mode: str, output: str | None, says: str) -> None:
    layer.python(WRITE, "files=3;size=4KiB;")
    told = layer.python(
        f"""
import headrace
with h5py.File("x.h5", {mode!r}) as f:
    try:
        headrace.fuse("x.h5", {output!r})
    except headrace.HeadraceError as error:
        print(error, end="")
    assert (f["d"][()] == np.arange(100000.0)).all()
""",
        "fuse=later;",
    )
    assert told.out.decode() == (f"x.h5: {says}" if says else "")
    layer.python(READ, "fuse=later;")


def test_asked_for_by_the_program(layer: Layer) -> None:
    """By file, in h5py and netCDF4's words; and of a file that is closed."""
    layer.python(
        """
import headrace
with h5py.File("one.h5", "w") as f:
    assert headrace.fuse_when_closed(f, "close")
    f["d"] = np.arange(100.0)
    f.flush()
    found = headrace.subfiles(f)
    assert [each.path.name[-6:] for each in found] == ["1_of_3", "2_of_3", "3_of_3"], found
    assert found[0].written and found[0].path.stat().st_size, found
    assert not found[2].written and not found[2].path.stat().st_size, found
whole = h5py.File("one.h5")
assert not headrace.subfiles(whole) and not headrace.fuse_when_closed(whole)
with h5py.File("two.h5", "w") as f:
    f["d"] = np.arange(100.0)
    assert headrace.fuse_when_closed(f, "later")
headrace.fuse("two.h5", "whole.h5", verify=True)
try:
    headrace.fuse("one.h5")
except headrace.HeadraceError as error:
    print(error)
""",
        "files=3;size=64KiB;",
    )
    names = sorted(path.name for path in layer.folder.glob("*.h5*"))
    assert [name[:6] for name in names] == ["one.h5"] + 6 * ["two.h5"] + ["whole."]
    for name in ("one", "whole"):
        assert layer.plain(f"print(h5py.File('{name}.h5')['d'][99])") == "99.0"


@pytest.mark.parametrize("when", ["close", "background"])
@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi"], indirect=True)
def test_ranks(layer: Layer, hdf5: Hdf5, when: str) -> None:
    connector = f"headrace_stripe files=4;size=5000;fuse={when};{layer.below}"
    for case in ("write", "append"):
        succeed(layer, hdf5, 3, "striped_ranks", "mpio", case, "x.h5", connector=connector)
    wait(layer)
    assert files(layer) == ["x.h5"]
    assert layer.value("f['later'].size") == "50000"
