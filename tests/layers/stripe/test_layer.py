"""Programs of one process under the layer: which files are in pieces, and where these are."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from harness.layer import Layer

from headrace.errors import FileError
from headrace.stripe.configuration import Layout
from headrace.stripe.fuse import fuse
from headrace.stripe.sets import find

pytestmark = pytest.mark.threads
WRITE = """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(100000.0)
    f.create_dataset("c", data=np.arange(10000).reshape(100, 100), chunks=(7, 30), compression=1)
    f["c"].attrs["units"] = "m"
"""
READ = """
with h5py.File("x.h5") as f:
    assert (f["d"][()] == np.arange(100000.0)).all() and f["c"].attrs["units"] == "m"
    assert (f["c"][()].ravel() == np.arange(10000)).all()
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual="files=3;size=4KiB;")


def pieces(layer: Layer) -> list[str]:
    return sorted(path.name for path in layer.folder.glob("*subfile*"))


@pytest.mark.parametrize("stack", ["", "async"])
def test_there_and_back(layer: Layer, stack: str) -> None:
    """Read by plain h5py, too, once the pieces have been made one file."""
    if stack:
        below = f"under_vol=7214;under_info={{files=3;size=4KiB;{layer.below}}}"
        above = Layer(layer.folder, "async", ("vol", "vfd"), "seat=both;", below=below)
        above.python(WRITE)
        above.python(READ)
        assert above.counted("written_behind_bytes") > 20_000
    else:
        layer.python(WRITE)
    layer.python(READ)
    assert layer.counted("striped_read_bytes") > 800_000
    found = find(layer.folder / "x.h5")
    assert found.layout == Layout(4096, 3)
    assert min(found.sizes) > 200_000
    fuse(found, layer.folder / "whole.h5", lambda _: None, verify=False)
    layer.plain(READ.replace("x.h5", "whole.h5"))


def test_a_stub_is_loud(layer: Layer) -> None:
    layer.python(WRITE)
    assert layer.plain("try: h5py.File('x.h5')\nexcept OSError as e: print(e)").endswith(
        "(bad superblock version number)"
    )
    assert b"headrace run --stack stripe" in (layer.folder / "x.h5").read_bytes()


def test_ordinary_files_stay_as_they_are(layer: Layer) -> None:
    layer.plain(WRITE)
    layer.python(READ)
    layer.python("with h5py.File('x.h5', 'r+') as f: f['more'] = 5")
    assert not pieces(layer)
    assert layer.value("f['more'][()]") == "5"


def test_truncated_files_are_made_anew(layer: Layer) -> None:
    """An ordinary file, and a set with more pieces than the new one has."""
    layer.plain(WRITE)
    layer.python(WRITE, "files=5;")
    assert len(pieces(layer)) == 5 + 2
    layer.python(WRITE, "files=2;")
    assert len(pieces(layer)) == 2 + 2
    layer.python(READ)


@pytest.mark.parametrize("mode", ["w", "x"])
def test_files_with_a_user_block_stay_whole(layer: Layer, mode: str) -> None:
    """Programs write to it past HDF5, as those that make MATLAB's files do."""
    if mode == "w":
        layer.python(WRITE)
        assert pieces(layer)
    layer.python(f"""
with h5py.File("x.h5", "{mode}", userblock_size=512) as f: f["d"] = np.arange(100000.0)
with open("x.h5", "r+b") as f: f.write(b"MATLAB 7.3 MAT-file")
with h5py.File("x.h5", "r+") as f: f["e"] = 1
    """)
    assert not pieces(layer)
    layer.plain("assert (h5py.File('x.h5')['d'][()] == np.arange(100000.0)).all()")
    assert (layer.folder / "x.h5").read_bytes().startswith(b"MATLAB")


@pytest.mark.parametrize("name", ["n" * 250, "a\nb.h5", "null"])
def test_files_that_can_have_no_pieces_stay_whole(layer: Layer, name: str) -> None:
    path = layer.folder / name
    if name == "null":
        path.symlink_to("/dev/null")
    layer.start(WRITE.replace('"x.h5"', repr(name)))
    assert "stays one file: " in (layer.folder / "log").read_text()
    assert not [*Path("/dev").glob("null.*")]
    assert not pieces(layer)
    if name != "null":
        layer.python(READ.replace('"x.h5"', repr(name)))
        layer.plain(READ.replace('"x.h5"', repr(name)))


def test_a_folder_that_cannot_be_written(layer: Layer) -> None:
    """The file in it can."""
    layer.python(WRITE)  # the report is there
    (folder := layer.folder / "closed").mkdir()
    (path := folder / "x.h5").touch()
    path.chmod(0o666)
    folder.chmod(0o555)
    open_to_others(layer)
    program = WRITE.replace("x.h5", "closed/x.h5")
    layer.python(f"os.geteuid() or os.setuid(65534)\n{program}")
    told = (layer.folder / "log").read_text()
    assert "no files can be made beside it: Permission denied" in told
    folder.chmod(0o755)
    layer.plain(READ.replace("x.h5", "closed/x.h5"))


def test_pieces_are_for_those_whom_the_file_is_for(layer: Layer) -> None:
    """A file that is truncated keeps its owner and mode, whoever does it with whatever umask."""
    layer.plain(WRITE)
    path = layer.folder / "x.h5"
    path.chmod(0o664)
    if os.geteuid() == 0:
        os.chown(path, 1234, 1235)
    layer.python(f"os.umask(0o077)\n{WRITE}")
    assert len(pieces(layer)) == 3 + 2
    status = [each.stat() for each in layer.folder.glob("x.h5*")]
    (kept,) = {(it.st_uid, it.st_gid, it.st_mode & 0o777) for it in status}
    assert kept == (*((1234, 1235) if os.geteuid() == 0 else kept[:2]), 0o664)


@pytest.mark.sanitized
def test_a_file_that_hdf5_closes_at_exit(layer: Layer) -> None:
    """After the objects of C++ libraries are gone."""
    layer.python(
        """
import ctypes
(library,) = {line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line}
h5py.File("x.h5", "w")["d"] = np.arange(100000.0)
hdf5 = ctypes.CDLL(library)
hdf5.H5Fopen.restype = ctypes.c_int64
assert hdf5.H5Fopen(b"x.h5", 1, ctypes.c_int64(0)) >= 0
"""
    )
    layer.python("assert (h5py.File('x.h5')['d'][()] == np.arange(100000.0)).all()")


def test_a_file_that_took_the_stubs_place(layer: Layer) -> None:
    """`cp` keeps the inode of what it writes over, by which the old pieces would be found."""
    layer.python(WRITE)
    layer.plain("h5py.File('other.h5', 'w')['d'] = np.arange(100000.0)[::-1]")
    shutil.copyfile(layer.folder / "other.h5", layer.folder / "x.h5")
    layer.python("assert h5py.File('x.h5')['d'][0] == 99999")
    (layer.folder / "x.h5").write_bytes(b"no HDF5 at all")
    assert "signature not found" in layer.start("h5py.File('x.h5')").text


def test_a_file_like_the_one_in_pieces(layer: Layer) -> None:
    """The same program without the layer: superblock and layout are as they were, values not."""
    program = "h5py.File('x.h5', 'w')['d'] = np.arange(1000.0)"
    layer.python(program)
    layer.plain(program + " * 2")
    layer.python("assert h5py.File('x.h5')['d'][999] == 1998")
    with pytest.raises(FileError, match="a file of its own"):
        find(layer.folder / "x.h5")


@pytest.mark.parametrize("how", ["moved", "copied"])
def test_a_set_elsewhere(layer: Layer, how: str) -> None:
    layer.python(WRITE)
    away = layer.folder / "away"
    if how == "moved":
        away.mkdir()
        for path in layer.folder.glob("x.h5*"):
            path.rename(away / path.name)
    else:
        shutil.copytree(layer.folder, away)
        for path in layer.folder.glob("x.h5*"):
            path.write_bytes(b"")  # none of it is looked at
    there = Layer(away, "stripe", ("vol", "vfd"))
    there.python(READ)
    there.python("with h5py.File('x.h5', 'r+') as f: f['d'][:] = np.arange(100000.0)")
    there.python(READ)


def test_a_copy_with_links_to_the_pieces_of_the_original(layer: Layer) -> None:
    """Written to, it would change the original. Without that one they are its own."""
    (disk := layer.folder / "disk").mkdir()
    layer.python(WRITE, f"files=3;dirs={disk};")
    away = layer.folder / "away"
    away.mkdir()
    for path in layer.folder.glob("x.h5*"):
        shutil.copy2(path, away / path.name, follow_symlinks=False)
    there = Layer(away, "stripe", ("vol", "vfd"))
    for mode in ("r", "r+"):
        done = there.start(f"h5py.File('x.h5', {mode!r})")
        assert (done.status, "is a copy of" in done.text) == (1, True), done.text
    with pytest.raises(FileError, match="is a copy of"):
        find(away / "x.h5")
    layer.python(READ)
    (layer.folder / "x.h5").unlink()
    there.python("with h5py.File('x.h5', 'r+') as f: f['d'][:] = np.arange(100000.0)")
    there.python(READ)
    assert find(away / "x.h5").size > 800_000


@pytest.mark.parametrize(
    ("lost", "says"),
    [
        ("*_2_of_3", r"_2_of_3: this subfile is missing"),
        ("*.config", r"x.h5 is the stub of a file in pieces, whose configuration"),
    ],
)
def test_what_is_missing_is_named(layer: Layer, lost: str, says: str) -> None:
    layer.python(WRITE)
    (path,) = layer.folder.glob(lost)
    path.unlink()
    for mode in ("r", "r+"):
        done = layer.start(f"h5py.File('x.h5', {mode!r})")
        assert done.status == 1
        assert says in done.text, done.text
    assert not path.exists(), "nothing is made in its place"


def test_a_stub_that_was_copied_over_another_one(layer: Layer) -> None:
    """Its own pieces are not there; those of the file that it has replaced must not be read."""
    layer.python(WRITE)
    layer.python(WRITE.replace("x.h5", "y.h5"))
    shutil.copyfile(layer.folder / "y.h5", layer.folder / "x.h5")
    for mode in ("r", "r+"):
        done = layer.start(f"h5py.File('x.h5', {mode!r})")
        assert done.status == 1
        assert "may have been copied without them" in done.text, done.text
    layer.python(READ.replace("x.h5", "y.h5"))
    layer.python(WRITE + READ)  # a new file of that name


def test_a_file_that_is_renamed_when_it_is_whole(layer: Layer) -> None:
    """As programs do that never leave half a file, over the one before as well."""
    for value in (1, 2):
        layer.python(
            f"""
with h5py.File("part.h5", "w") as f:
    f["d"] = np.full(10000, {value})
os.replace("part.h5", "x.h5")
with h5py.File("x.h5", "r+") as f:
    assert (f["d"][()] == {value}).all()
    f["e"] = np.full(10000, {value})
"""
        )
    layer.python("with h5py.File('x.h5') as f: assert (f['e'][()] == 2).all()")
    fuse(find(layer.folder / "x.h5"), layer.folder / "whole.h5", lambda _: None, verify=False)
    layer.plain("with h5py.File('whole.h5') as f: assert (f['d'][()] == 2).all()")


def test_folders_in_turn(layer: Layer) -> None:
    disks = [layer.folder / name for name in ("one", "two")]
    for disk in disks:
        disk.mkdir()
    layer.python(WRITE, f"dirs={disks[0]}:{disks[1]};size=4KiB;")
    layer.python(READ, "")
    for number, disk in enumerate(disks, start=1):
        (piece,) = disk.iterdir()
        assert piece.name.endswith(f"_{number}_of_2")
        assert (layer.folder / piece.name).readlink() == piece


DATA = "np.random.default_rng(1).integers(0, 9, 1 << 20)"
LARGE = (
    f"data = {DATA}"
    + """
with h5py.File("x.h5", "w") as f:
    f["d"] = data
    assert (f["d"][()] == data).all()
    names = [open(f"/proc/self/task/{each}/comm").read() for each in os.listdir("/proc/self/task")]
    print("workers:", names.count("headrace-worker\\n"))
"""
)


@pytest.mark.parametrize("folder", ["", "another disk"])
@pytest.mark.parametrize("threads", ["", "threads=4;"])
def test_workers(layer: Layer, folder: str, threads: str) -> None:
    """As many as there are disks, if there are several; else as many as an option says."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as shared:
        assert Path(shared).stat().st_dev != layer.folder.stat().st_dev
        dirs = f"{shared}:{layer.folder}:{layer.folder}" if folder else str(layer.folder)
        said = layer.python(LARGE, f"dirs={dirs};size=64KiB;files=4;{threads}").text
        assert said.strip() == f"workers: {4 if threads else 2 if folder else 0}"
        layer.python("assert (h5py.File('x.h5')['d'][()] == LARGE).all()".replace("LARGE", DATA))


def test_a_folder_that_is_not_there(layer: Layer) -> None:
    done = layer.start(WRITE, "dirs=/nowhere/at/all;")
    assert done.status == 1
    assert "/nowhere/at/all" in done.text


def test_what_the_environment_says_to_subfiling(layer: Layer) -> None:
    settings = {"H5FD_SUBFILING_STRIPE_SIZE": "1000", "H5FD_SUBFILING_IOC_PER_NODE": "4"}
    layer.python(WRITE, "", 90, **settings)
    assert find(layer.folder / "x.h5").layout == Layout(1000, 4)
    layer.python(WRITE, "", 90, H5FD_SUBFILING_IOC_SELECTION_CRITERIA="3", **settings)
    assert find(layer.folder / "x.h5").layout == Layout(1000, 4), "no kind is said"
    layer.python(WRITE, "", H5FD_SUBFILING_IOC_SELECTION_CRITERIA="3:6")
    assert find(layer.folder / "x.h5").layout == Layout(32 << 20, 6)
    layer.python(WRITE, "files=2;size=2KiB;", 90, **settings)
    assert find(layer.folder / "x.h5").layout == Layout(2048, 2)
    done = layer.start(WRITE, "", H5FD_SUBFILING_STRIPE_SIZE="many")
    assert "H5FD_SUBFILING_STRIPE_SIZE=many is no number above 0" in done.text
    done = layer.start(WRITE, "", H5FD_SUBFILING_IOC_SELECTION_CRITERIA="2:x")
    assert "H5FD_SUBFILING_IOC_SELECTION_CRITERIA=2:x" in done.text


def test_an_older_set_under_that_name(layer: Layer) -> None:
    """Deleting the stub alone leaves pieces; a new file of that name has another inode."""
    layer.python(WRITE)
    before = set(pieces(layer))
    (layer.folder / "x.h5").rename(layer.folder / "gone")
    layer.python(WRITE)
    layer.python(READ)
    assert set(pieces(layer)) > before


def test_readers_that_may_not_write(layer: Layer) -> None:
    layer.python(WRITE)
    for path in layer.folder.glob("x.h5*"):
        path.chmod(0o444)
    open_to_others(layer)
    layer.python(f"os.geteuid() or os.setuid(65534)\n{READ}", "")


def open_to_others(layer: Layer) -> None:
    """For programs that are another user from some moment on."""
    layer.folder.chmod(0o755)
    for name in ("report", "log"):
        (layer.folder / name).chmod(0o666)
    for above in layer.folder.parents:
        if above.stat().st_uid == os.getuid() and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o055)
