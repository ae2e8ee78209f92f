"""Files that take the place of others, as programs write to another name and rename.

Also: unlinked and made anew, renamed and truncated, in chains, beside what is left of files whose
inode the system has used again (which is played: not every file system does), with a damaged
leftover, by sets that tell no identity (of older versions, or HDF5's own), through the commands.
Copies over a stub are in test_layer.py and test_sets.py, those over MPI in ranks/test_matrix.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import h5py
import pytest
from harness.layer import Layer
from harness.replaced import forget_identity, leave
from typer.testing import CliRunner

from headrace.cli.commands import app
from headrace.stripe.configuration import read_configuration
from headrace.stripe.sets import find
from headrace.stripe.stub import read_stub

MAKE = """
def make(name, value, mode="w"):
    with h5py.File(name, mode) as f: f["d"] = np.full(20000, value)
def read(name):
    with h5py.File(name) as f: return f["d"][0], f["d"][19999]
"""


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return Layer(tmp_path, "stripe", ("vol", "vfd"), usual="files=3;size=4KiB;")


def configs(layer: Layer) -> list[str]:
    return sorted(path.name for path in layer.folder.glob("*.config"))


def done(*words: str | Path) -> str:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def test_again_and_again(layer: Layer) -> None:
    """Other names each time, and one; read, written to and made anew in between."""
    layer.python(f"""{MAKE}
for i in range(12):
    make(f"tmp{{i}}.h5", i)
    os.replace(f"tmp{{i}}.h5", "x.h5")
    assert read("x.h5") == (i, i)
    make("part.h5", -i)
    os.replace("part.h5", "y.h5")
    with h5py.File("y.h5", "r+") as f: f["d"][:] = 100 + i
    assert (read("x.h5"), read("y.h5")) == ((i, i), (100 + i, 100 + i))
    if i % 3 == 2: make("x.h5", 5)
    for name in os.listdir():
        if name.startswith("gone"): os.unlink(name)
    make("gone.h5", 1)
""")
    (layer.folder / "gone.h5").unlink()
    layer.python(f"{MAKE}assert read('x.h5') == (5, 5) and read('y.h5') == (111, 111)")
    done("stripe", "orphans", layer.folder, "--remove")
    assert len(configs(layer)) == 2, "those of x.h5 and y.h5"
    done("fuse", layer.folder / "x.h5", "--output", layer.folder / "whole.h5")
    with h5py.File(layer.folder / "whole.h5") as f:
        assert f["d"][19999] == 5


def test_a_chain_of_names(layer: Layer) -> None:
    """x.h5 is the newest, x.1.h5 the one before, as logs are kept."""
    layer.python(f"""{MAKE}
for i in range(6):
    for k in (3, 2, 1):
        if os.path.exists(f"x.{{k - 1}}.h5"): os.replace(f"x.{{k - 1}}.h5", f"x.{{k}}.h5")
    make("x.0.h5", i)
assert [read(f"x.{{k}}.h5")[1] for k in range(4)] == [5, 4, 3, 2]
""")


def test_truncated_under_another_name(layer: Layer) -> None:
    """And renamed back: the older pieces are gone, which would be found by that name."""
    layer.python(f"""{MAKE}
make("a.h5", 1)
os.rename("a.h5", "b.h5")
make("b.h5", 2)
assert read("b.h5") == (2, 2)
os.rename("b.h5", "a.h5")
assert read("a.h5") == (2, 2)
with h5py.File("a.h5", "r+") as f: f["d"][:] = 3
assert read("a.h5") == (3, 3)
""")
    (config,) = configs(layer)
    assert config.startswith("b.h5.")
    # A file with a user block is no set.
    layer.python("h5py.File('a.h5', 'w', userblock_size=512)")
    assert not list(layer.folder.glob("*subfile*"))


def test_a_reused_inode(layer: Layer) -> None:
    """What is left of a file with the number is told apart."""
    layer.python(f"{MAKE}make('part.h5', 1); os.replace('part.h5', 'x.h5'); make('old.h5', 2)")
    x, old = layer.folder / "x.h5", layer.folder / "old.h5"
    own = find(x).config
    left = leave(old, x.stat().st_ino)
    before = configs(layer)
    layer.python(f"{MAKE}assert read('x.h5') == (1, 1)")
    layer.python(f"{MAKE}with h5py.File('x.h5', 'r+') as f: f['d'][0] = 7")
    assert configs(layer) == before, "no reader removes anything"
    assert find(x).config == own
    assert str(own.name[:-7]) in done("stripe", "ls", x)
    done("stripe", "verify", x)
    assert [line.split()[1] for line in done("stripe", "orphans", layer.folder).splitlines()] == [
        str(left)
    ]
    done("restripe", x, "--size", "8KiB")
    assert find(x).layout.stripe == 8192
    layer.python(f"{MAKE}assert read('x.h5') == (7, 1)")


def test_pieces_of_a_stub_that_was_moved_away_stay(layer: Layer) -> None:
    """To another file system, where it has another inode; new files here may have its old one."""
    layer.python(f"{MAKE}make('a.h5', 1); make('b.h5', 2)")
    away = (layer.folder / "a.h5").read_bytes()
    left = leave(layer.folder / "a.h5", (layer.folder / "b.h5").stat().st_ino)
    layer.python(f"""{MAKE}
for i in range(20):
    make("part.h5", i)
    os.replace("part.h5", "b.h5")
    make(f"c{{i}}.h5", 3)
""")
    assert left.exists()
    done("stripe", "orphans", layer.folder)
    back = layer.folder / "a.h5"
    number = re.findall(r"_(\d+)\.config", left.name)[0].encode()
    back.write_bytes(re.sub(rb"set=\d+", b"set=" + number, away, count=1)[: len(away)])
    layer.python(f"{MAKE}assert read('a.h5') == (1, 1)")


@pytest.mark.parametrize("how", ["unlinked", "damaged", "linked"])
def test_left_under_the_same_name(layer: Layer, how: str) -> None:
    """Of a file that was unlinked, whose inode the new one has."""
    (disk := layer.folder / "disk").mkdir()
    layer.python(f"{MAKE}make('x.h5', 1)", f"files=5;size=4KiB;dirs={disk};")
    (layer.folder / "x.h5").unlink()
    layer.python(f"{MAKE}make('x.h5', 2)", "files=2;size=1KiB;")
    layer.python(f"{MAKE}assert read('x.h5') == (2, 2)")
    number = (layer.folder / "x.h5").stat().st_ino
    left = layer.folder / f"x.h5.subfile_{number}.config"
    if how == "damaged":
        left.write_bytes(b"\0" * 100)
    elif how == "linked":
        left.write_bytes(re.sub(rb"id=[0-9a-f]+", b"id=" + b"5" * 16, left.read_bytes()))
        said = layer.start(f"{MAKE}read('x.h5')").text
        assert "another file's" in said, said
    layer.python(f"{MAKE}make('x.h5', 3); assert read('x.h5') == (3, 3)")
    layer.plain("h5py.File('x.h5', 'w')['d'] = 4")  # the stub is an ordinary file then
    layer.python("assert h5py.File('x.h5')['d'][()] == 4")
    done("split", layer.folder / "x.h5", "--files", "2")
    layer.python("assert h5py.File('x.h5')['d'][()] == 4")


def test_sets_without_an_identity(layer: Layer) -> None:
    """Of older versions: found as ever, also renamed, unless several have the number."""
    layer.python(f"{MAKE}make('a.h5', 1); make('b.h5', 2)")
    a, b = layer.folder / "a.h5", layer.folder / "b.h5"
    for stub in (a, b):
        forget_identity(find(stub).config, stub)
        assert read_stub(stub).id == ""
    layer.python(f"{MAKE}os.rename('a.h5', 'c.h5'); assert read('c.h5') == (1, 1)")
    layer.python(f"{MAKE}make('c.h5', 3, 'a') if 'd' not in h5py.File('c.h5') else None")
    layer.python(f"{MAKE}make('tmp.h5', 5); os.replace('tmp.h5', 'd.h5')")
    assert read_configuration(find(layer.folder / "d.h5").config).id
    leave(b, (layer.folder / "c.h5").stat().st_ino)
    said = layer.start(f"{MAKE}read('c.h5')").text
    assert "several sets have its number" in said, said
    layer.python(f"{MAKE}make('c.h5', 6); assert read('c.h5') == (6, 6)")


def test_moved_and_removed_beside_a_leftover(layer: Layer) -> None:
    layer.python(f"{MAKE}make('part.h5', 1); os.replace('part.h5', 'x.h5'); make('old.h5', 2)")
    x = layer.folder / "x.h5"
    left = leave(layer.folder / "old.h5", x.stat().st_ino)
    done("stripe", "move", x, layer.folder / "y.h5")
    layer.python(f"{MAKE}assert read('y.h5') == (1, 1)")
    done("stripe", "remove", layer.folder / "y.h5")
    assert configs(layer) == [left.name]
    done("stripe", "orphans", layer.folder, "--remove")
    assert not list(layer.folder.glob("*subfile*"))


def test_a_set_that_is_copied_keeps_its_identity(layer: Layer) -> None:
    layer.python(f"{MAKE}make('part.h5', 1); os.replace('part.h5', 'x.h5')")
    away = layer.folder / "away"
    away.mkdir()
    for path in layer.folder.glob("*.h5*"):
        shutil.copy(path, away / path.name.replace("part.h5", "x.h5"))
    (config,) = away.glob("*.config")
    config.write_text(config.read_text().replace("part.h5.subfile", "x.h5.subfile"))
    there = Layer(away, "stripe", ("vol", "vfd"))
    there.python(f"{MAKE}assert read('x.h5') == (1, 1)")
    there.python(f"{MAKE}make('x.h5', 2); assert read('x.h5') == (2, 2)")
    layer.python(f"{MAKE}assert read('x.h5') == (1, 1)")
