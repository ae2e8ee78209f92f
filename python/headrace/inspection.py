"""Asks a separate process about shared objects, so that a broken one cannot take this one down."""

import functools
import json
import os
import select
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headrace import _inspect
from headrace.errors import PluginError

_SCRIPT = Path(__file__).with_name("_inspect.py")


class Answer(NamedTuple):
    """What was found, or why nothing was: exactly one of the two."""

    value: Any = None
    error: str | None = None


def inspect(
    requests: Sequence[tuple[str, Path]], environ: Mapping[str, str] | None = None
) -> list[Answer]:
    """One answer per (action, file). Actions: describe, plugin_type, hdf5."""
    arguments = tuple(f"{action}:{os.fspath(file)}" for action, file in requests)
    relevant = _relevant(os.environ if environ is None else environ)
    answers: list[Answer] = []
    while len(answers) < len(arguments):
        answered, crash = _ask(arguments[len(answers) :], relevant)
        answers.extend(answered)
        if crash is not None:
            answers.append(Answer(error=crash))
    return [_shortened(answer, file) for answer, (_, file) in zip(answers, requests, strict=True)]


def _shortened(answer: Answer, file: Path) -> Answer:
    """Without the file's name, with which dlerror() mostly begins: the caller names it anyway."""
    if answer.error is None:
        return answer
    return Answer(error=answer.error.removeprefix(f"{os.fspath(file)}: "))


def _relevant(environ: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The environment that loading depends on, without what HDF5 reads from it."""
    return tuple(sorted((k, v) for k, v in environ.items() if not k.startswith("HDF5_")))


# A launcher asks the same several times in a row; files do not change under it.
@functools.lru_cache(maxsize=64)
def _ask(
    arguments: tuple[str, ...], environ: tuple[tuple[str, str], ...]
) -> tuple[tuple[Answer, ...], str | None]:
    """The answers that came, and what became of the process when some did not."""
    status, printed, errors = (_forked if _may_fork(environ) else _started)(arguments, environ)
    lines = printed.decode("utf-8", "surrogateescape").splitlines()
    answers = tuple(Answer(**json.loads(line)) for line in lines)
    if len(answers) == len(arguments):
        return answers, None
    return answers, f"loading it {_end(status)}{_last_line(errors)}"


_Ended = tuple[int, bytes, bytes]  # status, standard output, standard error


def _may_fork(environ: tuple[tuple[str, str], ...]) -> bool:
    """Whether a copy of this process will do, which costs a twentieth of starting a Python.

    No other thread may hold a lock, and the loader must look in the same places.
    """
    loaders = {pair for pair in environ if pair[0].startswith("LD_")}
    own = {pair for pair in os.environ.items() if pair[0].startswith("LD_")}
    return loaders == own and len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208


def _forked(arguments: tuple[str, ...], _environ: tuple[tuple[str, str], ...]) -> _Ended:
    printed, errors = os.pipe(), os.pipe()  # files may be limited in their size
    child = os.fork()
    if child == 0:
        status = 1
        try:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for file, number in ((nothing, 0), (errors[1], 1), (errors[1], 2)):
                os.dup2(file, number)
            _inspect.answer(arguments, printed[1])
            status = 0
        finally:
            os._exit(status)
    os.close(printed[1])
    os.close(errors[1])
    texts = _read(printed[0], errors[0])
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended), texts[0], texts[1]


def _read(*files: int) -> list[bytes]:
    """All of each pipe, of which none fills while another is read; closes them."""
    texts = dict.fromkeys(files, b"")
    waiting = select.poll()
    for file in files:
        waiting.register(file, select.POLLIN)
    left = len(files)
    while left > 0:
        for file, _ in waiting.poll():
            more = os.read(file, 65536)
            texts[file] += more
            if not more:
                waiting.unregister(file)
                os.close(file)
                left -= 1
    return list(texts.values())


def _started(arguments: tuple[str, ...], environ: tuple[tuple[str, str], ...]) -> _Ended:
    import subprocess  # noqa: PLC0415, takes its time to import

    if not sys.executable:
        raise PluginError("this Python does not know its own executable, so no plug-in is checked")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_SCRIPT), *arguments],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _end(status: int) -> str:
    if status >= 0:
        return f"ended the process that tried, with status {status}"
    import signal  # noqa: PLC0415, few need it

    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"crashed the process that tried ({name})"


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""
