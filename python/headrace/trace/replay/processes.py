"""The processes of a replay: one, or one for each that the program had."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headrace.errors import FileError
from headrace.measuring.programs import hdf5, launcher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headrace.trace.replay.choices import Choices

_CHILD: Final = "headrace.trace.replay.child"
_GRACE: Final = 10.0  # seconds that a launcher gets to end its ranks


def run(words: Sequence[str], environ: Mapping[str, str], limit: float) -> Any:
    """What a module of Python prints last, as JSON; raises FileError."""
    (done,) = _run([[sys.executable, "-m", *words]], environ, limit)
    return json.loads(done.splitlines()[-1])


def play(
    what: Mapping[str, Any], sources: Sequence[Path], environ: Mapping[str, str], choices: Choices
) -> tuple[list[int], Counter[str]]:
    """Replays what the files of a trace have; raises FileError.

    Where ranks have opened files together (`what["together"]`) an MPI launcher starts them, else
    all begin at once. The numbers of the processes, by rank, and what was left out.
    """
    ranks = choices.ranks or len(sources)
    if ranks > len(sources):
        raise FileError(f"{len(sources)} processes were recorded, and {ranks} cannot replay them")
    shared = [[str(each) for each in sources[rank::ranks]] for rank in range(ranks)]
    child = [sys.executable, "-m", _CHILD]
    if what["together"]:
        start = launcher(choices.mpiexec, hdf5(Path(what["library"]), parallel=True))
        commands = [[*start, "-n", str(ranks), *child, json.dumps({**what, "sources": shared})]]
    else:
        commands = [[*child, json.dumps({**what, "sources": [each]})] for each in shared]
    # Lines of ranks may come in one.
    said = "\n".join(_run(commands, environ, choices.seconds)).replace("}{", "}\n{")
    told = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    told.sort(key=lambda each: int(each["rank"]))
    if len(told) != ranks:
        raise FileError(f"only {len(told)} of {ranks} processes of a replay have ended well")
    left_out = sum((Counter[str](each["left_out"]) for each in told), Counter[str]())
    return [int(each["pid"]) for each in told], left_out


def _run(commands: Sequence[Sequence[str]], environ: Mapping[str, str], limit: float) -> list[str]:
    """What each prints; all run at the same time. FileError where one fails, or lasts too long."""
    if limit <= 0:
        raise FileError("there is no time left for a replay")
    end = time.monotonic() + limit
    started = [
        subprocess.Popen(
            each, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for each in commands
    ]  # fmt: skip
    try:
        said = [each.communicate(timeout=max(end - time.monotonic(), 0.1)) for each in started]
    except subprocess.TimeoutExpired:
        raise FileError(f"a replay has not ended within {limit:.0f} s") from None
    finally:
        for each in started:
            _end(each)
    for process, (_, errors) in zip(started, said, strict=True):
        if process.returncode != 0:
            raise FileError(f"a replay has failed: {_reason(errors, process.returncode)}")
    return [output for output, _ in said]


def _end(process: subprocess.Popen[str]) -> None:
    """A launcher that is asked to end takes its ranks along; one that is killed leaves them."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.communicate(timeout=_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _reason(errors: str, status: int) -> str:
    """The last line, but for those that a launcher adds to a rank's."""
    lines = [line for line in errors.strip().splitlines() if line]
    ours = [line for line in lines if line.startswith("rank ")]
    return (ours or lines[-1:] or [f"status {status}"])[0]
