"""Functions of a libhdf5 in this process, called by ctypes."""

import ctypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from headrace.errors import HeadraceError

ID = ctypes.c_int64  # hid_t
FLAG = ctypes.c_int  # herr_t


class CallError(HeadraceError):
    """A function of HDF5 failed; the message has what its error stack says, causes last."""


class _Record(ctypes.Structure):
    """An entry of an error stack: H5E_error2_t."""

    _fields_ = (
        ("error_class", ID),
        ("major", ID),
        ("minor", ID),
        ("line", ctypes.c_uint),
        ("function", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
    )


_WALKER = ctypes.CFUNCTYPE(FLAG, ctypes.c_uint, ctypes.POINTER(_Record), ctypes.c_void_p)
_DEFAULT_STACK = 0
_WALK_DOWNWARD = 1


@dataclass(frozen=True, slots=True)
class _Checked:
    """An `errcheck` of ctypes that knows the function's name and its library."""

    name: str
    library: ctypes.CDLL

    def __call__(self, answer: int, _function: object, _arguments: object) -> int:
        if answer < 0:
            raise CallError(": ".join([f"{self.name} failed", *_causes(self.library)]))
        return answer


def library_of(module: ModuleType) -> ctypes.CDLL:
    """The libhdf5 that an extension module is linked with, of which a process may have several.

    dlsym() finds a symbol in what the object depends on, too.
    """
    mode = os.RTLD_NOLOAD | os.RTLD_LAZY | os.RTLD_LOCAL
    return ctypes.CDLL(str(module.__file__), mode)


def declare(library: ctypes.CDLL, functions: Mapping[str, tuple[Any, list[Any]]]) -> None:
    """Gives functions, by their names, the types of what they return and take.

    From then on those that answer with a negative number raise CallError.
    """
    for name, (result, taken) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, taken
        function.errcheck = _Checked(name, library)


def _causes(library: ctypes.CDLL) -> list[str]:
    """What the default error stack says, the outermost function first."""
    found: list[str] = []

    def note(_index: int, record: Any, _data: object) -> int:
        text = record.contents.description
        found.append(text.decode(errors="replace") if text else "")
        return 0

    walk = library.H5Ewalk2
    walk.restype, walk.argtypes = FLAG, [ID, ctypes.c_int, _WALKER, ctypes.c_void_p]
    walk(_DEFAULT_STACK, _WALK_DOWNWARD, _WALKER(note), None)
    return [text for text in found if text]
