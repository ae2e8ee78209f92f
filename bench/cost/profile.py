"""Reads what callgrind dumps: instructions by function, and with all that a function calls."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bench.cost.stacks import ROOT

HDF5, HEADRACE, SYSTEM = "HDF5", "Headrace", "system"
_LONGEST = 90
# Left out: HDF5 clears tables whenever it opens a file, half of all that it then does.
_CLEARING = "__memset"


@dataclass
class Profile:
    """Instructions in one dump.

    `of` has those of each function by itself, `parts` the same by whose code it is, and `within`
    those of Headrace's functions with all that they call.
    """

    name: str = ""
    creator: str = ""
    of: Counter[str] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    parts: Counter[str] = field(default_factory=Counter)


def read(file: Path) -> Profile:
    """The name of a dump is that of the request for it."""
    found = Profile()
    names: dict[str, dict[str, str]] = {"ob": {}, "fn": {}}
    part, function, of_call = SYSTEM, "", False
    for line in file.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key in ("ob", "cob"):
            library = _named(value, names["ob"])
            part = _part(library) if key == "ob" else part
        elif key in ("fn", "cfn"):
            called = _named(value, names["fn"])
            function = short(called) if key == "fn" else function
        elif key == "calls":
            of_call = True
        elif line.startswith("creator: "):
            found.creator = line.removeprefix("creator: ")
        elif line.startswith("desc: Trigger: Client Request: "):
            found.name = line.rpartition(": ")[2]
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            count = int(line.split()[1])
            if part == HEADRACE:
                found.within[function] += count
            if not of_call and not function.startswith(_CLEARING):
                found.of[function] += count
                found.parts[part] += count
            of_call = False
    return found


def _named(text: str, known: dict[str, str]) -> str:
    """Callgrind writes a name once, and its number from then on."""
    number, _, name = text.partition(" ")
    return known.setdefault(number, name)


def _part(library: str) -> str:
    name = Path(library).name
    if name.startswith("libhdf5"):
        return HDF5
    return HEADRACE if name.startswith("libheadrace") else SYSTEM


@cache
def short(name: str) -> str:
    """As people would call it: callbacks by their names, without arguments and namespaces."""
    name = re.sub(r"'\d+$", "", name)  # of a call within a call of it
    name = re.sub(r"\(headrace::(vol|vfd)::Callback\)(\d+)", _callback, name)
    name = name.replace("(anonymous namespace)::", "").replace("headrace::", "")
    if edge := re.match(r"Edge<\w+::Traits<([\w:]+)[^&]*?, (\w+), &", name):
        return f"{edge[1].removesuffix('::Connector')}: {edge[2]}"
    if name.startswith("0x"):
        return "(has no name)"
    outer, within, _ = name.partition("::{lambda")
    name = _without_types(_without_arguments(outer)) + (" (lambda)" if within else "")
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _without_types(name: str) -> str:
    """Without what it returns, and without template arguments but the first."""
    before, opened, _ = name.partition("<")
    if not opened or "operator" in name:
        return name
    depth, comma, kept = 0, 0, ""  # `comma`: how deep the first one is, of what is left out
    for char in name[len(before) :]:
        depth -= char == ">"
        if depth < comma:
            comma = 0
        elif char == "," and depth > 0 and not comma:
            comma = depth
        kept += "" if comma else char
        depth += char == "<"
    return before.rpartition(" ")[2] + kept


def _without_arguments(name: str) -> str:
    if not name.endswith((")", ") const")):
        return name
    depth = 0
    for at in range(name.rindex(")"), -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name[:at]
    return name


def _callback(found: re.Match[str]) -> str:
    return _callbacks(found[1])[int(found[2])]


@cache
def _callbacks(seat: str) -> list[str]:
    """In the order of their numbers."""
    text = (ROOT / f"src/{seat}/callbacks.def").read_text(encoding="utf-8")
    return re.findall(r"^HEADRACE_\w+\((\w+),", text, re.MULTILINE)
