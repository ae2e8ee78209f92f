"""h5py and netCDF4 of this interpreter: their libhdf5, and whether a file goes through a stack."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.doctor.copies import Copy
from headrace.doctor.diagnose import NOTE, OK, PROBLEM, Case, Finding, diagnose
from headrace.doctor.evidence import Evidence
from headrace.doctor.observe import observe, without_stack
from headrace.plan import Plan

names: Final = ("h5py", "netCDF4")

# "  #010: H5PLint.c line 409 in H5PL__open(): can't get VOL connector info from plugin"
_HDF5_ERROR: Final = re.compile(r"^ +#\d+: .* line \d+ in \S+: (.*)$", re.MULTILINE)
_SCRIPT: Final = Path(__file__).with_name("module_child.py")


@dataclass(frozen=True, slots=True)
class ModuleReport:
    """What is known about one module. `error` says why it could not even be imported."""

    name: str
    version: str = ""
    copies: tuple[Copy, ...] = ()
    error: str = ""
    evidence: Evidence | None = None
    findings: tuple[Finding, ...] = ()


def examine(name: str, plan: Plan | None) -> ModuleReport:
    """Looks at a module natively and, when there is a plan, under its stack."""
    if importlib.util.find_spec(name) is None:
        return ModuleReport(name, error="not installed")
    done = subprocess.run(
        _command("facts", name),
        env=without_stack(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    facts = _result(done.stdout)
    if facts is None:
        return ModuleReport(name, error=_failure(done.returncode, done.stderr))
    copies = tuple(Copy(**copy) for copy in facts["copies"])
    if plan is None:
        return ModuleReport(name, facts["version"], copies)
    evidence, findings = _under(plan, name)
    return ModuleReport(name, facts["version"], copies, "", evidence, tuple(findings))


def _under(plan: Plan, name: str) -> tuple[Evidence, list[Finding]]:
    environ = plan.apply(os.environ)
    with tempfile.TemporaryDirectory(prefix="headrace-doctor-") as directory:
        command = _command("write", name, str(Path(directory, "probe.h5")))
        evidence = observe(command, environ, capture=True)
    findings = diagnose(Case(command, environ, plan.stack, evidence))
    natively = any(finding.level == PROBLEM for finding in findings)
    return evidence, [*findings, _outcome(evidence, natively=natively)]


def _outcome(evidence: Evidence, *, natively: bool) -> Finding:
    result = _result(evidence.output)
    if result is None:
        reason = _failure(evidence.status or 0, evidence.errors)
        return Finding(PROBLEM, f"a file could not be written and read: {reason}")
    if not result["equal"]:
        return Finding(PROBLEM, "a file was written, but read back with other contents")
    if natively:
        return Finding(NOTE, "a file was written and read back equal, but not through the stack")
    connector = result.get("connector")
    named = f"; HDF5 names its connector {connector}" if connector else ""
    return Finding(OK, f"a file was written and read back equal{named}")


def _command(*arguments: str) -> list[str]:
    # -P: the directory of the script must not shadow what the module imports.
    return [sys.executable, "-P", str(_SCRIPT), *arguments]


def _result(output: str) -> dict[str, Any] | None:
    lines = output.strip().splitlines()
    try:
        value = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _failure(status: int, errors: str) -> str:
    """The line that tells most: HDF5's innermost error, else the last one, as of a traceback."""
    hdf5 = _HDF5_ERROR.findall(errors)
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    if hdf5:
        return f"HDF5 reports: {hdf5[-1]}"
    return lines[-1] if lines else f"the process ended with status {status}"
