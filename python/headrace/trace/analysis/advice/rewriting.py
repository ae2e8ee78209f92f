"""Commands that write a file anew, for advice about how it is laid out."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from headrace.trace.analysis.advice.advice import OTHER_FILE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headrace.trace.analysis.advice.data import Data

_NETCDF: Final = (".nc", ".nc4")


@dataclass(frozen=True)
class Command:
    """One that makes a new file of the one that is there; `options` are about one dataset."""

    text: str
    options: tuple[str, ...] = ()

    @property
    def risk(self) -> str:
        """Of a change to the program that makes such files."""
        return f"{OTHER_FILE}: {self.text}"


def h5repack(options: str, file: str) -> Command:
    """By HDF5's own program."""
    return Command(f"h5repack {options} {_files(file)}", (options,))


def filtered(data: Data, *filters: str) -> Command:
    """With these filters, of which the first comes first."""
    return h5repack(shlex.join(w for each in filters for w in ("-f", f"{data.path}:{each}")),
                    data.file)  # fmt: skip


def rechunked(data: Data, chunk: Sequence[int]) -> Command:
    """With chunks of that shape; of netCDF's files by netCDF's program, too."""
    found = h5repack(
        shlex.join(["-l", f"{data.path}:CHUNK={'x'.join(map(str, chunk))}"]), data.file
    )
    if PurePath(data.file).suffix not in _NETCDF:
        return found
    other = shlex.join(["-c", f"{data.path.lstrip('/')}:{','.join(map(str, chunk))}"])
    text = f"{found.text} (or nccopy {other} {_files(data.file)})"
    return Command(text, (*found.options, other))


def _files(file: str) -> str:
    """The one that is there, and one beside it."""
    path = PurePath(file)
    return shlex.join([file, str(path.with_name(f"new-{path.name}")) if path.name else "new"])
