"""Programs that ask where data lie in a file, and read and write there past HDF5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harness.layer import NATIVE_BELOW, Layer

pytestmark = pytest.mark.threads
OPTIONS = "files=3;size=64KiB;"
# Zeros at the end that nobody writes; what is past HDF5 is written between two of its own writes.
WRITE = """
def own(at, values):
    with open("x.h5", "r+b") as file:
        file.seek(at)
        file.write(values.tobytes())
def early(f, name, count):
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple((count,))
    return h5py.h5d.create(f.id, name, h5py.h5t.IEEE_F64LE, space, create)
f = h5py.File("x.h5", "w")
f["a"] = np.arange(500_000.0)
f.create_dataset("c", data=np.arange(10_000.0).reshape(100, 100), chunks=(7, 30))
early(f, b"last", 1_000_000)
f.flush()
"""
CHECK = """
with h5py.File("x.h5") as f:
    expected = np.arange(500_000.0)
    expected[1000:2000] = -1
    expected[3000:4000] = -3
    assert (f["a"][()] == expected).all()
    assert f["b"][()] == 1 and not f["last"][()].any()
    assert f["c"][0, 0] == -5 and (f["c"][()].ravel()[1:] == np.arange(1.0, 10_000)).all()
"""


def layer_of(folder: Path, stack: str, more: str = "") -> Layer:
    options = OPTIONS + more
    if stack == "stripe":
        return Layer(folder, "stripe", ("vol", "vfd"), usual=options)
    below = f"under_vol=7214;under_info={{{options}{NATIVE_BELOW}}}"
    return Layer(folder, stack, ("vol", "vfd"), "seat=both;", below=below)


@pytest.mark.parametrize("threads", ["", "threads=4;"])
@pytest.mark.parametrize("stack", ["stripe", "async"])
def test_a_file_that_is_written_becomes_one(tmp_path: Path, stack: str, threads: str) -> None:
    """Much of what was written before is under way still."""
    layer = layer_of(tmp_path, stack, threads)
    layer.python(f"""{WRITE}
f["under way"] = np.arange(2_000_000.0)
assert os.path.exists("x.h5") and len(os.listdir()) > 3
place = f["a"].id.get_offset()
own(place + 8 * 1000, np.full(1000, -1.0))
f["a"][3000:4000] = -3
chunk = f["c"].id.get_chunk_info(0)
f["c"].id.refresh()
own(chunk.byte_offset, np.array([-5.0]))
f["b"] = 1
f.close()
""")
    layer.plain(CHECK)
    layer.plain("assert (h5py.File('x.h5')['under way'][()] == np.arange(2_000_000.0)).all()")
    assert [path.name for path in tmp_path.glob("x.h5*")] == ["x.h5"]
    assert (tmp_path / "x.h5").stat().st_blocks * 512 < 24 << 20, "no room for zeros"
    layer.python(CHECK)


def test_readers_are_not_told(tmp_path: Path) -> None:
    """Where chunks lie is: programs want to know how long they are."""
    layer = layer_of(tmp_path, "stripe")
    layer.python(WRITE + "f.close()")
    pieces = sorted(path.name for path in tmp_path.glob("x.h5*"))
    layer.python("""
f = h5py.File("x.h5")
assert f["a"].id.get_offset() is None
assert f["c"].id.get_chunk_info(0).size == 7 * 30 * 8
assert (f["a"][()] == np.arange(500_000.0)).all()
""")
    assert sorted(path.name for path in tmp_path.glob("x.h5*")) == pieces


@pytest.mark.parametrize("how", ["link", "mount"])
def test_in_another_file(tmp_path: Path, how: str) -> None:
    """A dataset that the program reaches by the name of a file that has no data."""
    reach = {
        "link": 'g["x"] = h5py.ExternalLink("x.h5", "/a"); data = g["x"]',
        "mount": 'g.create_group("x"); f = h5py.File("x.h5", "r+")\n'
        'h5py.h5f.mount(g.id, b"x", f.id); data = g["x/a"]',
    }[how]
    layer_of(tmp_path, "stripe").python(f"""{WRITE}
f["c"][0, 0] = -5
f["b"] = 1
f["a"][3000:4000] = -3
f.close()
g = h5py.File("g.h5", "w")
{reach}
data[3000] = -3
own(data.id.get_offset() + 8 * 1000, np.full(1000, -1.0))
""")
    assert [path.name for path in tmp_path.glob("x.h5*")] == ["x.h5"]
    layer_of(tmp_path, "stripe").plain(CHECK)


def over_fault(folder: Path, plan: str) -> Layer:
    below = f"under_vol=7204;under_info={{{plan};journal=journal;{NATIVE_BELOW}}}"
    return Layer(folder, "stripe", ("vol", "vfd"), usual=OPTIONS, below=below)


@pytest.mark.parametrize(
    ("operation", "calls"), [("write", 5), ("flush", 2), ("truncate", 3), ("read", 3)]
)
def test_without_room_it_stays_in_pieces(tmp_path: Path, operation: str, calls: int) -> None:
    """And may be asked once more, when there is room."""
    tried = 0
    for hit in range(1, calls + 1):
        plan = f"kind=error;errno=ENOSPC;op={operation};file=*x.h5;first={hit}"
        if operation == "read":
            plan = plan.replace("*x.h5", "*subfile*")
        layer = over_fault(tmp_path, plan)
        program = f"""{WRITE}
import json
told = f["a"].id.get_offset()
first = told is None
if first:
    assert len([name for name in os.listdir() if "subfile" in name]) == 5
    told = f["a"].id.get_offset()
own(told + 8 * 1000, np.full(1000, -1.0))
f["a"][3000:4000] = -3
f["c"][0, 0] = -5
f["b"] = 1
f.close()
print(json.dumps(first))
"""
        done = layer.python(program)
        layer.plain(CHECK)
        tried += json.loads(done.out)
        for path in tmp_path.glob("x.h5*"):
            path.unlink()
    assert tried > 0, "no such call was made"


ASK = f"""{WRITE}
print("flushed", flush=True)
f["a"].id.get_offset()
print("told", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("outcome", ["lost", "torn", "mixed", "kept"])
def test_a_power_cut_on_the_way(tmp_path: Path, outcome: str) -> None:
    """What was flushed is there, in pieces or in one file."""
    options = f"{OPTIONS}sync=true;"
    over_fault(tmp_path, "kind=delay;delay=0;op=write;count=0").python(ASK, options)
    writes = len((tmp_path / "journal").read_text().splitlines())
    pieces = []
    for hit in range(writes - 5, writes + 1):
        for path in tmp_path.glob("x.h5*"):
            path.unlink()
        plan = f"kind=power_cut;op=write;outcome={outcome};seed={hit};first={hit}"
        done = over_fault(tmp_path, plan).start(ASK, options)
        assert b"told" not in done.out
        if b"flushed" in done.out:  # before that there is nothing to be sure of
            layer_of(tmp_path, "stripe").python("""
with h5py.File("x.h5") as f:
    assert (f["a"][()] == np.arange(500_000.0)).all() and not f["last"][()].any()
""")
            pieces.append(len(list(tmp_path.glob("x.h5.subfile*"))))
    assert len(pieces) >= 4, pieces
    assert set(pieces) == {5}, "they go last"


def test_who_has_the_descriptor_may_trust_in_fsync(tmp_path: Path) -> None:
    """What a program then syncs is the stub: the pieces must have been."""
    plan = "kind=error;op=flush;file=*subfile*;count=0"
    done = over_fault(tmp_path, plan).python(f"""{WRITE}
try:
    f.id.get_vfd_handle()
except Exception as error:
    print("handle:", error)
try:
    f.flush()
except Exception as error:
    print("flush:", error)
""")
    for step in (b"handle:", b"flush:"):
        assert any(step in line and b"subfile_" in line for line in done.out.splitlines()), (
            done.text
        )
