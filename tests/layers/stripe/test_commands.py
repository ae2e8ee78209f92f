"""What the commands for sets do with links, owners and modes, and what they refuse."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

from headrace.cli.commands import app
from headrace.stripe.sets import find
from headrace.stripe.stub import read_stub

VALUES = np.arange(100_000)


def done(*words: str | Path) -> str:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def refused(*words: str | Path) -> str:
    ended = CliRunner().invoke(app, [str(word) for word in words])
    assert ended.exit_code != 0, ended.output
    return " ".join(ended.output.split())


def make(path: Path, **options: int) -> Path:
    with h5py.File(path, "w", **options) as file:
        file["x"] = VALUES
    return path


def cut(path: Path) -> Path:
    done("split", make(path), "--files", "3", "--size", "4KiB")
    return path


def has_values(path: Path) -> bool:
    with h5py.File(path) as file:
        return bool((file["x"][:] == VALUES).all())


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def linked(tmp_path: Path) -> tuple[Path, Path]:
    """A file in pieces, and a link to it in another folder."""
    (tmp_path / "data").mkdir()
    (tmp_path / "work").mkdir()
    link = tmp_path / "work/latest.h5"
    link.symlink_to("../data/x.h5")
    return cut(tmp_path / "data/x.h5"), link


def test_split_leaves_alone_what_it_would_spoil(tmp_path: Path) -> None:
    path = cut(tmp_path / "x.h5")
    before = names(tmp_path)
    assert "in pieces already" in refused("split", path, "--files", "2")
    (nothing := tmp_path / "empty.h5").touch()
    (text := tmp_path / "text.h5").write_text("no HDF5\n" * 1000)
    user = make(tmp_path / "user.h5", userblock_size=512)
    logged = make(tmp_path / "logged.h5")
    (tmp_path / "logged.h5.headrace").mkdir()
    (tmp_path / "logged.h5.headrace/0.log").touch()
    assert "it is empty" in refused("split", nothing, "--files", "2")
    assert "no HDF5 file" in refused("split", text, "--files", "2")
    assert "user block of 512 bytes" in refused("split", user, "--files", "2")
    assert "a log waits" in refused("split", logged, "--files", "2")
    added = ["empty.h5", "text.h5", "user.h5", "logged.h5", "logged.h5.headrace"]
    assert names(tmp_path) == sorted([*before, *added])


def test_an_ordinary_file_has_nothing_to_fuse(tmp_path: Path) -> None:
    path = make(tmp_path / "x.h5")
    for words in (("fuse",), ("restripe",), ("stripe", "ls"), ("stripe", "remove")):
        assert "`headrace split` cuts it into pieces" in refused(*words, path)
    done("fuse", cut(tmp_path / "y.h5"), "--output", tmp_path / "whole.h5")
    path.replace(tmp_path / "y.h5")  # beside what is left
    assert "`headrace split` cuts it into pieces" in refused("fuse", tmp_path / "y.h5")


def test_split_waits_for_no_writer(tmp_path: Path) -> None:
    path = make(tmp_path / "x.h5")
    with h5py.File(path, "r+"):
        assert "open for writing" in refused("split", path, "--files", "2")
    with h5py.File(path) as file:
        done("split", path, "--files", "2")
        assert file["x"][-1] == VALUES[-1]
    assert find(path).layout.count == 2


def test_an_output_is_no_file_in_pieces(tmp_path: Path) -> None:
    path, other = cut(tmp_path / "x.h5"), cut(tmp_path / "other.h5")
    whole = make(tmp_path / "whole.h5")
    assert "would be lost" in refused("fuse", path, "--output", other)
    assert "would be lost" in refused("split", whole, "--files", "2", "--output", other)
    done("stripe", "verify", other)


def test_links_are_followed(linked: tuple[Path, Path]) -> None:
    path, link = linked
    assert f"{path}.subfile" in done("stripe", "ls", link)
    done("stripe", "verify", link)
    done("restripe", link, "--size", "8KiB")
    assert link.is_symlink()
    assert find(path).layout.stripe == 8192
    done("fuse", link, "--output", link.with_name("whole.h5"))
    assert has_values(link.with_name("whole.h5"))
    done("fuse", link)
    assert (link.is_symlink(), names(path.parent)) == (True, ["x.h5"])
    assert has_values(path)
    done("split", link, "--files", "2")
    assert (link.is_symlink(), names(link.parent)) == (True, ["latest.h5", "whole.h5"])
    assert find(path).layout.count == 2


def test_a_link_is_moved_as_what_it_leads_to(linked: tuple[Path, Path]) -> None:
    path, link = linked
    done("stripe", "move", link, link.parent)
    assert names(path.parent) == []
    assert has_values_in_pieces(link.with_name("x.h5"))


def has_values_in_pieces(path: Path) -> bool:
    whole = path.with_name("of_pieces.h5")
    done("fuse", path, "--output", whole)
    return has_values(whole)


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_mode_and_attributes_are_kept(tmp_path: Path, mode: int) -> None:
    """Whoever may not read the file may not read its pieces, and the other way round."""
    path = make(tmp_path / "x.h5")
    path.chmod(mode)
    os.setxattr(path, "user.from", b"here")
    done("split", path, "--files", "3", "--size", "4KiB")
    modes = {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    assert modes == {mode}
    done("fuse", path, "--output", tmp_path / "copy.h5")
    done("fuse", path)
    for each in (path, tmp_path / "copy.h5"):
        assert (each.stat().st_mode & 0o777, os.getxattr(each, "user.from")) == (mode, b"here")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of others")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = make(tmp_path / "x.h5")
    os.chown(path, 1234, 1235)
    done("split", path, "--files", "3", "--size", "4KiB")
    status = [each.stat() for each in tmp_path.iterdir()]
    assert {(each.st_uid, each.st_gid) for each in status} == {(1234, 1235)}
    done("fuse", path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)


def test_removed_with_its_pieces(tmp_path: Path) -> None:
    (folder := tmp_path / "disk").mkdir()
    path = make(tmp_path / "x.h5")
    done("split", path, "--files", "3", "--size", "4KiB", "--dirs", folder)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        assert "has it open" in refused("stripe", "remove", path)
    assert find(path).size > 0
    done("stripe", "remove", path)
    assert (names(tmp_path), names(folder)) == (["disk"], [])


def test_orphans(tmp_path: Path) -> None:
    """Those of stubs that were removed or replaced; not those of renamed or copied ones."""
    (folder := tmp_path / "disk").mkdir()
    gone = make(tmp_path / "gone.h5")
    done("split", gone, "--files", "2", "--dirs", folder)
    config = find(gone).config
    size = find(gone).size
    replaced, renamed, copied = (cut(tmp_path / f"{name}.h5") for name in ("r", "n", "c"))
    of_replaced = find(replaced).config
    gone.unlink()
    make(tmp_path / "new.h5").replace(replaced)
    renamed.rename(tmp_path / "another name.h5")
    (tmp_path / "copy of c.h5").write_bytes(copied.read_bytes())
    copied.unlink()
    listed = done("stripe", "orphans", tmp_path).splitlines()
    assert listed[0].split() == [str(size), str(config)]
    assert [line.split()[1] for line in listed] == [str(config), str(of_replaced)]
    done("stripe", "orphans", tmp_path, "--remove")
    assert names(folder) == []
    assert done("stripe", "orphans", tmp_path) == ""
    assert has_values(replaced)
    assert has_values_in_pieces(tmp_path / "another name.h5")


def test_hdf5s_own_stub_makes_no_orphan(tmp_path: Path) -> None:
    """It tells no number; its superblock names the driver."""
    path = cut(tmp_path / "x.h5")
    subfiling = b"\x89HDF\r\n\x1a\n\x02" + bytes(100) + b"Subfilin" + bytes(200)
    path.write_bytes(subfiling)
    assert read_stub(path).names_subfiling
    assert done("stripe", "orphans", tmp_path) == ""
    path.write_bytes(subfiling.replace(b"Subfilin", bytes(8)))
    assert find_config(tmp_path) in done("stripe", "orphans", tmp_path)


def find_config(folder: Path) -> str:
    (config,) = folder.glob("*.config")
    return config.name
