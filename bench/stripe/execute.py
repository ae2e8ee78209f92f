"""Runs a case in one way, once."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import installed, program
from bench.common.mpi import OPEN_MPI, Mpi
from bench.common.session import ROOT
from bench.common.settle import settle
from bench.common.ways import NATIVE, Stacks, Way

from headrace.bench import stacks
from headrace.stripe.sets import StripedSet

from . import fuse
from .cases import FILES, FUSE, IOR, Case, on_disks_of_nodes

_PAYLOAD = 512 << 20  # bytes, of the largest case, for the memory at hand


@dataclass
class Runner:
    """Works in a folder, which exists and is its own. Errors are RunError.

    `mpich` is for cases on two nodes, for which this machine stands in.
    """

    folder: Path
    mpi: Mpi
    mpich: Mpi
    environ: Mapping[str, str] = field(default_factory=stacks.inherited)

    def __post_init__(self) -> None:
        self.environ = {**OPEN_MPI, **self.environ}
        self._stacks = Stacks(self.environ)
        self.installed = installed.fingerprint()
        self._set: StripedSet | None = None

    def sample(self, case: Case, way: Way) -> dict[str, Any]:
        settle(self.folder, _PAYLOAD)
        if case.command == FUSE:
            if self._set is None:
                self._set = fuse.make(self.folder, case.bytes)
            native = way.name == NATIVE.name
            return fuse.copied(self.folder) if native else fuse.fused(self._set, self.folder)
        words = [case.command, *case.words]
        if case.command == IOR and way.name == NATIVE.name:
            words[:0] = ["--baseline", "--baseline-files", str(FILES)]
        if way.environ:
            words.insert(0, "--subfiling")
        start = program.Start(case.case, words, way.environ)
        if case.ranks > 1:
            start = self._by_ranks(case, words, way)
        found = program.sample(start, self._stacks.of(way), self.environ, self.folder)
        installed.require(self.installed)
        return found

    def _by_ranks(self, case: Case, words: Sequence[str], way: Way) -> program.Start:
        mpi = self.mpich if case.on_nodes else self.mpi
        launcher = [*mpi.launcher, "-n", str(case.ranks)]
        more = dict(way.environ)
        if case.on_nodes:
            nodes = self.folder / "nodes"
            for name in ("node0", "node1", "local"):
                (nodes / name).mkdir(parents=True, exist_ok=True)
            launcher += [str(ROOT / "scripts/on_node.sh"), str(nodes)]
            more["MPIR_CVAR_NUM_CLIQUES"] = "2"
            if way == on_disks_of_nodes(case.stripe):
                more["H5FD_SUBFILING_SUBFILE_PREFIX"] = str(nodes / "local")
        return program.Start(case.case, words, more, mpi.library, launcher)

    def forget(self) -> None:
        """Removes all files of a case."""
        self._set = None
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
