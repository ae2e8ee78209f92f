"""The command line of run.py."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.common import session
from bench.common.measure import measure
from bench.common.session import ROOT

from headrace.errors import HeadraceError
from headrace.measuring import machine

from . import claims, hsds, page
from .cases import OURS, cases
from .execute import Runner


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    parser = session.parser("object", __doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the test")
    parser.add_argument("--hsds", type=Path, default=hsds.VENV,
                        help="virtual environment that has HSDS and h5pyd")  # fmt: skip
    given = parser.parse_args(words)
    chosen = session.select(cases(quick=given.quick), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-object-", dir=parent) as name:
        try:
            runner = Runner(Path(name).resolve(), given.hsds)
            about = session.describe(runner.folder) | {"installed": runner.installed}
            samples = session.collect(measure(runner, chosen, given.repeats, 0), OURS, console)
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    judged = claims.judge(samples)
    session.show(judged, console)
    if given.output is not None:
        told = {"claims": [each.json() for each in judged], "samples": samples}
        text = page.render({"machine": about}, samples, judged)
        session.write_results(given.output, {"about": about} | told, text)
    failures = [f"{each['case']} {each['stack']}: {each['error']}"
                for each in samples if "error" in each]  # fmt: skip
    return session.fail(failures, console)
