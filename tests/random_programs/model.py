"""What a translated program believes to hold: open files, handles, datasets and their shapes.

It need not be right. Where it is not, statements fail, and must fail natively and under a layer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FILES = ("a", "b")


@dataclass
class Dataset:
    file: str
    path: str
    shape: tuple[int, ...]
    kind: str = "i4"
    chunks: tuple[int, ...] | None = None
    extensible: bool = False
    filters: str = ""  # as `pack` names them; `?` where it cannot say
    scalar: bool = False
    virtual: bool = False
    grows: bool = False  # when stored: native HDF5 corrupts its memory when it copies those


@dataclass
class Handle:
    name: str
    dataset: Dataset


@dataclass
class File:
    name: str  # of the variable
    which: str
    options: str
    mode: str


@dataclass
class Model:
    # Contiguous storage is filled when it is made. It may lie where chunks have been, whose sizes
    # depend on who encodes them.
    filled: bool = False
    statements: list[str] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    datasets: list[Dataset] = field(default_factory=list)
    groups: list[tuple[str, str]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)  # event sets
    opened: dict[str, str] = field(default_factory=dict)  # options of each file that was created
    step: int = 0
    names: int = 0
    snapshots: int = 0

    def say(self, statement: str) -> None:
        self.statements.append(statement)

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def next_step(self) -> int:
        self.step += 1
        return self.step

    def file_of(self, which: str) -> File | None:
        """The handle that was opened last."""
        return next((file for file in reversed(self.files) if file.which == which), None)
