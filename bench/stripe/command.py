"""The command line of run.py."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.common import session
from bench.common.measure import measure
from bench.common.mpi import PARALLEL, PARALLEL_MPICH, mpi_of
from bench.common.session import ROOT

from headrace.errors import HeadraceError
from headrace.measuring import machine

from . import claims, page
from .cases import cases
from .execute import Runner


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    parser = session.parser("stripe", __doc__)
    parser.add_argument("--hdf5", type=Path, default=PARALLEL, help="a parallel libhdf5")
    parser.add_argument("--mpich-hdf5", type=Path, default=PARALLEL_MPICH, help="one with MPICH")
    given = parser.parse_args(words)
    chosen = session.select(cases(), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-stripe-", dir=parent) as name:
        folder = Path(name).resolve()
        try:
            runner = Runner(folder, mpi_of(given.hdf5), mpi_of(given.mpich_hdf5))
            about = session.describe(folder) | {"installed": runner.installed}
            measured = measure(runner, chosen, given.repeats, 0)
            samples = session.collect(measured, claims.OURS, console)
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    judged = claims.judge(samples)
    session.show(judged, console)
    if given.output is not None:
        whole = {"machine": about, "claims": [each.json() for each in judged], "samples": samples}
        session.write_results(given.output, whole, page.render({"machine": about}, samples, judged))
    return session.fail(page.failed(samples), console)
