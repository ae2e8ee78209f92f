"""The command line of a bench whose samples are judged by claims, and shown on a page."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.common import session
from bench.common.measure import measure
from bench.common.session import ROOT

from headrace.errors import HeadraceError
from headrace.measuring import machine

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


@dataclass(frozen=True, slots=True)
class Bench:
    """What differs between such benches.

    Attributes:
        name: The folder's.
        about: What `--help` says.
        cases: All cases, of full or tiny (`quick`) size.
        ours: The way whose cost and gain is looked at.
        runner: Makes what runs a case, in a folder; HeadraceError where it cannot.
        judge: The claims, of all samples.
        render: The page, of what is known of the machine, samples and claims.
        options: Adds options of its own.
    """

    name: str
    about: str | None
    cases: Callable[..., Any]
    ours: str
    runner: Callable[[Path, Namespace], Any]
    judge: Callable[[list[dict[str, Any]]], Any]
    render: Callable[..., str]
    options: Callable[[ArgumentParser], object] = lambda _parser: None


def run(bench: Bench, words: Sequence[str] | None = None) -> int:
    """1 when a run failed, 2 when none can be made."""
    parser = session.parser(bench.name, bench.about)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the test")
    bench.options(parser)
    given = parser.parse_args(words)
    chosen = session.select(bench.cases(quick=given.quick), given.only)
    if (status := session.only_listed(chosen, given)) is not None:
        return status
    parent = given.dir or ROOT / "build"
    parent.mkdir(parents=True, exist_ok=True)
    console = session.console()
    with tempfile.TemporaryDirectory(prefix=f"bench-{bench.name}-", dir=parent) as name:
        try:
            runner = bench.runner(Path(name).resolve(), given)
            about = session.describe(runner.folder) | {"installed": runner.installed}
            samples = session.collect(
                measure(runner, chosen, given.repeats, 0), bench.ours, console
            )
        except HeadraceError as error:
            sys.exit(f"not measured: {error}")
    about["load_after"] = machine.load()
    judged = bench.judge(samples)
    session.show(judged, console)
    if given.output is not None:
        whole = {"machine": about, "claims": [each.json() for each in judged], "samples": samples}
        text = bench.render({"machine": about}, samples, judged)
        session.write_results(given.output, whole, text)
    failures = [f"{each['case']} {each['stack']}: {each['error']}"
                for each in samples if "error" in each]  # fmt: skip
    return session.fail(failures, console)
