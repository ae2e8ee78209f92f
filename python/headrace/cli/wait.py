"""Staying behind as the parent of the program that this process was to become."""

import contextlib
import ctypes
import os
import signal
from types import FrameType
from typing import Final

# What others send to this process and mean the program. From a terminal it gets them itself.
_PASSED_ON: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_FROM_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4


def fork() -> int:
    """As os.fork(); the child, which is to become the program, ends with this process.

    What is sent to this process from then on waits for wait_for().
    """
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
    return child


def let_go() -> None:
    """Closes all files that are the program's by now, but standard error."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.closerange(3, max(int(name) for name in os.listdir("/proc/self/fd")) + 1)  # noqa: PTH208


def wait_for(child: int) -> int:
    """Waits for a child's end, passing signals on; its status, negative for a signal."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        os.kill(child, number)

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    for number in _FROM_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def end_like(status: int) -> int:
    """The exit status for this process; ends it by the signal that ended the child, if any."""
    if status < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler to reset
            signal.signal(-status, signal.SIG_DFL)
        _prctl(_PR_SET_DUMPABLE, 0)  # one core, the program's
        os.kill(os.getpid(), -status)
    return abs(status) + 128 if status < 0 else status


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
