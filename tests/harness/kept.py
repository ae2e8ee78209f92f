"""What native runs ended with, kept on disk: no change of Headrace changes that.

What they depend on is the key: programs, libraries and tests by their content, who runs them and
how the harness reads them. Other checkouts of this machine find them, too.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
_FOLDER = _CACHE / "headrace/native"


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _files(path: Path) -> list[Path]:
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [one for one in found if one.is_file() and one.suffix != ".pyc"]


def kept(name: str, depends: Iterable[str | Path], make: Callable[[], Any]) -> Any:
    """JSON of an earlier run or of `make`, which one process at a time runs."""
    whole = hashlib.sha256()
    always: list[str | Path] = [str(os.geteuid()), Path(__file__).parent]
    for one in [*always, *depends]:
        parts = map(_digest, _files(one)) if isinstance(one, Path) else [one]
        whole.update("\0".join(parts).encode() + b"\n")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    file = _FOLDER / f"{name}-{whole.hexdigest()[:32]}.json"
    with (_FOLDER / f"{file.stem}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            made = file.with_suffix(".new")
            made.write_text(json.dumps(make()))
            made.rename(file)
        return json.loads(file.read_text())
