"""All that is checked before the first process is started, and the command lines."""

import glob
import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from headrace.bench import arguments, peers, stacks
from headrace.bench.child import telling
from headrace.bench.jobs import Case, Job
from headrace.bench.options import Options, peers_kernel
from headrace.bench.privacy import without_folders
from headrace.bench.stacks import BenchStack
from headrace.catalogue import Catalogue
from headrace.errors import HeadraceError, unknown
from headrace.measuring import programs
from headrace.measuring.programs import Library
from headrace.plugins import load_catalogue

_PEER_SHAPES: Final = {  # 16 MB and 320 MB
    True: {"--steps": "5", "--arrays": "20", "--rows": "100", "--columns": "200"},
    False: {"--steps": "20", "--arrays": "100", "--rows": "100", "--columns": "200"},
}

# Of each side of a repeat: the case is done over and over until it has taken so long.
_AT_LEAST: Final = "50ms"
_USAGE: Final = 2  # what headrace-bench ends with when it cannot run with such arguments


class ListingError(HeadraceError):
    """No case that could be measured."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A checked run. Without kernels, only peers, there is neither program nor library."""

    options: Options
    environ: Mapping[str, str]
    catalogue: Catalogue
    stacks: Mapping[str, BenchStack]
    program: Path | None = None
    library: Library | None = None
    launcher: tuple[str, ...] = ()

    def stack(self, name: str) -> BenchStack:
        """The stack of that name; what runs on native HDF5 only need not have been chosen."""
        return self.stacks.get(name) or BenchStack(name)

    def command(
        self, job: Job, samples: Path, *, timed: bool, baseline: bool, live: bool
    ) -> list[str]:
        """The command line of a job; a live one tells its progress, one not timed is done once."""
        options = self.options
        where = ["--dir", str(options.data), "--samples", str(samples), "--repeats", "1"]
        common = ["--baseline"] if baseline else []
        if options.sync != "none":
            common += ["--sync", options.sync]
        if options.drop_caches:
            common.append("--drop-caches")
        case = job.case
        if case.kernel == peers_kernel:
            return peers.command(case.name, [*where, *peer_shape(options)], common)
        common += [*where, "--first-repeat", str(job.repeat)]
        common += ["--at-least", _AT_LEAST] if timed else []
        common += ["--progress"] if live else []
        return self.kernel_command(case, [*common, "--only", glob.escape(case.name)])

    def kernel_command(self, case: Case, common: Sequence[str]) -> list[str]:
        """The command line of headrace-bench, with the options that all kernels share.

        They precede the kernel's name, behind which its own options might hide them.
        """
        assert self.program is not None  # noqa: S101, there are kernels
        assert self.library is not None  # noqa: S101
        launched = [*self.launcher, "-n", str(case.ranks)] if self.launcher else []
        mpi = "yes" if self.launcher else "no"
        start = [*launched, str(self.program), "--hdf5", str(self.library.file), "--mpi", mpi]
        quick = ["--quick"] if self.options.quick else []
        options = self.options
        words = arguments.for_kernel(
            case.kernel, options.kernels, options.arguments, quick=options.quick
        )
        return [*start, *quick, *common, case.kernel, *words]


@dataclass(slots=True)
class Listing:
    """The cases with the stacks each runs under, and records of those that cannot run."""

    cases: list[tuple[Case, tuple[str, ...]]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)


def prepare(options: Options) -> Setup:
    """Finds and checks everything; raises HeadraceError."""
    environ = stacks.inherited()
    catalogue = load_catalogue(environ)
    arguments.check(options.kernels, options.arguments)
    chosen = {
        name: replace(stacks.resolve(given, options.config, environ, catalogue), name=name)
        for name, given in stacks.shown(options.stacks).items()
    }
    if set(options.kernels) <= {peers_kernel}:
        return Setup(options, environ, catalogue, chosen)
    program = programs.bench(options.program)
    parallel = max(options.ranks) > 1
    library = programs.hdf5(options.hdf5, parallel=parallel)
    launched = parallel or bool(options.mpiexec)
    launcher = programs.launcher(options.mpiexec, library) if launched else ()
    return Setup(options, environ, catalogue, chosen, program, library, launcher)


def peer_shape(options: Options) -> list[str]:
    """The peers' dimensions, which are given like arguments of a kernel."""
    shape = dict(_PEER_SHAPES[options.quick])
    if options.kernels == (peers_kernel,):
        shape |= arguments.peers_shape(options.arguments)
    return [word for pair in shape.items() for word in pair]


def list_cases(setup: Setup) -> Listing:
    """Asks headrace-bench and looks for the peers; HeadraceError when --only fits no case."""
    listing = _list_all(setup)
    only = setup.options.only
    if only and not listing.cases and not listing.problems:
        everything = _list_all(replace(setup, options=replace(setup.options, only="")))
        names = dict.fromkeys(case.name for case, _ in everything.cases)
        raise ListingError(unknown("case", only, names))
    return listing


def _list_all(setup: Setup) -> Listing:
    listing = Listing()
    asked = 0
    for kernel in setup.options.kernels:
        if kernel == peers_kernel:
            continue
        for ranks in setup.options.ranks:
            _list_kernel(setup, Case(kernel, "", ranks), listing)
            asked += 1
    # When none of all kernels can be run, it is not for what one of them needs.
    if asked and len(listing.problems) == asked:
        for problem in listing.problems:
            problem["error"] = problem.pop("missing", problem.get("error"))
    if peers_kernel in setup.options.kernels:
        _list_peers(setup, listing)
    return listing


def _list_kernel(setup: Setup, asked: Case, listing: Listing) -> None:
    common = ["--list"]
    if setup.options.only:
        common += ["--only", setup.options.only]
    done = subprocess.run(
        setup.kernel_command(asked, common),
        env=stacks.without_stack(setup.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    names = [str(json.loads(line)["case"]) for line in done.stdout.splitlines() if line[:1] == "{"]
    if done.returncode != 0 or (not names and not setup.options.only):
        reason = " / ".join(telling(done.stderr))
        reason = reason or f"headrace-bench ended with status {done.returncode}"
        reason = without_folders(reason, setup.options.data)
        what = {"error": reason}
        # Of all kernels one may need an argument that is its own, or be for one process only.
        if len(setup.options.kernels) > 2 and done.returncode == _USAGE:
            alone = f"`headrace bench {asked.kernel}` runs it alone"
            what = {"missing": f"left out: {reason}; {alone}"}
        listing.problems.append(_record(asked.kernel, "(all)", asked.ranks, **what))
        return
    for name in names:
        case = Case(asked.kernel, name, asked.ranks)
        listing.cases.append((case, tuple(setup.stacks)))


def _list_peers(setup: Setup, listing: Listing) -> None:
    everywhere = tuple(setup.stacks)
    on_disk = setup.options.sync != "none" or setup.options.drop_caches
    for peer in peers.PEERS:
        missing = peer.missing(on_disk=on_disk)
        for name in peer.cases():
            if not fnmatchcase(name, setup.options.only or "*"):
                continue
            if missing:
                listing.problems.append(_record(peers_kernel, name, 1, missing=missing))
            else:
                chosen = everywhere if peer.hdf5 else (stacks.native,)
                listing.cases.append((Case(peers_kernel, name), chosen))


def _record(kernel: str, case: str, ranks: int, **what: str) -> dict[str, Any]:
    return {
        "kernel": kernel,
        "case": case,
        "stack": stacks.native,
        "ranks": ranks,
        "repeat": 0,
        "warmup": False,
        **what,
    }
