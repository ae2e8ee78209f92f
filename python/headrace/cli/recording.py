"""The folder that a command records a trace in, by one process or by each of several ranks."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace import launcher
from headrace.cli import room
from headrace.doctor.programs import obstacle_in_python, past_launchers
from headrace.errors import FileError
from headrace.statistics import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SUFFIX: Final = ".hrtrace"
_OUTPUT: Final = "HEADRACE_TRACE_OUTPUT"
_SUMMARY: Final = "HEADRACE_SUMMARY"
_KEY: Final = "names.key"  # of the hashes in place of names
_ENDED: Final = "ended."  # of the other ranks, each with its number
_TRACE: Final = ".trace"
_OLD: Final = ".old"
_RECENT: Final = 10 * 10**9  # nanoseconds: ranks start within it
_PATIENCE: Final = 5.0  # seconds that the first rank waits for the others, which end about then


def named_after(command: Sequence[str], environ: Mapping[str, str] = os.environ) -> Path:
    """The folder that the trace of a program gets where no other is named."""
    scripts = [word for word in command[1:] if word.endswith(".py") and not word.startswith("-")]
    words = past_launchers(command, environ) or list(command)
    if Path(words[0]).name.startswith("python") and "-m" in words[:-1]:
        scripts = scripts or [f"{words[words.index('-m') + 1]}.py"]
    return Path(Path((scripts or words)[0]).stem + SUFFIX)


class Recording:
    """Begins with a folder that can be written; an earlier trace in it is put aside for now.

    Of several ranks the first does all that is done once.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        """Raises FileError where the folder holds something else, or cannot be written."""
        self.folder = folder
        self._rank, self._ranks = launcher.rank(environ), launcher.ranks(environ)
        self._aside: list[Path] = []
        self._recent: dict[Path, int] = {}  # when they changed: another rank's, perhaps
        try:
            self._made = [each for each in (folder, *folder.parents) if not each.exists()]
            if self.tells:
                self._put_aside()
            folder.mkdir(parents=True, exist_ok=True)
            _write_in(folder)
        except OSError as error:
            raise FileError(
                f"{folder}: no trace can be written there: {error.strerror}; choose another "
                "folder: --output FOLDER"
            ) from None
        self._lines: list[dict[str, Any]] = []
        self._room = room.make()

    def environ(self, given: Mapping[str, str]) -> dict[str, str]:
        """The program's, which tells here what became of its files."""
        return {**given, _OUTPUT: str(self.folder), _SUMMARY: str(self._room / "summary")}

    @property
    def tells(self) -> bool:
        """Whether it is this process of several ranks that tells of the trace."""
        return self._rank == 0

    def end(self) -> bool:
        """Whether something was recorded; only then an earlier trace goes, else what was made."""
        if not self.tells:
            room.remove(self._room)
            with contextlib.suppress(OSError):
                (self.folder / f"{_ENDED}{self._rank}").touch()
            return True
        self._wait()
        self._lines = list(events(self._room / "summary"))
        room.remove(self._room)
        _remove([self.folder / _KEY, *self.folder.glob(f"{_ENDED}*")])
        before = [each for each, changed in self._recent.items() if _changed(each) == changed]
        if set(self.folder.glob(f"*{_TRACE}")) - set(before):
            _remove([*self._aside, *before])
            return True
        for each in self._aside:
            each.rename(each.with_suffix(""))
        for each in self._made:
            with contextlib.suppress(OSError):
                each.rmdir()
        return False

    def notes(self, command: Sequence[str], environ: Mapping[str, str], *, nothing: bool) -> str:
        """What became of files that are not in the trace; and why `nothing` is in it."""
        told = _told(self._lines)
        if nothing:
            told = told or [self._why_nothing(command, environ)]
            told[0] = f"nothing was recorded: {told[0]}"
            if self._aside or self._recent:
                told.append(f"{self.folder} is still the trace of an earlier run")
        return "; ".join(told)

    def _put_aside(self) -> None:
        found = list(self.folder.iterdir()) if self.folder.is_dir() else []
        if others := [each for each in found if not _is_ours(each)]:
            raise FileError(
                f"{self.folder}: holds {others[0].name}, which is no trace; choose --output"
            )
        just_now = time.time_ns() - _RECENT if self._ranks > 1 else time.time_ns()
        for each in found:
            if (changed := _changed(each)) > just_now and self._ranks > 1:
                self._recent |= {each: changed} if each.suffix == _TRACE else {}
            elif each.suffix == _TRACE:
                self._aside.append(each.rename(each.with_suffix(_TRACE + _OLD)))
            else:
                each.unlink()

    def _why_nothing(self, command: Sequence[str], environ: Mapping[str, str]) -> str:
        if any(each.get("through") for each in self._lines):
            return (
                "the program's files went through another stack, which something in it has set, "
                "such as a `headrace run` of its own: name the layer there, `--stack trace`"
            )
        why = None if self._lines else obstacle_in_python(command, environ)
        return why or (
            "the program has opened no HDF5 file; `headrace doctor -- COMMAND` says which HDF5 it "
            "has loaded"
        )

    def _wait(self) -> None:
        end = time.monotonic() + _PATIENCE
        while self._ranks > 1 and time.monotonic() < end:
            if len(list(self.folder.glob(f"{_ENDED}*"))) >= self._ranks - 1:
                break
            time.sleep(0.02)


def _told(lines: list[dict[str, Any]]) -> list[str]:
    if not lines:
        return []
    from headrace.doctor.summary import sentences  # noqa: PLC0415, few need it

    return list(sentences(lines))


def _write_in(folder: Path) -> None:
    """Raises OSError where no file can be made."""
    probe = folder / f".headrace-{os.getpid()}"
    probe.touch()
    probe.unlink()


def _is_ours(file: Path) -> bool:
    if file.name == _KEY or file.name.startswith(_ENDED) or file.name.endswith(_TRACE + _OLD):
        return True
    with file.open("rb") as opened:
        return file.suffix == _TRACE and opened.read(4) in {b"HRTS", b""}


def _changed(file: Path) -> int:
    with contextlib.suppress(OSError):
        return file.stat().st_mtime_ns
    return 0


def _remove(files: Sequence[Path]) -> None:
    for each in files:
        each.unlink(missing_ok=True)
