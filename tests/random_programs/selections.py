"""Selections as text: of h5py's kind and by HDF5's own calls."""

from __future__ import annotations

from math import prod

from random_programs import prelude
from random_programs.choices import Choices

Shape = tuple[int, ...]


def axis(choices: Choices, length: int, lists: bool) -> tuple[str, int | None]:
    """One axis' part of a selection, and how many it selects; None where the axis is dropped."""
    kind = choices.below(9)
    if kind == 0 or length == 0:
        return ":", length
    if kind == 1:
        at = choices.below(length)
        return str(at - length if choices.rarely(4) else at), None
    if kind == 8 and lists:
        return points_of(choices, length)
    start = choices.below(length)
    stop = start + choices.below(length - start + 1)
    if kind in (2, 3, 4):
        return f"{start}:{stop}", stop - start
    if kind == 5:
        return f"{start}:", length - start
    step = choices.below(5) + 1
    return f"{start}:{stop}:{step}", len(range(start, stop, step))


def points_of(choices: Choices, length: int) -> tuple[str, int]:
    if choices.rarely(4):
        step = choices.below(50)
        return f"mask({step}, ({length},))", int(prelude.mask(step, (length,)).sum())
    places = sorted({choices.below(length) for _ in range(choices.below(5))})
    return str(places), len(places)


def selection(choices: Choices, shape: Shape) -> tuple[str, Shape]:
    """What stands in brackets, and the shape of what it selects."""
    kind = choices.below(10)
    if not shape:
        return choices.of(["()", "..."]), ()
    if kind == 0:
        return choices.of(["...", "()"]), shape
    if kind == 1 and min(shape) > 0:
        step = choices.below(100)
        return f"mask({step}, {shape})", (int(prelude.mask(step, shape).sum()),)
    if choices.rarely(40):
        return str(max(shape) + 1), shape[1:]  # beyond the extent
    parts = [axis(choices, shape[0], True)]
    listed = parts[0][0].startswith(("[", "mask"))
    for length in shape[1:][: choices.of([9, 9, 9, 1, 0])]:
        parts.append(axis(choices, length, not listed))
        listed = listed or parts[-1][0].startswith(("[", "mask"))
    text = ", ".join(part for part, _ in parts)
    if len(parts) < len(shape) and choices.rarely(3):
        text += ", ..."
    kept = tuple(count for _, count in parts if count is not None)
    return text, kept + shape[len(parts) :]


def broadcast(choices: Choices, shape: Shape) -> Shape:
    """A shape that h5py stretches to the given one; mostly the same."""
    if not choices.rarely(6):
        return shape
    return choices.of([shape[1:], (1, *shape[1:]), ()])


def boxes(choices: Choices, shape: Shape) -> str:
    """Arguments of `blocks`: one to four hyperslabs."""
    made = []
    for _ in range(choices.below(4) + 1):
        start, count, stride, block = [], [], [], []
        for length in shape:
            start.append(choices.below(length))
            room = length - start[-1]
            block.append(min(choices.below(4) + 1, room))
            stride.append(block[-1] + choices.below(3))
            count.append(min(choices.below(6) + 1, (room - block[-1]) // stride[-1] + 1))
        made.append(tuple(tuple(part) for part in (start, count, stride, block)))
    how = choices.often("OR", ["XOR", "AND", "NOTB"])
    return f"{made}, h5py.h5s.SELECT_{how}"


def places(choices: Choices, shape: Shape) -> str:
    count = choices.below(8) + 1
    made = [tuple(choices.below(length) for length in shape) for _ in range(count)]
    # HDF5 takes a point that is there twice for two, and leaves out the fill value where it counts
    # as many as there are elements.
    return str(made if count < prod(shape) else sorted(set(made)))


def rows(choices: Choices, name: str, shape: Shape) -> list[str]:
    """Texts of dataspaces that lie side by side, in any order."""
    first = choices.below(shape[0])
    made = [(row, *(0 for _ in shape[1:])) for row in range(first, min(first + 4, shape[0]))]
    if choices.below(2):
        made.reverse()
    ones = (1,) * len(shape)
    return [
        f"blocks({name}, [({start}, {ones}, {ones}, {(1, *shape[1:])})], h5py.h5s.SELECT_OR)"
        for start in made
    ]


def space(choices: Choices, name: str, shape: Shape) -> str:
    """Text of a dataspace with a selection in the dataset of that name."""
    if not shape or min(shape) == 0 or choices.rarely(12):
        return f"{name}.id.get_space()"
    if choices.rarely(3):
        return f"points({name}, {places(choices, shape)})"
    return f"blocks({name}, {boxes(choices, shape)})"
