"""Files in pieces that have several names, by hard links.

Every command and layer that puts a new file in the place of a user's: fuse (at once, at the close,
in the background), split, restripe, move, remove, H5Fdelete. A log's working copy, the other one
that is renamed over a file, is in tests/layers/log/later/test_replay_copy.py. Programs, and links
in other folders, too.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import pytest
from harness.layer import Layer
from typer.testing import CliRunner

from headrace.cli.commands import app
from headrace.errors import FileError
from headrace.stripe.sets import find

WRITE = "h5py.File('x.h5', 'w')['d'] = np.arange(10000)"
READ = "assert h5py.File('{}')['d'][9999] == 9999"


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual="files=3;size=4KiB;")


def refused(*words: str | Path) -> str:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code != 0, ended.output
    return " ".join(ended.output.split())


def require_both(layer: Layer) -> None:
    layer.python(READ.format("x.h5"))
    layer.python(READ.format("link.h5"))


def test_commands(layer: Layer) -> None:
    layer.python(WRITE)
    x, link = layer.folder / "x.h5", layer.folder / "link.h5"
    link.hardlink_to(x)
    require_both(layer)
    inode = x.stat().st_ino
    for words in (
        ("fuse", x),
        ("fuse", link),
        ("restripe", x, "--size", "8KiB"),
        ("stripe", "move", x, x.with_name("y.h5")),
        ("stripe", "remove", link),
    ):
        assert "it has 2 names (hard links)" in refused(*words), words
    assert (x.stat().st_ino, link.stat().st_ino) == (inode, inode)
    require_both(layer)
    whole = layer.folder / "whole.h5"
    assert CliRunner().invoke(app, ["fuse", str(link), "--output", str(whole)]).exit_code == 0
    (layer.folder / "other.h5").hardlink_to(whole)
    assert "(hard links)" in refused("split", whole, "--files", "2")
    assert "(hard links)" in refused("fuse", x, "--output", whole)
    with h5py.File(layer.folder / "other.h5") as f:
        assert f["d"][9999] == 9999
    link.unlink()
    assert CliRunner().invoke(app, ["fuse", str(x)]).exit_code == 0


@pytest.mark.parametrize("fuse", ["close", "background"])
def test_fused_by_the_layer(layer: Layer, fuse: str) -> None:
    """The close says why the file stays in pieces, or the log does."""
    layer.python(WRITE)
    (layer.folder / "link.h5").hardlink_to(layer.folder / "x.h5")
    program = "f = h5py.File('link.h5', 'r+'); f['e'] = 1; f.close()"
    done = layer.start(program, f"fuse={fuse};")
    assert (done.status == 0) == (fuse == "background"), done.text
    layer.python(READ.format("link.h5"))  # waits for who is at work
    said = done.text if fuse == "close" else layer.log
    assert "stays in pieces: it has 2 names (hard links)" in said, said
    require_both(layer)
    assert find(layer.folder / "x.h5").subfiles


def test_programs(layer: Layer) -> None:
    """What one name is used for the other one shows, and where one is deleted the other stays."""
    layer.python(f"""{WRITE}
os.link("x.h5", "link.h5")
with h5py.File("link.h5", "w") as f: f["d"] = np.arange(10000)[::-1]
assert h5py.File("x.h5")["d"][0] == 9999
with h5py.File("x.h5", "r+") as f: f["d"][:] = np.arange(10000)
assert h5py.File("link.h5")["d"][9999] == 9999
import ctypes
(library,) = {{line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5-" in line}}
assert ctypes.CDLL(library).H5Fdelete(b"link.h5", ctypes.c_int64(0)) == 0
assert not os.path.exists("link.h5") and h5py.File("x.h5")["d"][9999] == 9999
assert ctypes.CDLL(library).H5Fdelete(b"x.h5", ctypes.c_int64(0)) == 0
assert not [name for name in os.listdir() if name.startswith(("x.h5", "link.h5"))]
""")


def test_a_link_in_another_folder(layer: Layer) -> None:
    """The stub knows where its pieces are; a moved one tells, too."""
    layer.python(WRITE)
    (away := layer.folder / "away").mkdir()
    (away / "link.h5").hardlink_to(layer.folder / "x.h5")
    says = f"it is another name of {layer.folder}/x.h5, beside which its subfiles lie"
    assert says in layer.start("h5py.File('away/link.h5')").text
    with pytest.raises(FileError, match=r"another name of .*/x.h5, beside which its subfiles lie"):
        find(away / "link.h5")
    (layer.folder / "x.h5").unlink()
    says = f"were made beside {layer.folder}/x.h5"
    assert says in layer.start("h5py.File('away/link.h5')").text
    with pytest.raises(FileError, match="or moved; they were made beside"):
        find(away / "link.h5")
