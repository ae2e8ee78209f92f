"""`headrace doctor`: find out what a program does with HDF5 and why a stack does not work."""

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace import units
from headrace.cli import execute
from headrace.cli.output import (
    ConfigOption,
    StackOption,
    console,
    fail,
    note,
    reports_errors,
    warn,
)
from headrace.doctor import containers, datasets, modules, render
from headrace.doctor.diagnose import PROBLEM, Case, Finding, diagnose
from headrace.doctor.modules import ModuleReport
from headrace.doctor.observe import observe
from headrace.doctor.summary import mpi_remedy
from headrace.errors import PluginError
from headrace.plan import Plan, inherited_environment, prepare
from headrace.plugins import load_catalogue, mpi_modules, plugin_path
from headrace.stripe.sets import find
from headrace.stripe.stub import read_stub

EXAMPLES = """
**Examples**

    headrace doctor                          # h5py and netCDF4 of this Python

    headrace doctor -- ./solver --steps 1

    headrace doctor --stack 'null(seat=vfd)' -- python program.py

    headrace doctor --file data.h5           # which datasets the async layer compresses
"""

CommandOption = Annotated[
    list[str] | None,
    typer.Argument(metavar="[COMMAND...]", help="The program to watch.", show_default=False),
]
FileOption = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="HDF5_FILE",
        help="Tell of each dataset of a file whether the async layer takes over its filters, or "
        "why not; of the stub of a container, whether its store has that.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]


@reports_errors
def doctor(
    command: CommandOption = None,
    stack: StackOption = None,
    config: ConfigOption = None,
    file: FileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell which libhdf5 a program loads, what the plug-ins do in it, and what is wrong.

    Without COMMAND it imports h5py and netCDF4 and sends a small file through the stack. With
    COMMAND it runs that and explains afterwards. Ends with status 1 when it finds a problem.
    With --file it opens that, read-only, under the stack, which is `async` by default.
    """
    if file is not None and command:
        fail("doctor takes a file or a command, not both")
    if file is not None and stack is None and config is None and _tell_of_stub(file, as_json):
        return
    if file is not None:
        _examine_file(file, stack or (None if config else "async"), config, as_json)
        return
    try:
        plan = prepare(stack, config, inherited_environment())
        findings: list[Finding] = []
    except PluginError as error:
        plan, findings = None, [Finding(PROBLEM, str(error))]
    if command and plan:
        findings += _examine_command(command, plan, as_json=as_json)
    elif command:
        _print_installation(findings, as_json=as_json)
    else:
        findings += _examine_modules(plan, findings, as_json=as_json)
    if any(finding.level == PROBLEM for finding in findings):
        raise typer.Exit(1)


def _examine_command(command: list[str], plan: Plan, *, as_json: bool) -> list[Finding]:
    for warning in plan.warnings:
        warn(warning)
    environ = plan.apply(inherited_environment())
    try:
        evidence = observe(command, environ)
    except OSError as error:
        reason = execute.explain(command[0], error, environ)
        fail(str(reason), reason.status)
    findings = diagnose(Case(command, environ, plan.stack, evidence, mpi_modules()))
    if as_json:
        _print_json({"evidence": dataclasses.asdict(evidence), "findings": _as_dicts(findings)})
        return findings
    out = console()
    copies = evidence.copies()
    out.rule(f"headrace doctor: {plan.spec}")
    render.print_copies(out, [(evidence.loaders(copy), copy) for copy in copies])
    render.print_files(out, evidence)
    render.print_findings(out, findings)
    return findings


def _tell_of_stub(file: str, as_json: bool) -> bool:
    """Of a container; False for other files. It has no layout that a layer could take over."""
    store = inherited_environment().get("HEADRACE_OBJECT_STORE", "")
    container = containers.examine(Path(file), store)
    if container is None:
        return False
    if as_json:
        _print_json({"container": dataclasses.asdict(container)})
    else:
        out = console()
        out.print(
            f"{file} is the stub of the container {container.id} in the store {container.store}",
            markup=False,
            soft_wrap=True,
        )
        render.print_findings(out, container.findings)
        note(f"--stack '{container.stack}' lets programs read and write it, `headrace object cp` "
             "makes it one file")  # fmt: skip
    if any(finding.level == PROBLEM for finding in container.findings):
        raise typer.Exit(1)
    return True


def _examine_file(file: str, stack: str | None, config: Path | None, as_json: bool) -> None:
    pieces = _pieces_of(Path(file))
    if pieces and not as_json:
        note(f"{file}: {pieces}; --stack stripe lets programs read and write it, `headrace fuse` "
             "makes it one file")  # fmt: skip
    if pieces and stack == "async":
        stack = "async,stripe"
    verdicts = datasets.examine(file, prepare(stack, config, inherited_environment()))
    if as_json:
        shown = [dataclasses.asdict(verdict) for verdict in verdicts]
        _print_json({"pieces": pieces, "datasets": shown})
    else:
        render.print_datasets(console(), verdicts)


def _pieces_of(file: Path) -> str:
    """How a file is dealt out; empty for an ordinary one."""
    with contextlib.suppress(OSError):
        if read_stub(file).kind != "text":
            return ""
        layout = find(file).layout
        return f"it lies in {layout.count} pieces, with stripes of {units.size(layout.stripe)}"
    return ""


def _examine_modules(
    plan: Plan | None, earlier: Sequence[Finding], *, as_json: bool
) -> list[Finding]:
    reports = [modules.examine(name, plan) for name in modules.names]
    findings = [finding for report in reports for finding in report.findings]
    if as_json:
        shown = {report.name: dataclasses.asdict(report) for report in reports}
        _print_json({"findings": _as_dicts(earlier), "modules": shown})
        return findings
    _print_installation(earlier, as_json=False)
    for warning in plan.warnings if plan else ():
        warn(warning)
    rows = [(f"{r.name} {r.version}", copy) for r in reports for copy in r.copies]
    render.print_copies(console(), rows)
    for report in reports:
        _print_module(report, plan)
    return findings


def _print_module(report: ModuleReport, plan: Plan | None) -> None:
    out = console()
    if report.error:
        out.print(f"{report.name}: {report.error}", markup=False)
    elif plan is not None:
        out.print(f"{report.name} under the stack {plan.spec}:", markup=False)
        render.print_findings(out, report.findings)


def _print_installation(findings: Sequence[Finding], *, as_json: bool) -> None:
    if as_json:
        _print_json({"findings": _as_dicts(findings)})
        return
    out = console()
    render.print_findings(out, findings)
    if not findings:
        catalogue = load_catalogue(os.environ)
        layers = ", ".join(sorted(catalogue.layers))
        out.print(f"Headrace {catalogue.version}, plug-ins in {plugin_path()}", soft_wrap=True)
        out.print(f"Layers: {layers}", soft_wrap=True)
        found = ", ".join(mpi_modules()) or f"none; {mpi_remedy}"
        out.print(f"Modules for MPI: {found}", soft_wrap=True, markup=False)
        for problem in catalogue.problems:
            warn(problem)


def _as_dicts(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(finding) for finding in findings]


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, default=str) + "\n")
