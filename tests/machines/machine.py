"""The steps that hypothesis chooses from: a writer of two files, a reader, and plain HDF5."""

from __future__ import annotations

import re
from copy import deepcopy
from math import prod
from typing import ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from machines import operations
from machines.sides import Answer, Sides
from random_programs import translate  # noqa: F401  (has all operations registered)
from random_programs.choices import Choices
from random_programs.compare import DifferenceError
from random_programs.creating import STRINGS
from random_programs.model import FILES, File, Model
from random_programs.registry import OPERATIONS, Operation

RAW = st.binary(min_size=14, max_size=20)
WHICH = st.sampled_from(FILES)

# What the machine has rules of its own for, or which keeps others from opening a file.
NOT_HERE = {
    "create_external", "create_file", "create_virtual", "close_file", "file_of_python",
    "flush_file", "look_at_file", "open_again", "reopen_file", "single_writer", "snapshot",
}  # fmt: skip
MORE: list[tuple[int, Operation]] = [
    (4, operations.create_large),
    (14, operations.write_columns),
    (12, operations.write_pieces),
    (12, operations.write_with_gaps),
    (1, operations.group),
    (1, operations.move_elsewhere),
    (4, operations.list_links),
]
SELDOM = {"delete", "move"}
WRITER: dict[str, tuple[int, Operation]] = {
    **{
        name: (1 if name in SELDOM else weight, function)
        for name, (weight, function) in OPERATIONS.items()
        if name not in NOT_HERE
    },
    **{function.__name__: (weight, function) for weight, function in MORE},
}
KINDS = [name for name, (weight, _) in WRITER.items() for _ in range(weight)]
Some = list[tuple[str, bytes]]
SOME = st.lists(st.tuples(st.sampled_from(KINDS), RAW), max_size=10)


def changes_links(statements: list[str]) -> bool:
    return any(re.match(r"del f\d+\[|f\d+\.move", statement) for statement in statements)


def can_be_compared(model: Model, new: list[str]) -> bool:
    # All is shown again and again, and texts take their time.
    slow = any(d.kind in STRINGS and prod(d.shape) >= 2000 for d in model.datasets)
    # Native HDF5 writes chunks to files that are open for reading, and ends or fails later; where
    # a chunk is written without its filters, it may remember that it has them.
    chunks = [statement for statement in new if "write_direct_chunk" in statement]
    read_only = any(file.mode == "r" for file in model.files)
    unfiltered = any(not statement.endswith(", 0)") for statement in chunks)
    return not slow and not (chunks and (read_only or unfiltered))


class Files(RuleBasedStateMachine):
    """Each step is taken on all sides, which must see the same."""

    sides: ClassVar[Sides]

    def __init__(self) -> None:
        super().__init__()
        self.model = Model(filled=True)
        self.done = 0  # statements that were executed
        self.read: set[str] = set()  # open in the reader
        self.links = True  # may be deleted and renamed, after which some layers leave all to HDF5
        self.news = False  # for the reader: else most steps would be its
        self.sides.begin()

    def teardown(self) -> None:
        self.sides.end()

    @initialize(which=WHICH, raw=RAW, links=st.booleans())
    def first(self, which: str, raw: bytes, links: bool) -> None:
        self.links = links
        self._open(which, "w", raw)

    @precondition(lambda self: len(self.model.files) < len(FILES))
    @rule(which=WHICH, mode=st.sampled_from(["r+", "w", "a", "r+", "r", "x"]), raw=RAW)
    def open(self, which: str, mode: str, raw: bytes) -> None:
        if self.model.file_of(which) is not None:
            which = next(other for other in FILES if other != which)
        if mode == "w" and which in self.read:
            mode = "r+"  # HDF5 would truncate the file, and then find it locked
        self._open(which, mode, raw)

    def _open(self, which: str, mode: str, raw: bytes) -> None:
        if which not in self.model.opened:
            mode = "w"
        file = operations.open_file(self.model, Choices(raw), which, mode)
        if "error" not in self._write()[0]:  # a reader may have it
            operations.opened(self.model, file)
            self._write()

    @precondition(lambda self: self.model.files)
    @rule(some=SOME)
    def write(self, some: Some) -> None:
        for kind, raw in some:
            model = deepcopy(self.model)
            WRITER[kind][1](model, Choices(raw))
            new = model.statements[len(self.model.statements) :]
            if can_be_compared(model, new) and (self.links or not changes_links(new)):
                self.model = model
        self._write()

    @precondition(lambda self: self.model.files)
    @rule(which=WHICH, some=SOME)
    def flush(self, which: str, some: Some) -> None:
        self.write(some)
        file = self._file(which)
        self.model.say(f"{file.name}.flush()")
        self._write()
        self.sides.live(file.which)
        self.sides.on_disk(file.which, closed=False)

    @precondition(lambda self: self.model.files)
    @rule(which=WHICH, raw=RAW, some=SOME)
    def close(self, which: str, raw: bytes, some: Some) -> None:
        self.write(some)
        file = self._file(which)
        operations.close_file(self.model, Choices(raw), file)
        self._write()
        self.sides.on_disk(file.which, closed=True)

    @precondition(lambda self: self.model.files)
    @rule(some=SOME)
    def writer_ends(self, some: Some) -> None:
        """With all that it has open; another one begins."""
        self.write(some)
        self.sides.exit("writer")
        self.model.files, self.model.handles, self.model.requests = [], [], []
        for which in sorted(self.model.opened):
            self.sides.on_disk(which, closed=True)

    @precondition(lambda self: self.news)
    @rule(which=WHICH)
    def look(self, which: str) -> None:
        """Which fails while it is open for writing."""
        which = self._existing(which)
        self._read([f"show(contents('{which}.h5'))"])

    @precondition(lambda self: self.news)
    @rule(which=WHICH)
    def reader_opens_or_closes(self, which: str) -> None:
        """What is open for reading cannot be opened for writing."""
        which = self._existing(which)
        if which in self.read:
            self.read.remove(which)
            self._read([f"r_{which}.close()"])
        elif "error" not in self._read([f"r_{which} = h5py.File('{which}.h5')"])[0]:
            self.read.add(which)

    @precondition(lambda self: self.news and self.read)
    @rule()
    def reader_reads(self) -> None:
        self._read([f"show(all_of(r_{which}))" for which in sorted(self.read)])

    def _file(self, which: str) -> File:
        """That one or, where it is not open, the other one."""
        return self.model.file_of(which) or self.model.files[0]

    def _existing(self, which: str) -> str:
        return which if which in self.model.opened else next(iter(self.model.opened))

    def _write(self) -> Answer:
        new = self.model.statements[self.done :]
        self.done = len(self.model.statements)
        self.news = True
        return self.sides.step("writer", new)

    def _read(self, statements: list[str]) -> Answer:
        self.news = False
        return self.sides.step("reader", statements)


def drive(sides: Sides, examples: int, number: int, steps: int) -> None:
    """Raises DifferenceError with the steps that are left of the first that differ."""
    machine = seed(number)(type("Files", (Files,), {"sides": sides}))
    options = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        report_multiple_bugs=False,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(machine, settings=options)
    except DifferenceError:
        raise DifferenceError(f"{sides.found[-1]}\n--- TEST_SEED={number}") from None
    except FlakyFailure:
        raise DifferenceError(f"by chance: {sides.found[0]}\n--- TEST_SEED={number}") from None
