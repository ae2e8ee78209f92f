"""Who writes a file in pieces, and who reads it.

Ranks under the layer, HDF5's own subfiling, h5py under the layer, and plain h5py once the pieces
have been made one file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.ranks import succeed
from harness.replaced import leave
from harness.stack import NATIVE

from headrace.errors import FileError
from headrace.stripe import check
from headrace.stripe.configuration import Layout
from headrace.stripe.fuse import fuse
from headrace.stripe.sets import find

pytestmark = pytest.mark.parametrize("hdf5", MATRIX, indirect=True)
PROGRAM = "striped_ranks"
LAYOUTS = [Layout(64 << 10, 3), Layout(5000, 2), Layout(4 << 20, 1), Layout(1000, 12)]
VALUES = """
want = (1000 * np.arange(50)[:, None] + np.arange(1000)).astype(float)
with h5py.File(sys.argv[1]) as f:
    again = {"contiguous", "deflated"} if "later" in f else set()
    wrong = [name for name in f if not np.array_equal(f[name][()], want + 7 * (name in again))]
    print(wrong, len(f) >= 6)
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"))


class Ranks:
    """Programs over MPI with the file x.h5, under the layer or over HDF5's own driver."""

    def __init__(self, layer: Layer, hdf5: Hdf5, layout: Layout) -> None:
        self.layer, self.hdf5, self.layout = layer, hdf5, layout

    def ours(self, case: str, ranks: int, more: str = "", **environment: str) -> None:
        options = f"size={self.layout.stripe};files={self.layout.count};{more}"
        connector = f"headrace_stripe {options}{self.layer.below}"
        words = (PROGRAM, "mpio", case, "x.h5")
        succeed(self.layer, self.hdf5, ranks, *words, connector=connector, **environment)

    def theirs(self, case: str, ranks: int = 2) -> None:
        settings = {
            "H5FD_SUBFILING_STRIPE_SIZE": str(self.layout.stripe),
            "H5FD_SUBFILING_IOC_PER_NODE": str(min(self.layout.count, ranks)),
        }
        words = (PROGRAM, "subfiling", case, "x.h5")
        succeed(self.layer, self.hdf5, ranks, *words, connector=NATIVE, **settings)

    def serial(self) -> None:
        """h5py reads it under the layer, and plain h5py what `fuse` makes of it."""
        path = self.layer.folder / "x.h5"
        assert self.layer.python(_values("x.h5")).out.decode().split("\n")[0] == "[] True"
        found = find(path)
        assert not check.fault_of(found)
        fuse(found, path.with_name("whole.h5"), lambda _: None, verify=True)
        assert self.layer.plain(_values("whole.h5")) == "[] True"


def _values(name: str) -> str:
    return f"sys.argv[1:] = [{name!r}]\n{VALUES}"


@pytest.mark.share(2)
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_written_by_us(layer: Layer, hdf5: Hdf5, layout: Layout) -> None:
    ranks = Ranks(layer, hdf5, layout)
    ranks.ours("write", 3)
    assert find(layer.folder / "x.h5").layout == layout
    ranks.theirs("read")
    ranks.theirs("rewrite")
    ranks.ours("read", 2)
    ranks.theirs("append")
    ranks.ours("read", 2)
    ranks.serial()
    ranks.ours("write", 1)
    ranks.ours("append", 4)
    ranks.theirs("read")
    ranks.serial()


@pytest.mark.share(2)
@pytest.mark.parametrize("layout", LAYOUTS[:2], ids=str)
@pytest.mark.parametrize("room", ["16MiB", "1"])
def test_written_for_the_node(layer: Layer, hdf5: Hdf5, layout: Layout, room: str) -> None:
    """One rank writes for others what has room in memory that they share."""
    several = {"MPIR_CVAR_NUM_CLIQUES": "2"}  # nodes, as MPICH has it; Open MPI has one
    options = f"aggregate=node;aggregate_size={room};"
    ranks = Ranks(layer, hdf5, layout)
    ranks.ours("write", 4, options, **several)
    gathered = layer.counted("gathered_bytes")
    assert gathered > 2_500_000 if room == "16MiB" else 10_000 < gathered < 200_000, gathered
    ranks.theirs("read")
    ranks.serial()
    ranks.ours("append", 3, options, **several)
    ranks.ours("read", 2, options)
    ranks.serial()


@pytest.mark.parametrize("ranks", [1, 3])
def test_checksums(layer: Layer, hdf5: Hdf5, ranks: int) -> None:
    """Ranks share the subfiles; who writes to them later leaves none, or others."""
    made = Ranks(layer, hdf5, Layout(5000, 5))
    made.ours("write", ranks, "checksums=true;")
    found = find(layer.folder / "x.h5")
    assert found.state is not None
    assert len(found.state.checksums) == 5
    assert check.require_checksums(found)
    byte = found.subfiles[3].read_bytes()[4321] ^ 1
    with found.subfiles[3].open("r+b") as piece:
        os.pwrite(piece.fileno(), bytes([byte]), 4321)
    with pytest.raises(FileError, match="_4_of_5: its bytes are not those"):
        check.require_checksums(found)
    made.ours("append", 2)
    assert not check.require_checksums(find(layer.folder / "x.h5"))


@pytest.mark.parametrize("layout", [Layout(64 << 10, 2), Layout(1 << 20, 1)], ids=str)
def test_written_by_subfiling(layer: Layer, hdf5: Hdf5, layout: Layout) -> None:
    ranks = Ranks(layer, hdf5, layout)
    ranks.theirs("write")
    ranks.ours("read", 1)
    ranks.serial()
    ranks.ours("append", 3)
    ranks.theirs("read")
    ranks.serial()


def test_written_by_h5py(layer: Layer, hdf5: Hdf5) -> None:
    layer.python(
        """
with h5py.File("x.h5", "w") as f:
    for name in ("contiguous", "alone", "chunked", "chunked_alone", "deflated", "converted"):
        chunked = {"chunks": (7, 300)} if name in ("chunked", "deflated") else {}
        if name == "deflated":
            chunked["compression"] = "gzip"
        f.create_dataset(name, data=(1000 * np.arange(50)[:, None] + np.arange(1000.0)), **chunked)
""",
        "files=3;size=4KiB;",
    )
    ranks = Ranks(layer, hdf5, Layout(4096, 3))
    ranks.theirs("read")
    ranks.ours("append", 2)
    ranks.theirs("read")
    ranks.serial()


@pytest.mark.parametrize(
    ("options", "ranks", "count"),
    [("per=rank;", 3, 3), ("per=rank;files=2;", 2, 4), ("per=total;files=5;", 2, 5), ("", 2, 1)],
)
def test_how_many_pieces(layer: Layer, hdf5: Hdf5, options: str, ranks: int, count: int) -> None:
    connector = f"headrace_stripe {options}{layer.below}"
    succeed(layer, hdf5, ranks, PROGRAM, "mpio", "write", "x.h5", connector=connector)
    assert find(layer.folder / "x.h5").layout.count == count


def test_replaced_and_truncated(layer: Layer, hdf5: Hdf5) -> None:
    """A file under another one's name, beside a set whose inode the system has used again."""
    ranks = Ranks(layer, hdf5, LAYOUTS[1])
    x, part, old = (layer.folder / name for name in ("x.h5", "part.h5", "old.h5"))
    ranks.ours("write", 3)
    x.rename(part)
    ranks.ours("write", 2)
    part.replace(x)
    layer.python("h5py.File('old.h5', 'w')['d'] = 1", "files=3;")
    left = leave(old, x.stat().st_ino)
    assert find(x).config != left
    ranks.ours("append", 2)
    ranks.ours("read", 3)
    ranks.serial()
    ranks.ours("write", 2)
    ranks.theirs("read")
    ranks.serial()


def test_an_ordinary_file_stays_one(layer: Layer, hdf5: Hdf5) -> None:
    succeed(layer, hdf5, 2, PROGRAM, "mpio", "write", "x.h5", connector=NATIVE)
    ranks = Ranks(layer, hdf5, LAYOUTS[0])
    ranks.ours("append", 2)
    ranks.ours("read", 3)
    assert layer.plain(_values("x.h5")) == "[] True"
    assert not list(layer.folder.glob("*subfile*"))


def test_without_its_connector(layer: Layer, hdf5: Hdf5) -> None:
    """HDF5 would give collective transfers to the driver in a form that only mpio understands."""
    driver = {
        "HDF5_PLUGIN_PATH": str(layer.plugins),
        "HDF5_DRIVER": "headrace_stripe_mpi",
    }
    # The program sets mpio by itself, so the variable is for what takes HDF5's default.
    told = succeed(layer, hdf5, 2, PROGRAM, "default", "fail", "x.h5", connector=NATIVE, **driver)
    assert all("needs its connector" in each["opened"] for each in told), told


DONE, ABSENT = 0, 1  # headrace_operation_'s results


def test_asked_by_a_program_in_c(layer: Layer, hdf5: Hdf5) -> None:
    """Row r of 8000 bytes is rank r % 2's; each is a stripe but for what lies before the data."""
    connector = f"headrace_stripe size=8000;files=4;{layer.below}"
    told = succeed(layer, hdf5, 2, PROGRAM, "mpio", "asked", "x.h5", connector=connector)
    assert all(each["told"][:2] == [DONE, DONE] for each in told), told
    assert all(each["told"][2] < 0 for each in told), "no such time"
    assert all(each["written"] == "1111" and each["stripe"] == 8000 for each in told), told
    assert sorted(path.name for path in layer.folder.glob("x.h5*")) == ["x.h5"]
    assert layer.value("f['contiguous'][49, 999]") == "49999.0"
    told = succeed(layer, hdf5, 2, PROGRAM, "mpio", "asked", "y.h5", connector=NATIVE)
    assert all(each["told"] == 3 * [ABSENT] for each in told), told
    assert all(each["written"] == "" and each["stripe"] == 0 for each in told), told


def test_asked_for_an_address(layer: Layer, hdf5: Hdf5) -> None:
    """The program may write there by itself, when it has closed the file."""
    connector = f"headrace_stripe size=8000;files=4;{layer.below}"
    succeed(layer, hdf5, 2, PROGRAM, "mpio", "address", "x.h5", connector=connector)
    assert [path.name for path in layer.folder.glob("x.h5*")] == ["x.h5"]
    assert layer.value("f['contiguous'][49, 999]") == "49999.0"


def test_no_atomic_mode(layer: Layer, hdf5: Hdf5) -> None:
    words = (PROGRAM, "mpio", "atomic", "x.h5")
    told = succeed(layer, hdf5, 2, *words, connector=f"headrace_stripe {layer.below}")
    assert all("has no atomic mode" in each["said"] for each in told), told


def test_a_rank_whose_piece_is_full(layer: Layer, hdf5: Hdf5) -> None:
    """All ranks are told by the flush what one of them could not write."""
    fault = "kind=error;op=write;errno=ENOSPC;file=*subfile*2_of_3;count=1000000"
    below = f"under_vol=7204;under_info={{{fault};under_vol=0;under_info={{}}}}"
    connector = f"headrace_stripe size=64KiB;files=3;{below}"
    told = succeed(layer, hdf5, 3, PROGRAM, "mpio", "fail", "x.h5", connector=connector)
    assert any("2_of_3" in each["wrote"] for each in told), told
    assert all("2_of_3" in each["flushed"] for each in told), told


def test_a_rank_that_cannot_write_together(layer: Layer, hdf5: Hdf5) -> None:
    """All ranks are told by their call; the flush that follows has nothing to tell."""
    fault = "kind=error;op=write;errno=ENOSPC;file=*subfile*2_of_3;rank=1"
    below = f"under_vol=7204;under_info={{{fault};under_vol=0;under_info={{}}}}"
    connector = f"headrace_stripe size=64KiB;files=3;{below}"
    told = succeed(layer, hdf5, 3, PROGRAM, "mpio", "fail_together", "x.h5", connector=connector)
    assert all("2_of_3" in each["wrote"] for each in told), told
    assert all(each["flushed"] == each["closed"] == "" for each in told), told


def test_a_program_in_another_folder(layer: Layer, hdf5: Hdf5, tmp_path: Path) -> None:
    away = tmp_path / "away"
    ranks = Ranks(layer, hdf5, LAYOUTS[1])
    ranks.ours("write", 2)
    away.mkdir()
    for piece in layer.folder.glob("x.h5*"):
        piece.rename(away / piece.name)
    moved = Ranks(Layer(away, "stripe", ("vol", "vfd")), hdf5, LAYOUTS[1])
    moved.ours("append", 2)
    moved.serial()
