"""Sets whose stub is gone: a program or a person has removed or replaced it past the layer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.stripe.configuration import Configuration, read_configuration
from headrace.stripe.locks import unwritten
from headrace.stripe.pieces import remove_subfile
from headrace.stripe.state import state_path
from headrace.stripe.stub import read_stub

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONFIG: Final = re.compile(r"(.+)\.subfile_(\d+)\.config")


@dataclass(frozen=True)
class Orphan:
    """`subfiles`: those that are there; `size`: of all of them, in bytes."""

    config: Path
    subfiles: tuple[Path, ...]
    size: int


def orphans(folder: Path) -> list[Orphan]:
    """Of the sets whose configurations are in a folder, without a stub there or where it was made.

    Raises FileError, also where that cannot be told.
    """
    try:
        there = sorted(folder.iterdir())
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror}") from None
    configs = {each: match for each in there if (match := _CONFIG.fullmatch(each.name))}
    pieces = tuple(f"{match[1]}.subfile_{match[2]}" for match in configs.values())
    files = [each for each in there if not each.name.startswith(pieces) and each.is_file()]
    found = []
    for config, match in configs.items():
        told = read_configuration(config)
        number = int(match[2])
        perhaps = [*files, Path(told.stub)]
        if not any(_is_stub(each, match[1], number, told.id) for each in perhaps):
            subfiles = tuple(_subfiles(config, told))
            size = sum(each.stat().st_size for each in subfiles)
            found.append(Orphan(config, subfiles, size))
    return found


def remove_orphans(found: Sequence[Orphan]) -> None:
    """The configuration last: who is interrupted finds the rest again. Raises FileError."""
    for each in found:
        with unwritten(each.config):
            for subfile in each.subfiles:
                remove_subfile(subfile)
            state_path(each.config).unlink(missing_ok=True)
            each.config.unlink(missing_ok=True)


def _is_stub(path: Path, name: str, number: int, id_: str) -> bool:
    """Of the set with that number and id, or perhaps: HDF5's stubs tell none, and may be copies."""
    try:
        stub = read_stub(path)
        perhaps = path.name == name or path.stat().st_ino == number
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileError(f"{path}: {error.strerror}") from None
    if stub.number is not None:
        return stub.number == number and stub.id in ("", id_)
    kinds = stub.kind in ("text", "empty"), stub.names_subfiling, stub.was_text
    return perhaps and any(kinds)


def _subfiles(config: Path, told: Configuration) -> Iterator[Path]:
    for name in told.names:
        for folder in (config.parent, Path(told.folder)):
            if (path := folder / name).is_file():
                yield path
                break
