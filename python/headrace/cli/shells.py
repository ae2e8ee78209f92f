"""Statements that set variables, in the languages of shells."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from headrace.errors import HeadraceError, unknown


def statements(shell: str, assign: Mapping[str, str], remove: Iterable[str] = ()) -> str:
    """Lines that set and remove exported variables; raises HeadraceError for an unknown shell."""
    if shell not in _DIALECTS:
        raise HeadraceError(unknown("shell", shell, _DIALECTS))
    set_one, remove_one = _DIALECTS[shell]
    lines = [remove_one(name) for name in remove]
    lines += [set_one(name, text) for name, text in assign.items()]
    return "".join(f"{line};\n" for line in lines)


def _posix_set(name: str, text: str) -> str:
    return f"export {name}={shlex.quote(text)}"


def _posix_remove(name: str) -> str:
    return f"unset {name}"


def _fish_set(name: str, text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    # A variable whose name ends in PATH is a list to fish, split at colons and joined again.
    return f"set -gx {name} '{quoted}'"


def _fish_remove(name: str) -> str:
    return f"set -e {name}"


def _csh_set(name: str, text: str) -> str:
    # csh sees '!' and line ends even in single quotes. The result stands in backquotes, where it
    # is split at line ends, so these cannot be carried at all.
    if "\n" in text:
        raise HeadraceError(f"csh cannot take the line break in the value of {name}")
    quoted = text.replace("'", "'\\''").replace("!", "\\!")
    return f"setenv {name} '{quoted}'"


def _csh_remove(name: str) -> str:
    return f"unsetenv {name}"


_Dialect = tuple[Callable[[str, str], str], Callable[[str], str]]
_DIALECTS: Final[Mapping[str, _Dialect]] = {
    "bash": (_posix_set, _posix_remove),
    "zsh": (_posix_set, _posix_remove),
    "sh": (_posix_set, _posix_remove),
    "fish": (_fish_set, _fish_remove),
    "csh": (_csh_set, _csh_remove),
    "tcsh": (_csh_set, _csh_remove),
}
names: Final = tuple(_DIALECTS)
