"""From rows to the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from headrace import units, webpage
from headrace.bench.options import peers_kernel
from headrace.bench.report import bars, curves, findings, notes, phases, style
from headrace.bench.summary import Row, Side, in_seconds, sides
from headrace.measuring.stats import Ratio

_TEMPLATE: Final = Path(__file__).with_name("template.html")
_MACHINE: Final = {
    "processor": "Processor", "cores": "Cores", "virtual": "Virtual machine",
    "memory": "Memory", "system": "System", "kernel": "Kernel", "python": "Python",
    "file_system": "File system of the data", "mount_options": "Mounted with",
    "free_bytes": "Free space", "device": "Device", "device_model": "Model",
    "rotational": "Rotating, says the system", "hdf5": "HDF5", "library": "libhdf5",
    "parallel": "Parallel",
    "mpi": "MPI", "headrace": "Headrace", "date": "Date", "load_before": "Load before",
    "load_after": "Load after",
}  # fmt: skip


def render(about: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """The whole page."""
    template = webpage.template(_TEMPLATE)
    colours = style.stack_colours(row.stack for row in rows)
    kernels = list(dict.fromkeys(row.kernel for row in rows))
    with style.settings():
        sections = [
            _section(kernel, [row for row in rows if row.kernel == kernel], colours)
            for kernel in kernels
        ]
    machine = dict(about.get("machine", {}))
    return template.render(
        style=webpage.style(),
        title=f"headrace bench: {_title(kernels)}",
        date=str(machine.get("date", ""))[:10],
        options=about.get("options", {}),
        command=about.get("command", ""),
        complete=about.get("complete", True),
        findings=findings.sentences(about, rows),
        measured_on=_measured_on(machine),
        machine=[(text, _fact(name, machine[name])) for name, text in _MACHINE.items()
                 if machine.get(name) not in (None, "", [])],
        stacks=[(name, colour) for name, colour in colours.items()
                if any(row.stack == name for row in rows)],
        overview=findings.overview(rows),
        least=f"{findings.LEAST - 1:.0%}",
        sections=sections,
        failures=_grouped(rows),
        missing=[row for row in rows if row.missing],
        intervals=any(
            side.ratio and side.ratio.coverage for row in rows for side in row.sides.values()
        ),
    )  # fmt: skip


def _title(kernels: Sequence[str]) -> str:
    return f"{len(kernels)} kernels" if len(kernels) > 4 else ", ".join(kernels) or "no results"


def _fact(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "memory" and str(value).endswith(" kB"):
        return units.size(float(str(value).split()[0]) * 1024)
    if name == "free_bytes":
        return units.size(float(value))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _measured_on(machine: Mapping[str, Any]) -> str:
    """The facts that figures hang on most, in a line."""

    def fact(name: str, before: str = "", after: str = "") -> str:
        value = machine.get(name)
        return "" if value in (None, "", []) else f"{before}{_fact(name, value)}{after}"

    virtual = " of a virtual machine" if machine.get("virtual") else ""
    load = fact("load_after", after=" after it")
    parts = [
        fact("processor"),
        fact("cores", after=f" cores{virtual}"),
        fact("memory", after=" of memory"),
        fact("system"),
        fact("file_system", "data on "),
        fact("hdf5", "HDF5 "),
        fact("headrace", "Headrace "),
        fact("load_before", "load over 1, 5 and 15 minutes ", " before the run"),
        load,
    ]
    return "; ".join(filter(None, parts))


def _section(kernel: str, rows: Sequence[Row], colours: Mapping[str, str]) -> dict[str, Any]:
    measured = [row for row in rows if row.sides]
    parts = []
    ranks = sorted({row.ranks for row in rows})
    for number in ranks:
        mine = [row for row in rows if row.ranks == number]
        if any(row.sides for row in mine):
            phased = [row for row in mine if row.phases]
            shown = [row for row in mine if row.sides or row.errors]
            parts.append(
                {
                    "ranks": number if len(ranks) > 1 or number > 1 else 0,
                    "bars": bars.comparison(shown, colours),
                    "phases": phases.phases(phased) if phased else "",
                }
            )
    return {
        "name": kernel,
        "parts": parts,
        "scaling": curves.scaling(measured, colours) if len(ranks) > 1 and measured else "",
        "rows": _table(rows, colours),
        "many_ranks": len(ranks) > 1,
        "ledgers": [_ledger(row) for row in rows if row.ledger],
        "uncounted": _uncounted(rows),
        "peers": kernel == peers_kernel,
        "notes": notes.of(kernel, rows),
        "timed": in_seconds(kernel),
    }


def _table(rows: Sequence[Row], colours: Mapping[str, str]) -> list[dict[str, Any]]:
    """With the name of a case once, over as many lines as follow one another."""
    lines = [_cells(row, colours) | {"rows": 0} for row in rows]
    first = 0
    for at, line in enumerate(lines):
        if line["case"] != lines[first]["case"]:
            first = at
        lines[first]["rows"] += 1
    return lines


def _cells(row: Row, colours: Mapping[str, str]) -> dict[str, Any]:
    return {
        "case": row.case,
        "stack": row.stack,
        "colour": colours[row.stack],
        "ranks": row.ranks,
        "count": row.count,
        "sides": [_side(row, row.sides.get(side)) for side in sides],
        "error": row.errors[0] if row.errors else "",
        "missing": row.missing,
        "file": units.size(row.file_bytes) if row.file_bytes else "",
    }


def _side(row: Row, side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    spread = side.seconds
    rate = "" if in_seconds(row.kernel) or not side.bytes else units.rate(side.rate)
    raw = "" if not side.raw or not spread.median else _to_raw(side.raw / spread.median)
    return {
        "seconds": units.seconds(spread.median),
        "range": _range(spread.least, spread.most) if spread.count > 1 else "",
        "quartiles": f"quartiles {_range(spread.lower, spread.upper)}",
        "rate": rate,
        "ratio": _ratio(side),
        "interval": _interval(side.ratio),
        "verdict": "" if side.ratio is None or side.short else side.ratio.verdict,
        "raw": raw,
    }


def _range(low: float, high: float) -> str:
    return f"{units.seconds(low)} {units.DASH} {units.seconds(high)}"


def _to_raw(value: float) -> str:
    return units.times(value) if value >= 0.005 else f"under {units.TIMES}0.01"


def _ratio(side: Side) -> str:
    if side.ratio is None:
        return ""
    return "too short" if side.short else units.times(side.ratio.median)


def _interval(ratio: Ratio | None) -> str:
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    return f"{ratio.low:.2f}{units.DASH}{ratio.high:.2f}"


def _ledger(row: Row) -> dict[str, Any]:
    ledger = row.ledger or {}
    shown = []
    for side in ("writes", "reads"):
        counts = ledger[side]
        share, factor = counts["metadata_share"], counts["amplification"]
        shown.append(
            {
                "name": "written" if side == "writes" else "read",
                "calls": units.count(counts["calls"]),
                "requests": units.count(counts["requests"]),
                "bytes": units.size(counts["bytes"]),
                "seeks": units.count(counts["seeks"]),
                "metadata": units.DASH if share is None else f"{share:.0%}",
                "amplification": units.DASH if factor is None else units.times(factor),
            }
        )
    return {"case": row.case, "stack": row.stack, "ranks": row.ranks, "sides": shown}


def _uncounted(rows: Sequence[Row]) -> list[str]:
    """Where there is no ledger and why, by stack."""
    reasons: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.uncounted:
            key = row.stack, row.uncounted
            reasons[key] = reasons.get(key, 0) + 1
    return [
        f"{stack}, {count} case{'s' if count > 1 else ''}: {reason}"
        for (stack, reason), count in reasons.items()
    ]


def _grouped(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What failed alike under several stacks, once."""
    groups: dict[tuple[str, str, int, tuple[str, ...]], list[str]] = {}
    for row in rows:
        if row.errors:
            groups.setdefault((row.kernel, row.case, row.ranks, row.errors), []).append(row.stack)
    return [
        {
            "where": f"{kernel} {case}" + (f", {ranks} ranks" if ranks > 1 else ""),
            "stacks": ", ".join(stacks),
            "errors": "; ".join(errors),
        }
        for (kernel, case, ranks, errors), stacks in groups.items()
    ]
