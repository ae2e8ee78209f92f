"""What is done to each element: fill values, conversion of types, lists of places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.analysis.advice.data import COPIED
from headrace.units import count, size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from headrace.trace.analysis.advice.data import Data
    from headrace.trace.model.process import Fact

_FILLED: Final = 1.5  # times the bytes that the program wrote
_CONVERTED: Final = 1.5e-9  # seconds for a number, where filters hide how long it took
_MOST_CONVERTED: Final = 300e-9  # of the slowest conversion
_CALL: Final = 20e-6  # seconds of a call, whatever it moves
_UNITED: Final = 2.5e-6  # seconds that h5py may take for each element of a list
_UNITED_SQUARED: Final = 65e-9  # and HDF5 for each pair, where slabs are united one by one
_READ: Final = 1e9  # bytes of a block that are read in a second, where no request tells
_DECODED: Final = 200e6  # the same where they are chunks to decode
_LARGE: Final = 32 << 10  # bytes of a request that has more to do than to begin


def filled_first(data: Data) -> Advice | None:
    """Fill values at the storage that the program then writes over."""
    made = data.requests(1)
    written = int(data.bytes[data.writes].sum())
    stored = int(data.seat.requests["length"][made].sum())
    if data.filtered or not data.layout["fills"] or written < 0.9 * data.whole:
        return None  # what is left must be filled, or chunks are encoded anew
    if not data.made or data.resized > 1:
        return None  # chunks at the edges of what grows are written again for that
    if not written or stored < _FILLED * written:
        return None
    again = _written_again(data, made)
    if again < 0.5 * data.whole or stored - written < 0.5 * data.whole:
        return None
    spent = data.spent_on(made)
    return Advice(
        "filled_first",
        data.path,
        f"the program writes all of it, {size(written)}, and HDF5 writes {size(stored)}: fill "
        "values first",
        "Tell HDF5 not to fill it",
        data.code(
            Code(
                'file.create_dataset(name, shape, dtype, fill_time="never")',
                "H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER)",
                "createVariable(name, type, dimensions, fill_value=False), in C "
                "nc_def_var_fill(…, NC_NOFILL, NULL)",
            )
        ),
        spent * (1 - written / stored),
        "the time of these requests times the share of bytes that the program did not write",
        "what the program leaves out then has no defined value",
        data.line,
    )


def _written_again(data: Data, made: NDArray[np.int64]) -> int:
    """Bytes of these requests at places of the file that others of them write, too."""
    raw = data.seat.requests
    begin, length = raw["offset"][made], raw["length"][made]
    found = int(length.sum())
    for file in np.unique(raw["file"][made]).tolist():
        mine = raw["file"][made] == file
        order = np.argsort(begin[mine], kind="stable")
        ends = np.maximum.accumulate((begin[mine] + length[mine])[order])
        before = np.append(0, ends[:-1])
        found -= int(np.maximum(ends - np.maximum(begin[mine][order], before), 0).sum())
    return found


def converted(data: Data) -> Advice | None:
    """Numbers of another type or order in memory than in the file."""
    stored = data.layout["type"]
    types = {i: t["is"] for i, t in data.seat.process.types.items() if _differs(t["is"], stored)}
    mine = np.isin(data.of("type"), np.array(list(types), np.int64))
    if stored["class"] not in ("H5T_INTEGER", "H5T_FLOAT") or not mine.any():
        return None
    moved = data.bytes[mine]
    other = types[int(data.of("type")[mine][int(np.argmax(moved))])]
    if data.filtered:
        gain = float(moved.sum()) / max(other["size"], 1) * _CONVERTED
        estimate = f"{_CONVERTED * 1e9:.1f} ns for each number"
    else:
        spent = (data.seconds - data.stored)[mine] - moved / COPIED - _CALL
        numbers = moved / max(other["size"], 1)
        gain = float(np.clip(spent, 0, numbers * _MOST_CONVERTED).sum())
        estimate = (
            "the time of these calls that is neither the storage's nor for copying, beyond "
            f"{_CALL * 1e6:.0f} µs of each"
        )
    return Advice(
        "converted",
        data.path,
        f"{count(mine.sum())} calls convert {size(moved.sum())} of its {_named(stored)} numbers "
        f"to or from {_named(other)}",
        "Keep one type in both",
        data.code(
            Code(
                "values = numpy.empty(shape, dataset.dtype); dataset.read_direct(values)",
                "give H5Dread and H5Dwrite the type that H5Dget_type tells",
                "arrays of variable.dtype, in C the nc_get_vara_… of the variable's type",
            )
        ),
        gain,
        estimate,
        f"a program that needs the other type converts by itself; {OTHER_FILE} to change theirs",
        data.line,
    )


def _differs(one: Fact, other: Fact) -> bool:
    same = (one["size"], one.get("order")) == (other["size"], other.get("order"))
    return one["class"] in ("H5T_INTEGER", "H5T_FLOAT") and not (
        same and one["class"] == other["class"]
    )


def _named(type_: Fact) -> str:
    kind = "floating-point" if type_["class"] == "H5T_FLOAT" else "integer"
    return f"{8 * type_['size']}-bit {type_.get('order', '')}-endian {kind}"


def _built(data: Data, shapes: list[Fact], mine: NDArray[np.bool_]) -> float:
    """Seconds before these transfers without HDF5, as far as building their selections may take."""
    elements = np.array([float(each.get("elements", 0)) for each in shapes])[mine]
    most = elements * _UNITED if data.python else elements**2 * _UNITED_SQUARED
    return float(np.minimum(data.before[mine], most).sum())


def _speed(data: Data) -> float:
    """Bytes of a block that are read and picked from in a second, by the larger requests made."""
    read = data.requests(0)
    lengths = data.seat.requests["length"][read]
    large = lengths >= _LARGE
    seconds = data.spent_on(read[large])
    speed = 1 / (seconds / float(lengths[large].sum()) + 1 / COPIED) if seconds > 0 else _READ
    return min(speed, _DECODED) if data.filtered else speed


def united(data: Data) -> Advice | None:
    """Unions of hyperslabs, as lists of rows make them: HDF5 is slow at each transfer of one."""
    shapes = data.shapes(np.ones(len(data.transfers), np.bool_))
    mine = np.array([each.get("kind") == "union" for each in shapes], np.bool_) & ~data.writes
    if not mine.any():
        return None
    around = sum(
        float(np.prod(each.get("block", [0]), dtype=np.float64))
        for each, used in zip(shapes, mine, strict=True)
        if used
    )
    block = around * data.item
    spent = float(data.seconds[mine].sum()) + _built(data, shapes, mine)
    speed = _speed(data)
    return Advice(
        "united_selections",
        data.path,
        f"{count(mine.sum())} reads of {size(data.bytes[mine].sum())} select lists, which HDF5 "
        "unites and takes apart one by one",
        "Read one block around each list and pick from it in memory, or run it with "
        "`headrace run --stack async --`, which takes lists as rows",
        Code(
            "dataset[min(rows) : max(rows) + 1][rows - min(rows)]",
            "one H5Sselect_hyperslab around all, and pick in memory",
        ).of(python=data.python),
        spent - block / speed,
        "the time of these reads and that before them, in which such a selection is built, less "
        f"that for {size(block)} around them at {size(speed)} a second",
        f"up to {size(block / mine.sum())} of memory for a block",
        data.line,
        stack="async",
    )
