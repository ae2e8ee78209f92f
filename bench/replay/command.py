"""The command line of run.py."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.common import session
from bench.common.evidence import RunError
from bench.common.measure import measure
from bench.common.session import ROOT

from headrace.bench.atomic import write_text
from headrace.errors import HeadraceError
from headrace.measuring import machine

from . import page
from .cases import REPLAY, cases
from .claims import CLAIMS, JUDGE
from .execute import Runner


def main(words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    given = session.parser("replay", __doc__).parse_args(words)
    chosen = session.select(cases(), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix="bench-replay-", dir=parent) as name:
        try:
            runner = Runner(Path(name).resolve())
            about = session.describe(Path(name)) | {"installed": runner.installed}
            measured = measure(runner, chosen, given.repeats, 0)
            samples = session.collect(measured, REPLAY.name, console)
        except (HeadraceError, RunError) as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    verdicts = JUDGE.verdicts(samples, CLAIMS)
    session.show(verdicts, console)
    if given.output is not None:
        given.output.mkdir(parents=True, exist_ok=True)
        told = {
            "machine": about,
            "options": {name: getattr(given, name) for name in ("repeats", "only")},
            "claims": [each.json() for each in verdicts],
            "samples": samples,
        }
        write_text(given.output / "results.json", json.dumps(told, indent=1) + "\n")
        write_text(given.output / "README.md", page.render(told, samples, verdicts))
    return session.fail(page.failed(samples), console)
