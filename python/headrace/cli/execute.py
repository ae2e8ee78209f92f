"""Turning this process into another program without leaving a trace in it."""

import contextlib
import errno
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NoReturn

not_found_status = 127
not_executable_status = 126
_INTERPRETERS: Final = {".py": "python", ".sh": "sh", ".jl": "julia", ".R": "Rscript"}


class CannotExecuteError(Exception):
    """The program could not be started; `status` is what a shell would return."""

    def __init__(self, message: str, status: int) -> None:
        """Keeps both."""
        super().__init__(message)
        self.status = status


def execute(command: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Replaces this process by the program; raises CannotExecuteError when that fails."""
    default_ignored_signals()
    try:
        os.execvpe(command[0], list(command), environ)
    except OSError as error:
        if error.errno == errno.ENOEXEC and interpreter_of(command[0]) in {None, "sh"}:
            execute_script(command, environ)
        raise explain(command[0], error, environ) from None


def execute_script(command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Runs a script that lacks its "#!" line as execvp(3) and every shell do. May return."""
    import shutil  # noqa: PLC0415, few need it

    file = shutil.which(command[0], path=environ.get("PATH"))
    if file is not None:
        with contextlib.suppress(OSError):
            os.execve("/bin/sh", ["/bin/sh", file, *command[1:]], environ)


def default_ignored_signals() -> None:
    """Undoes what the interpreter did at its start: exec keeps ignored signals ignored."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def interpreter_of(program: str) -> str | None:
    """What runs a script, by the end of its name."""
    return _INTERPRETERS.get(Path(program).suffix)


def explain(program: str, error: OSError, environ: Mapping[str, str]) -> CannotExecuteError:
    """What a failed start means to the user."""
    text, status = _explained(program, error, environ)
    interpreter = interpreter_of(program)
    if interpreter is not None and Path(program).is_file():
        text += f"; to run it, put its interpreter in front: {interpreter} {program}"
    return CannotExecuteError(text, status)


def _explained(program: str, error: OSError, environ: Mapping[str, str]) -> tuple[str, int]:
    import shutil  # noqa: PLC0415, few need it

    if isinstance(error, FileNotFoundError | NotADirectoryError):
        file = shutil.which(program, path=environ.get("PATH"))
        if file is not None:
            reason = f"{file}: the interpreter in its first line does not exist"
            return reason, not_executable_status
        return f"{program}: command not found", not_found_status
    if Path(program).is_dir():
        return f"{program} is a directory", not_executable_status
    return f"{program}: {error.strerror}", not_executable_status
