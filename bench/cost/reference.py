"""The counts that operations may not exceed: reference.json, a line for each cell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.cost.count import Cell, Counts
from bench.cost.stacks import NATIVE

FILE = Path(__file__).with_name("reference.json")
_FUNCTIONS = 10  # kept of a cell, of either kind
_WORTH_KEEPING = 0.01  # of the cell


@dataclass(frozen=True)
class Reference:
    """Counts by HDF5's version and stack.

    Of a cell it keeps in `of` what functions take more than they do natively, and in `within`
    Headrace's functions: the largest of both.
    """

    counts: Mapping[str, Mapping[str, Counts]]

    def cell(self, version: str, stack: str, operation: str) -> Cell | None:
        found = self.counts.get(version, {}).get(stack)
        return found.cells.get(operation) if found else None


def reduced(counts: Counts, native: Counts) -> Counts:
    """What a reference keeps."""
    return Counts(
        counts.toolchain,
        {name: _reduced(cell, native.cells[name]) for name, cell in counts.cells.items()},
    )


def _reduced(cell: Cell, native: Cell) -> Cell:
    added = {name: count - native.of.get(name, 0) for name, count in cell.of.items()}
    return Cell(cell.parts, _largest(added, cell), _largest(cell.within, cell))


def _largest(counts: Mapping[str, int], cell: Cell) -> dict[str, int]:
    least = _WORTH_KEEPING * cell.instructions
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    return {name: count for name, count in ranked[:_FUNCTIONS] if count >= least}


def unkept(kept: Mapping[str, int], cell: Cell) -> int:
    """The most that a function can have had which a reference has not kept."""
    if len(kept) == _FUNCTIONS:
        return min(kept.values())
    return round(_WORTH_KEEPING * cell.instructions)


def load(file: Path = FILE) -> Reference:
    """Raises OSError or ValueError."""
    whole = json.loads(file.read_text(encoding="utf-8"))
    names = whole["functions"]
    counts: dict[str, dict[str, Counts]] = {}
    for version, stack, operation, parts, of, within in whole["cells"]:
        cells = counts.setdefault(version, {}).setdefault(stack, Counts(whole["toolchain"], {}))
        cells.cells[operation] = Cell(parts, _named(of, names), _named(within, names))
    return Reference(counts)


def save(reference: Reference, file: Path = FILE) -> None:
    """Raises OSError."""
    lines = list(_cells(reference))
    names = sorted({name for *_, of, within in lines for name in (*of, *within)})
    number = {name: at for at, name in enumerate(names)}
    toolchain = next(iter(reference.counts.values()))[NATIVE].toolchain
    cells = [
        json.dumps([*key, parts, _numbered(of, number), _numbered(within, number)])
        for *key, parts, of, within in lines
    ]
    rows = ",\n".join(json.dumps(name, ensure_ascii=False) for name in names)
    text = f'{{"toolchain": {json.dumps(toolchain)},\n"functions": [\n{rows}\n],\n"cells": [\n'
    file.write_text(text + ",\n".join(cells) + "\n]}\n", encoding="utf-8")


Row = tuple[str, str, str, Mapping[str, int], Mapping[str, int], Mapping[str, int]]


def _cells(reference: Reference) -> Iterator[Row]:
    for version, stacks in reference.counts.items():
        for stack, counts in stacks.items():
            for operation, cell in counts.cells.items():
                yield version, stack, operation, cell.parts, cell.of, cell.within


def _numbered(counts: Mapping[str, int], number: Mapping[str, int]) -> list[list[int]]:
    return [[number[name], count] for name, count in counts.items()]


def _named(counts: list[list[int]], names: list[str]) -> dict[str, int]:
    return {names[at]: count for at, count in counts}
