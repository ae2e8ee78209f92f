"""Two nodes of one machine, which see other things in a folder of one name; by MPICH only."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.prefix import Hdf5
from harness.ranks import ON_NODE
from harness.stack import CLEAN

HDF5 = Hdf5("2.2.0-mpich")  # Open MPI has one node on one machine


class Nodes:
    """Even ranks are on node0, odd ones on node1, by `environment` of harness.ranks' programs."""

    def __init__(self, folder: Path) -> None:
        unshare = shutil.which("unshare")
        assert unshare is not None
        if subprocess.run([unshare, "-mu", "true"], check=False, capture_output=True).returncode:
            pytest.skip("mount namespaces are not allowed here, which stand in for nodes")
        self.folder = folder / "nodes"
        for name in ("node0", "node1", "local"):
            (self.folder / name).mkdir(parents=True)

    @property
    def dirs(self) -> str:
        """The option of the stripe layer."""
        return f"dirs={self.folder / 'local'};"

    @property
    def environment(self) -> dict[str, str]:
        return {"NODES": str(self.folder)}

    def pieces(self) -> dict[str, str]:
        """By node, the digits of its subfiles' numbers."""
        names = {
            node: sorted(path.name for path in (self.folder / node).iterdir())
            for node in ("node0", "node1", "local")
        }
        assert not names.pop("local"), "what each node sees there is in node0/ and node1/"
        return {
            node: "".join(name.rpartition("_of")[0][-1] for name in names[node]) for node in names
        }

    def piece(self, number: int) -> Path:
        (path,) = self.folder.glob(f"node*/*_{number}_of_*")
        return path

    def run(self, number: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """A program without MPI on one of them."""
        env = {**CLEAN, "PMI_RANK": str(number)}
        command = [ON_NODE, self.folder, *words]
        return subprocess.run(command, env=env, check=False, capture_output=True, text=True)

    def bring_home(self, stub: Path) -> None:
        """All pieces beside the stub, as if they had been there from the beginning."""
        for path in self.folder.glob("node*/*subfile*"):
            link = stub.parent / path.name
            link.unlink()
            path.rename(link)
        for state in stub.parent.glob(f"{stub.name}*.state"):
            lines = state.read_text().splitlines(keepends=True)
            state.write_text("".join(line for line in lines if not line.startswith("node=")))
