"""What searches have found, by the signature of the program: kept for the next one, in SQLite."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.tune.space import NATIVE, Candidate, Setting

if TYPE_CHECKING:
    from headrace.trace.analysis.signature import Signature

_NEAR: Final = 0.1  # of signatures' distance: beyond it another program's settings say little
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS runs (
  date TEXT DEFAULT CURRENT_TIMESTAMP, program TEXT, file_system TEXT,
  signature TEXT NOT NULL, settings TEXT NOT NULL
)
"""


def database() -> Path:
    """In the user's data folder (XDG Base Directory Specification)."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(data) / "headrace" / "tuned.sqlite"


def keep(signature: Signature, candidate: Candidate, program: str, file_system: str) -> None:
    """Raises FileError."""
    settings = json.dumps([[each.layer, each.option, each.value] for each in sorted(candidate)])
    try:
        database().parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(database(), timeout=5)) as opened, opened:
            opened.execute(_TABLE)
            opened.execute(
                "INSERT INTO runs (program, file_system, signature, settings) VALUES (?, ?, ?, ?)",
                (program, file_system, json.dumps(signature), settings),
            )
    except (OSError, sqlite3.Error) as error:
        raise FileError(f"{database()}: {error}") from None


def nearest(signature: Signature, file_system: str) -> Candidate:
    """What was best for the program that is most like this one; NATIVE where none is like it.

    The same file system comes first, then the newer of two alike. Raises FileError where the
    database cannot be read.
    """
    from headrace.trace.analysis.signature import distance  # noqa: PLC0415, needs what a base has not

    if not database().exists():
        return NATIVE
    try:
        with closing(sqlite3.connect(database(), timeout=5)) as opened:
            opened.execute(_TABLE)
            rows = opened.execute(
                "SELECT signature, settings, file_system != ? FROM runs ORDER BY date DESC",
                (file_system,),
            ).fetchall()
        found = [
            (elsewhere, distance(json.loads(own), signature), number, settings)
            for number, (own, settings, elsewhere) in enumerate(rows)
        ]
        near = [each for each in found if each[1] <= _NEAR]
        if not near:
            return NATIVE
        return frozenset(Setting(*map(str, each)) for each in json.loads(min(near)[3]))
    except (OSError, sqlite3.Error, ValueError, TypeError, KeyError) as error:
        raise FileError(f"{database()}: {error}") from None
