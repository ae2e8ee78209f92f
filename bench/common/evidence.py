"""Was the stack in place, in each of its seats? HDF5 falls back to native in silence."""

from __future__ import annotations

from pathlib import Path

from headrace.bench import proof
from headrace.bench.stacks import BenchStack
from headrace.doctor.evidence import Evidence, read_report

# Seconds; a process that takes longer hangs, whatever the sizes.
LIMIT = 3600


class RunError(RuntimeError):
    """A process failed, did not run on what it should have, or wrote something wrong."""


def disproof(stack: BenchStack, loaded: list[str], report: Path, path: Path) -> str:
    """Why a process was not one of this stack; empty when it was.

    Each connector and each driver of the stack must have opened the file, and nothing of ours may
    be in a native process. `path` is the file, or a folder that it is in.
    """
    if stack.plan is None:
        return f"{', '.join(loaded)} was loaded into a native process" if loaded else ""
    if reason := proof.disproof(stack, {}, report):
        return reason
    evidence = Evidence()
    read_report(evidence, report)
    opened = {
        (call.seat, call.name)
        for call in evidence.files
        if call.ok and Path(call.file).is_relative_to(path)
    }
    for layer in stack.plan.stack.layers:
        info = layer.info
        for seat, classes in (("vol", (info.vol,)), ("vfd", (info.vfd, info.vfd_mpi))):
            names = [each.name for each in classes if each]
            taken = layer.seat in (seat, "both")
            if names and taken and not opened & {(seat, name) for name in names}:
                return f"{path.name} did not go through {names[0]} ({seat})"
    return ""
