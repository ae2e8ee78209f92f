"""From what hypothesis draws to the statements of a program."""

from __future__ import annotations

# Imported for the operations they register.
from random_programs import chunks, creating, objects, opening, requests, transfers  # noqa: F401
from random_programs.choices import Choices
from random_programs.model import Model
from random_programs.registry import OPERATIONS

Program = list[tuple[str, str]]  # operations, each with its choices as hexadecimal digits


def statements(program: Program, *, filled: bool = False) -> list[str]:
    model = Model(filled)
    for name, raw in program:
        if name != "nothing":
            OPERATIONS[name][1](model, Choices(bytes.fromhex(raw)))
    return model.statements


def closes(text: list[str]) -> bool:
    """Whether the handles are dropped at the end; else HDF5 closes them as the process exits."""
    return len(text) % 3 > 0
