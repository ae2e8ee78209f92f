"""The table for people; CSV and JSON for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.micro.measure import Measurement
from bench.micro.stacks import NATIVE, SAMPLE, STACKS
from bench.micro.summary import TARGET, Cell
from rich.console import Console
from rich.table import Table


def nanoseconds(value: float) -> str:
    """Three digits or so: 37 ns, 4.12 µs."""
    if abs(value) < 10:
        return f"{value:.1f} ns"
    return f"{value:.0f} ns" if abs(value) < 1000 else f"{value / 1000:.2f} µs"


def _native(cell: Cell) -> str:
    return f"{nanoseconds(cell.time.median)} [dim]±{nanoseconds(cell.time.iqr / 2)}[/]"


def _added(cell: Cell) -> str:
    sign = "+" if cell.added.median >= 0 else ""
    text = f"{sign}{nanoseconds(cell.added.median)} [dim]±{nanoseconds(cell.added.iqr / 2)}[/]"
    if cell.stack == SAMPLE.name:
        return text
    if cell.per_callback is None:
        return f"{text}\n[dim]no calls[/]"
    colour = "red" if cell.misses_target else "green"
    each = f"[{colour}]{nanoseconds(cell.per_callback)}[/]" if cell.resolved else "in the noise"
    calls = f"{cell.callbacks:.3g} calls"
    if cell.callbacks < 0.1:
        calls = f"{cell.callbacks * 1000:.3g} calls in 1000"
    return f"{text}\n[dim]{calls},[/] {each}"


def show(console: Console, measurement: Measurement) -> None:
    """A row per operation; each cell has what a stack adds, its callbacks and the cost of each."""
    cells = {(cell.operation, cell.stack): cell for cell in measurement.cells()}
    table = Table(title=f"{measurement.program.name} (HDF5 {measurement.hdf5})", show_lines=True)
    table.add_column("operation")
    table.add_column("native", justify="right")
    for stack in STACKS[1:]:
        name = "HDF5's pass_through" if stack == SAMPLE else f"null {stack.name}"
        table.add_column(name, justify="right")
    for operation in measurement.program.operations:
        table.add_row(
            operation.name,
            _native(cells[operation.name, NATIVE.name]),
            *(_added(cells[operation.name, stack.name]) for stack in STACKS[1:]),
        )
    console.print(table)


def verdict(cells: Sequence[Cell]) -> str:
    """Whether the target is met, and by the dearest callback how well."""
    rated = [cell for cell in cells if cell.per_callback is not None]
    missed = sum(cell.misses_target for cell in rated)
    unclear = sum(cell.over_target for cell in rated) - missed
    met = len(rated) - missed - unclear
    hidden = sum(not cell.resolved for cell in rated)
    worst = max(rated, key=lambda cell: (cell.resolved, cell.per_callback))
    return (
        f"target: under {nanoseconds(TARGET)} per call and layer: met in {met} of {len(rated)}, "
        f"missed in {missed}, too much noise to tell in {unclear}; {hidden} are within the noise\n"
        f"dearest: {nanoseconds(worst.per_callback or 0.0)} "
        f"({worst.operation}, null {worst.stack}, {worst.program})"
    )


def write(
    folder: Path, measurements: Sequence[Measurement], about: dict[str, Any]
) -> tuple[Path, Path]:
    """Writes micro.csv and micro.json; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = [cell for measurement in measurements for cell in measurement.cells()]
    table = folder / "micro.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(cells[0].row()), lineterminator="\n")
        writer.writeheader()
        writer.writerows(cell.row() for cell in cells)
    everything = folder / "micro.json"
    samples = [
        {"program": each.program.name, "stack": stack, "operation": operation, "values": values}
        for each in measurements
        for stack, operations in each.times.items()
        for operation, values in operations.items()
    ]
    text = _lines({"about": [about], "summary": [cell.json() for cell in cells], "ns": samples})
    everything.write_text(text, encoding="utf-8")
    return table, everything


def _lines(document: dict[str, list[dict[str, Any]]]) -> str:
    """JSON with a line for each record, so that two results can be compared line by line."""
    parts = [
        f'"{name}": [\n' + ",\n".join(json.dumps(_rounded(record)) for record in records) + "\n]"
        for name, records in document.items()
    ]
    return "{" + ",\n".join(parts) + "}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value
