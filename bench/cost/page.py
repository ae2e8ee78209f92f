"""The tables of README.md, which are made of the reference alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.common.page import table
from bench.cost.count import Cell
from bench.cost.reference import Reference
from bench.cost.stacks import COMBINED, FLOOR, HDF5S, LAYERS, NATIVE, Hdf5

FILE = Path(__file__).with_name("README.md")
_BEGIN, _END = "<!-- made by run.py -->\n", "<!-- end -->\n"
_WORST = 10
_FUNCTIONS = 5
_NOISE = 0.01  # of a cell; the goal leaves it out


def write(reference: Reference, file: Path = FILE) -> None:
    """Raises OSError, or ValueError where the page has no place for the tables."""
    before, _, rest = file.read_text(encoding="utf-8").partition(_BEGIN)
    _, found, after = rest.partition(_END)
    if not found:
        raise ValueError(f"{file} has no lines {_BEGIN.strip()} and {_END.strip()}")
    file.write_text(before + _BEGIN + tables(reference) + _END + after, encoding="utf-8")


def tables(reference: Reference) -> str:
    """All of what is between the two lines."""
    parts = {f"HDF5 {each.version}: ratios to native": _ratios(reference, each) for each in HDF5S}
    parts[f"The worst {_WORST} cells of HDF5 {HDF5S[0].version}"] = _worst(reference)
    parts["Stacks dearer than the sum of their layers"] = _beyond(reference)
    made_by = f"\nMade by {reference.counts[HDF5S[0].version][NATIVE].toolchain}.\n\n"
    return made_by + "".join(f"## {name}\n\n{text}\n\n" for name, text in parts.items())


def _ratios(reference: Reference, hdf5: Hdf5) -> str:
    stacks = (FLOOR, *LAYERS, *COMBINED)
    counts = reference.counts[hdf5.version]
    lines = []
    for operation, native in counts[NATIVE].cells.items():
        ratios = (counts[name].cells[operation].instructions for name in stacks)
        each = [f"{one / native.instructions:.2f}" for one in ratios]
        lines.append([operation, f"{native.instructions:,}", *each])
    return table(("operation", "native, instructions", *stacks), lines)


@dataclass(frozen=True)
class _Place:
    version: str
    stack: str
    operation: str
    cell: Cell
    native: Cell

    @property
    def ratio(self) -> float:
        return self.cell.instructions / self.native.instructions

    @property
    def added(self) -> int:
        return self.cell.instructions - self.native.instructions


def _places(reference: Reference) -> Iterator[_Place]:
    for version, stacks in reference.counts.items():
        native = stacks[NATIVE].cells
        for stack, counts in stacks.items():
            for operation, cell in counts.cells.items():
                yield _Place(version, stack, operation, cell, native[operation])


def _worst(reference: Reference) -> str:
    places = [each for each in _places(reference) if each.version == HDF5S[0].version]
    ranked = sorted(places, key=lambda each: -each.ratio)[:_WORST]
    lines = [
        [f"{each.operation} under {each.stack}", f"{each.ratio:.2f}",
         _functions(each.cell.of), _functions(each.cell.within)]
        for each in ranked
    ]  # fmt: skip
    headings = ("cell", "ratio", "what functions take more than natively", "with what they call")
    return table(headings, lines)


def _functions(counts: Mapping[str, int]) -> str:
    return ", ".join(f"`{name}` {count:,}" for name, count in list(counts.items())[:_FUNCTIONS])


def _beyond(reference: Reference) -> str:
    places = {(each.version, each.stack, each.operation): each for each in _places(reference)}
    lines = []
    for (version, stack, operation), each in places.items():
        if stack not in COMBINED:
            continue
        layers = sum(places[version, layer, operation].added for layer in stack.split(","))
        more = each.added - layers
        if more > _NOISE * each.cell.instructions:
            numbers = [f"{number:,}" for number in (each.added, layers, more)]
            lines.append((more, [version, stack, operation, *numbers]))
    lines.sort(key=lambda line: -line[0])
    of = sum(stack in COMBINED for _, stack, _ in places)
    told = f"{len(lines)} of {of} cells, by more than {_NOISE:.0%} of the cell.\n\n"
    headings = ("HDF5", "stack", "operation", "adds", "its layers add", "beyond that")
    return told + (table(headings, [cells for _, cells in lines]) if lines else "")
