"""Runs programs natively and under stacks, and says what differs."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.build import take_findings

from headrace.stripe.fuse import fuse, remove_pieces
from headrace.stripe.sets import find
from random_programs import script
from random_programs.translate import Program, closes, statements
from random_programs.workers import LostError, Worker

# What looks at a file past the layer finds the stub, and SWMR is refused.
PAST_PIECES = re.compile(r"driver=|swmr|snapshot|raw_")
LIMIT = 300.0  # seconds for one program: no machine is as slow, only a hang takes as long
# What asks for chunks, or packs them, as the program has laid them out.
OF_CHUNKS = re.compile(
    r"(direct|show)_chunk|num_chunks|chunk_i|iter_chunks|for c in c|show.*\.(chunks|compression)"
)
# What containers have not (docs/guide/object.md): data in other files, what depends on a
# file's format, and its bytes. They have SWMR and large attributes in all formats.
NOT_IN_CONTAINERS = re.compile(
    r"external=|[vV]irtual(_|L|S)|expand_refs|swmr_mode|attrs.create\('large'"
    r"|get_freespace|get_file_image|snapshot"
)
# Nor locks of files, which another driver refuses by. Files with a user block or in two parts are
# HDF5's, and not those that a stub of the same name leads to.
LOCKS = re.compile(
    r", locking=False|, userblock_size=\d+|, driver='(core|stdio|split)'(, backing_store=False)?"
)
# Chunks that were not written are not stored there.
ALLOCATED = re.compile(r"ALLOC_TIME_(EARLY|LATE)")
FLUSH_ALL = "[d.flush() for d in list(globals().values()) if isinstance(d, h5py.Dataset) and d]"
OPENED = re.compile(r"(f\d+) = h5py.File\('(.)")
OF_FILE = re.compile(r"(d\d+) = .*?\b(f\d+)\b")
MARKER = "_headrace_log"  # the attribute that says that a file has a log


@dataclass(frozen=True)
class Stack:
    name: str
    environment: Mapping[str, str]
    exact: bool  # it must leave the same files byte by byte
    seats: tuple[str, ...]
    early: bool = False  # it stores chunks earlier than HDF5 does
    reserves: bool = False  # HDF5 damages what it sets aside where a start of SWMR has failed
    relaid: bool = False  # it stores datasets otherwise than programs say
    pieces: bool = False  # its files are in pieces, which plain HDF5 reads as one file only
    contained: bool = False  # only the stack itself reads its files
    later: bool = False  # what it leaves is complete when a writer has opened it under the stack


class DifferenceError(AssertionError):
    pass


@dataclass(frozen=True)
class Finding:
    statements: list[str]
    why: str
    program: Program

    def shown(self, path: Path) -> str:
        """Writes the program as a script and says all there is to say."""
        path.write_text(script.text(self.statements, self.why))
        return "\n".join([self.why, f"--- {path}", *self.statements, f"--- {self.program}"])


@dataclass
class Arena:
    """The workers of one run; use it as a context manager."""

    native: Mapping[str, str]
    stacks: list[Stack]
    folder: Path
    programs: int = 0
    executed: int = 0
    failed: int = 0
    copied: int = 0  # files, into containers and out of them
    found: list[Finding] = field(default_factory=list)
    native_lost: list[list[str]] = field(default_factory=list)
    workers: dict[str, Worker] = field(default_factory=dict)

    def __enter__(self) -> Arena:
        for name, environment in (
            ("native", self.native),
            *((stack.name, stack.environment) for stack in self.stacks),
        ):
            self.workers[name] = Worker(environment, self.folder, name)
        return self

    def __exit__(self, *_: object) -> None:
        for name, worker in self.workers.items():
            status = worker.close()
            assert status in (0, None), f"{name}: {status}\n{worker.said()}"

    def summary(self) -> str:
        return (
            f"{self.programs} programs, {self.executed} statements of which {self.failed} fail "
            f"natively, {len(self.native_lost)} programs that end native HDF5"
        )

    def check(self, program: Program) -> None:
        self.programs += 1
        text = statements(program, filled=not all(stack.exact for stack in self.stacks))
        if any(stack.relaid for stack in self.stacks):
            text = [line for line in text if not OF_CHUNKS.search(line)]
            # Which HDF5 2.0 refuses for chunks and virtual datasets together.
            if any("VirtualLayout" in line for line in text):
                text = [line for line in text if "_multi'" not in line]
        if any(stack.relaid or stack.reserves for stack in self.stacks):
            text = [line for line in text if "swmr_mode" not in line]
        if any(stack.pieces for stack in self.stacks):
            text = [line for line in text if not PAST_PIECES.search(line)]
        if any(stack.contained for stack in self.stacks):
            text = in_containers(text)
        here = self.folder / f"p{self.programs}"
        try:
            self.compare(text, here)
        except (DifferenceError, LostError) as found:
            self.found.append(Finding(text, str(found), program))
            if len(self.found) == 1:  # at once: shrinking it takes its time, and may be cut short
                self.found[0].shown(self.folder / "first.py")
            raise DifferenceError(str(found)) from None
        finally:
            shutil.rmtree(here, ignore_errors=True)

    def compare(self, text: list[str], here: Path) -> None:
        close = closes(text)
        for name, worker in self.workers.items():
            worker.tell({"folder": str(here / name), "statements": text, "close": close})
        answers, lost = {}, []
        for name, worker in self.workers.items():
            try:
                answers[name] = worker.answer(LIMIT)
            except LostError as error:
                lost.append(f"{name}: {error}")
        if "native" not in answers:
            self.native_lost.append(text)  # nothing to compare with
            take_findings()  # of what a sanitizer says when others end like it
            return
        if found := take_findings():
            lost.append(found)
        if lost:
            raise DifferenceError("\n".join(lost))
        native = answers["native"]
        self.executed += len(text)
        self.failed += sum("error" in result for result in native["results"])
        for stack in self.stacks:
            self.compare_answers(text, stack, native, answers[stack.name])
        self.compare_files(here)

    def compare_answers(
        self, text: list[str], stack: Stack, native: dict[str, Any], other: dict[str, Any]
    ) -> None:
        direct = any("write_direct_chunk" in statement for statement in text)
        pairs = zip(text, native["results"], other["results"], strict=True)
        for number, (statement, here, there) in enumerate(pairs):
            if stack.early and statement.startswith("show_chunk"):
                continue
            if stack.contained and is_other_chunk(statement, here, direct=direct):
                continue
            if seen(here, stack) != seen(there, stack):
                raise DifferenceError(
                    f"{stack.name}: statement {number}: {statement}\n"
                    f"  native: {here}\n  {stack.name}: {there}"
                )
        left, its_left = (one.get("left") for one in (native, other))
        # HDF5 itself leaves files open where writes of chunks have failed.
        if left != its_left and not (stack.contained and left and not its_left):
            raise DifferenceError(f"{stack.name}: left open: {left}, {its_left}")

    def compare_files(self, here: Path) -> None:
        """Bytes where they must agree, and are enough; otherwise by plain HDF5 and the layer."""
        plain: Any = None
        for stack in self.stacks:
            unequal = differing(here / "native", here / stack.name)
            if not unequal:
                continue
            if stack.exact:
                raise DifferenceError(f"{stack.name}: files differ: {unequal}")
            if plain is None:
                plain = self.dump("native", here / "native")
            if stack.later:
                self.look_through_logs(stack, here, plain)
            if stack.pieces:
                self.look_through_pieces(stack, here, plain)
            self.read_crosswise(stack, here, plain)
            if stack.contained:
                self.look_at_copies(stack, here, plain)

    def read_crosswise(self, stack: Stack, here: Path, plain: Any) -> None:
        """What each has written, by the other and by the stack itself."""
        crosswise = [(stack.name, stack.name), ("native", stack.name)]
        if not stack.contained:
            crosswise.append((stack.name, "native"))
        for writer, reader in crosswise:
            dumped = self.dump(reader, here / writer)
            if where := compared(plain, dumped, stack):
                raise DifferenceError(f"{writer}, read by {reader}: {where}")

    def look_at_copies(self, stack: Stack, here: Path, plain: Any) -> None:
        """Copies the native files into containers, and these into files again."""
        source = here / "native"
        for name, reader in ("kept", stack.name), ("back", "native"):
            target = here / f"{stack.name}-{name}"
            words = {"copy": str(source), "to": str(target), "plain": name == "back"}
            self.workers[stack.name].ask(words, LIMIT)
            source = target
            dumped = self.dump(reader, source)
            if where := compared({one: plain[one] for one in dumped}, dumped, stack):
                raise DifferenceError(f"{stack.name}, {name}: {where}")
        self.copied += len(dumped)

    def look_through_logs(self, stack: Stack, here: Path, plain: Any) -> None:
        """Reads what is not in its place yet, and has it put there."""
        dumped = self.dump(stack.name, here / stack.name)
        if where := compared(plain, dumped, stack, data_only):
            raise DifferenceError(f"{stack.name}, with its log: {where}")
        self.workers[stack.name].ask({"settle": str(here / stack.name)}, LIMIT)

    def look_through_pieces(self, stack: Stack, here: Path, plain: Any) -> None:
        """Reads them, and makes one file of each set."""
        dumped = self.dump(stack.name, here / stack.name)
        if where := compared(plain, dumped, stack):
            raise DifferenceError(f"{stack.name}, in pieces: {where}")
        for config in sorted((here / stack.name).glob("*.subfile_*.config")):
            stub = config.with_name(config.name.partition(".subfile_")[0])
            found = find(stub)
            fuse(found, stub, lambda _: None, verify=False)
            remove_pieces(found)

    def dump(self, reader: str, folder: Path) -> Any:
        return self.workers[reader].ask({"dump": str(folder)}, LIMIT)["dump"]


def is_other_chunk(statement: str, natively: dict[str, Any], *, direct: bool) -> bool:
    """Whether HDF5 itself may store another chunk, or none, for what a program has written.

    What a program wrote directly behind the extent HDF5 keeps as long as its cache has the chunk;
    chunks that this cache alone has are none; and 2.0 may keep the mask of what it overwrites.
    """
    is_one = statement.startswith("show_chunk(")
    return is_one and (direct or "error" in natively or statement.endswith("'?')"))


def in_containers(text: list[str]) -> list[str]:
    """What is left of a program to compare."""
    # HDF5 empties references in attributes that it copies, within a file, too.
    copies = any(".copy(" in line for line in text)
    # Which filters were left out of a chunk depends on who encodes it.
    changes = (
        (LOCKS, ""),
        (ALLOCATED, "ALLOC_TIME_INCR"),
        # Copies of groups have what HDF5 has written of open datasets.
        (re.compile(r"^(f\d+\.copy\('g')"), rf"{FLUSH_ALL}; \1"),
        (re.compile(r"c\.filter_mask"), "0"),
        # HDF5 loses digits anew when its cache has no room, and leaves memory as it was.
        (re.compile("scaleoffset=3"), "compression=3"),
        (re.compile("FILL_TIME_NEVER"), "FILL_TIME_ALLOC"),
        (re.compile(r"show_chunk_info\((.*)\)$"), r"show(\1.byte_offset is not None)"),
    )
    made = [line for line in text if not NOT_IN_CONTAINERS.search(line)]
    for found, instead in changes:
        made = [found.sub(instead, line) for line in made]
    made = [line for line in made if not (copies and ".attrs['r'] = " in line)]
    return [line for line in made if not is_of_two_files(line, made)]


def is_of_two_files(line: str, text: list[str]) -> bool:
    """H5Dread_multi and H5Dwrite_multi, which HDF5 itself has not for datasets of several files."""
    if not line.startswith("together("):
        return False
    which = {found[1]: found[2] for found in map(OPENED.match, text) if found}
    files = {found[1]: found[2] for found in map(OF_FILE.match, text) if found}
    used = {which.get(files.get(name, "")) for name in re.findall(r"\bd\d+", line)}
    return len(used) > 1


def compared(
    plain: dict[str, Any],
    dumped: dict[str, Any],
    stack: Stack,
    shown: Callable[[Any], Any] = lambda all_of_it: all_of_it,
) -> str:
    """Without copies that a program made of files with logs, and what HDF5 itself has damaged."""
    names = [
        name
        for name in [*plain, *dumped]
        if not (stack.later and name.startswith("snapshot"))
        and not (stack.pieces and ".subfile_" in name)
        and not (name.endswith("-m.h5") and is_damaged(plain.get(name)))
    ]
    one, other = ({n: dump[n] for n in names if n in dump} for dump in (plain, dumped))
    if stack.contained:
        one, other = (without_masks(dump) for dump in (one, other))
    if stack.relaid:
        one, other = (without_storage(dump) for dump in (one, other))
    return difference(shown(one), shown(other), "")


def is_damaged(file: Any) -> bool:
    """HDF5 that ends with a file open by the split driver may leave out what it holds."""
    return isinstance(file, dict) and any("fails" in str(one)[:5] for one in file.values())


def without_storage(dumped: Any) -> Any:
    if not isinstance(dumped, dict):
        return dumped
    return {name: without_storage(what) for name, what in dumped.items() if name != "storage"}


def without_masks(dumped: Any) -> Any:
    """HDF5 leaves filters out of chunks that are nothing but fill values; others do not."""
    if not isinstance(dumped, dict):
        return dumped
    return {name: without_masks(what) for name, what in dumped.items() if name != "masks"}


def data_only(dumped: Any) -> Any:
    """What a reader is to find before all is in its place; nothing in virtual datasets."""
    if not isinstance(dumped, dict):
        return dumped
    hidden = {"storage", MARKER, *(["data"] if dumped.get("virtual") else [])}
    return {name: data_only(value) for name, value in dumped.items() if name not in hidden}


def seen(result: dict[str, Any], stack: Stack) -> dict[str, Any]:
    """Without what may differ: layouts, messages of errors, and the marker of a log."""
    shown = [what if stack.exact or kind == "same" else kind for kind, what in result["shown"]]
    if stack.later:
        shown = [data_only(what) for what in shown]
        if shown and isinstance(shown[0], list) and MARKER in shown[0]:  # and their number
            shown = [[name for name in shown[0] if name != MARKER], shown[1] - 1]
    return {"shown": shown, "error": result.get("error")}


def differing(one: Path, other: Path) -> list[str]:
    left = {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()}
    right = {path.name: path.read_bytes() for path in other.iterdir() if path.is_file()}
    made = []
    for name in sorted(left.keys() | right.keys()):
        mine, theirs = left.get(name), right.get(name)
        if mine is None or theirs is None:
            made.append(f"{name} is missing {'natively' if mine is None else ''}")
        elif mine != theirs:
            first = next(
                (i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), -1
            )
            made.append(f"{name}: {len(mine)} and {len(theirs)} bytes, first at {first}")
    return made


def difference(one: Any, other: Any, where: str) -> str:
    """The first place in which two dumps differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            if found := difference(one.get(key), other.get(key), f"{where}[{key!r}]"):
                return found
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            if found := difference(a, b, f"{where}[{number}]"):
                return found
    elif one != other:
        return f"{where}: {one} natively, {other}"
    return ""
