"""Processes that decode chunks before a program needs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from headrace.errors import FileError
from headrace.plan import connector_variable, inherited_environment, prepare

_CHILD = "headrace.cache.fill_child"
_LAYER = "headrace_cache"


def begin(  # noqa: PLR0913, each says another thing of them
    file: str | Path,
    names: Sequence[str],
    processes: int,
    environ: Mapping[str, str],
    *,
    rows: IO[bytes] | None = None,
    tells: bool = False,
) -> list[subprocess.Popen[bytes]]:
    """Processes that look at the chunks of datasets, each at some; see fill_child.

    `rows` is a file of 64-bit numbers; with `tells` they say how many it were, and what went wrong.
    """
    return [
        subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                _CHILD,
                str(os.getpid()),
                str(file),
                str(part),
                str(processes),
                *names,
            ],
            env=environ,
            stdin=rows or subprocess.DEVNULL,
            stdout=subprocess.PIPE if tells else subprocess.DEVNULL,
            stderr=subprocess.PIPE if tells else subprocess.DEVNULL,
        )
        for part in range(processes)
    ]


def fill(file: Path, names: Sequence[str] | None, stack: str, processes: int) -> int:
    """Waits until the chunks of datasets are in a cache, or (none) those of all datasets of a file.

    Args:
        file: An HDF5 file.
        names: Of datasets.
        stack: That programs will be run under which read them.
        processes: That decode; 0 is one for each core.

    Returns:
        How many chunks were looked at: those that cannot be cached, too.

    Raises:
        FileError: The file cannot be read, or has no such dataset.
    """
    environ = prepare(stack, None, inherited_environment()).apply(os.environ)
    if _LAYER not in environ.get(connector_variable, ""):
        raise FileError(f"{file}: the stack {stack} has no layer `cache`")
    count = processes or len(os.sched_getaffinity(0))
    looked_at = 0
    for child in begin(file, names or (), count, environ, tells=True):
        told, errors = child.communicate()
        if child.returncode != 0:
            lines = errors.decode(errors="replace").strip().splitlines()
            raise FileError(f"{file}: {lines[-1] if lines else f'status {child.returncode}'}")
        looked_at += int(told)
    return looked_at
