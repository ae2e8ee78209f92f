"""Reads and writes that a program waits for later, with other operations in between."""

from __future__ import annotations

from random_programs import selections
from random_programs.choices import Choices
from random_programs.creating import NUMBERS
from random_programs.model import Model
from random_programs.registry import operation
from random_programs.transfers import memory_of, some_handle


@operation(8)
def start_requests(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    # Asynchronous reads of points in virtual datasets end native HDF5.
    if handle.dataset.kind not in NUMBERS or handle.dataset.virtual:
        return
    if not model.requests or choices.rarely(8):
        model.requests.append(model.name("e"))
        model.say(f"{model.requests[-1]} = Requests()")
    requests = choices.of(model.requests)
    shape = handle.dataset.shape
    if choices.below(2) or not shape or min(shape) == 0:
        count = choices.below(4) + 1
        spaces = [selections.space(choices, handle.name, shape) for _ in range(count)]
    else:
        spaces = selections.rows(choices, handle.name, shape)
    writes, kind = choices.below(3) > 0, memory_of(choices, handle)
    for space in spaces:
        if writes != choices.rarely(6):
            what = f"write({handle.name}, {space}, {model.next_step()}, {kind!r})"
        else:
            what = f"read({handle.name}, {space}, {kind!r})"
        model.say(f"{requests}.{what}")


@operation(4)
def wait_for_requests(model: Model, choices: Choices) -> None:
    if model.requests:
        model.say(f"{choices.of(model.requests)}.wait()")
