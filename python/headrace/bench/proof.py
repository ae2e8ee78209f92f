"""Was the stack really in place? A figure of native HDF5 must not pass for one of a stack."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.bench.stacks import BenchStack, native
from headrace.doctor.evidence import Evidence, read_report


def needs_report(stack: BenchStack, *, names_connector: bool) -> bool:
    """Whether only the plug-ins' own report can prove the stack; it is not written otherwise."""
    return stack.plan is not None and bool(stack.drivers or not names_connector)


def disproof(stack: BenchStack, sample: Mapping[str, Any], report: Path) -> str:
    """Why a sample is not one of this stack; empty when it is."""
    connector = sample.get("connector")
    if connector is not None and connector != stack.connector:
        return (
            "HDF5 fell back to native"
            if connector == native
            else f"HDF5 used the connector {connector}, not {stack.connector}"
        )
    if stack.plan is None:
        return ""
    evidence = Evidence()
    read_report(evidence, report)
    handled = {(call.seat, call.name) for call in evidence.files if call.ok}
    for layer, classes in stack.drivers.items():
        if not any(("vfd", name) in handled for name in classes):
            return f"HDF5 fell back to native: no file went through the driver of {layer}"
    ours = [seat.name for seat in stack.plan.stack.connectors if seat.file is not None]
    if connector is None and ours and not any(("vol", name) in handled for name in ours):
        return f"HDF5 fell back to native: no file went through {ours[0]}"
    return ""
