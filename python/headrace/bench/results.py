"""The folder of a run: run.json, samples.jsonl, ledgers.jsonl; it can be continued."""

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.bench import records
from headrace.bench.atomic import (
    ResultsError,
    append_line,
    drop_torn_line,
    read_lines,
    write_text,
)
from headrace.bench.jobs import Key, key_of
from headrace.bench.options import Options

_RUN: Final = "run.json"
_SAMPLES: Final = "samples.jsonl"
_LEDGERS: Final = "ledgers.jsonl"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Results:
    """What lies in the folder. Of a record that was made again the last one counts."""

    folder: Path

    @classmethod
    def create(cls, folder: Path, about: dict[str, Any]) -> "Results":
        """A new folder, or an empty one; ResultsError as of check_vacant()."""
        cls.check_vacant(folder)
        results = cls(folder)
        results.rewrite_about(about)
        return results

    @staticmethod
    def check_vacant(folder: Path) -> None:
        """ResultsError when something is there that results would be mixed with."""
        try:
            names = {each.name for each in folder.iterdir()}
        except FileNotFoundError:
            return
        except OSError as error:
            raise ResultsError(f"{folder} cannot be used: {error.strerror}") from None
        if _RUN in names:
            raise ResultsError(
                f"{folder} holds the results of a run; continue it with --resume, or give another "
                "folder to --out"
            )
        if names:
            raise ResultsError(
                f"{folder} is not empty: it holds {min(names)}; give a new folder to --out"
            )

    def discard(self) -> None:
        """Removes what create() has made."""
        (self.folder / _RUN).unlink()
        with contextlib.suppress(OSError):  # it was there before, with something new in it
            self.folder.rmdir()

    @classmethod
    def resume(cls, folder: Path, options: Options) -> "Results":
        """An existing folder; ResultsError when it was made with other options."""
        results = cls.open(folder)
        earlier = results.about()
        if earlier.get("fingerprint") != options.fingerprint():
            old, new = earlier.get("options", {}), options.public()
            differing = [
                f"{name} was {old.get(name)}, is {new[name]}"
                for name in new
                if old.get(name) != new[name] and name not in ("repeats", "data")
            ]
            detail = "; ".join(differing) or "a file or folder that it names has changed"
            raise ResultsError(f"{folder} cannot be resumed with other options: {detail}")
        for name in (_SAMPLES, _LEDGERS):
            drop_torn_line(folder / name)
        return results

    @classmethod
    def open(cls, folder: Path) -> "Results":
        """An existing folder, to read."""
        if not (folder / _RUN).is_file():
            raise ResultsError(f"{folder} holds no results: it has no {_RUN}")
        return cls(folder)

    def about(self) -> dict[str, Any]:
        """Options, machine and programs of the run."""
        try:
            about = json.loads((self.folder / _RUN).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ResultsError(f"{self.folder / _RUN} cannot be read: {error}") from None
        if not isinstance(about, dict) or about.get("format") != _FORMAT:
            raise ResultsError(f"{self.folder / _RUN} is of another version of headrace")
        for name, kind in (("options", dict), ("machine", dict), ("problems", list)):
            if not isinstance(about.get(name, kind()), kind):
                raise ResultsError(f"{self.folder / _RUN}: {name} is not as a run leaves it")
        _check(self.folder / _RUN, "problem", about.get("problems", []))
        return about

    def rewrite_about(self, about: dict[str, Any]) -> None:
        """Replaces it."""
        text = json.dumps({"format": _FORMAT} | about, indent=2)
        write_text(self.folder / _RUN, text + "\n")

    def add_sample(self, record: dict[str, Any]) -> None:
        """Appends it; it is on disk when this returns."""
        append_line(self.folder / _SAMPLES, record)

    def add_ledger(self, record: dict[str, Any]) -> None:
        """Appends it; it is on disk when this returns."""
        append_line(self.folder / _LEDGERS, record)

    def samples(self) -> list[dict[str, Any]]:
        """The last sample of each job, failed ones included, in the order of the jobs' begin."""
        return self._records(_SAMPLES)

    def ledgers(self) -> list[dict[str, Any]]:
        """The last ledger of each case and stack."""
        return self._records(_LEDGERS)

    def _records(self, name: str) -> list[dict[str, Any]]:
        found = read_lines(self.folder / name)
        _check(self.folder / name, "line", found)
        return list(_last(found).values())

    def done(self) -> set[Key]:
        """The jobs that need not be run again."""
        return {key_of(record) for record in self.samples() if _is_good(record)}

    def done_ledgers(self) -> set[Key]:
        """The same of the ledger pass."""
        return {key_of(record) for record in self.ledgers() if _is_good(record)}


def _check(file: Path, what: str, found: Iterable[object]) -> None:
    for number, record in enumerate(found, 1):
        wrong = records.fault(record) if isinstance(record, Mapping) else "it is not a record"
        if wrong:
            raise ResultsError(f"{file}, {what} {number}: not of headrace bench: {wrong}")


def _last(found: list[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    return {key_of(record): record for record in found}


def _is_good(record: dict[str, Any]) -> bool:
    return "error" not in record and "missing" not in record
