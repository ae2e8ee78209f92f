"""Opens shared objects and tells about them, in a process of its own.

Run as a script with one ``ACTION:FILE`` per argument; prints one JSON line for each. A library that
crashes while it is loaded takes only this process down, and the program that wants to know keeps
its own address space clean of plug-ins and of libhdf5. Needs nothing but the standard library.
"""

import ctypes
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# As HDF5 opens plug-ins: lazily, in a scope of their own.
_MODE = os.RTLD_LAZY | os.RTLD_LOCAL


def describe(file: str) -> Any:
    """The description that a plug-in carries; None when it carries none."""
    library = ctypes.CDLL(file, _MODE)
    try:
        function = library.headrace_describe
    except AttributeError:
        return None
    function.restype = ctypes.c_char_p
    text = function()
    return None if text is None else text.decode("utf-8", "surrogateescape")


def plugin_type(file: str) -> Any:
    """What H5PLget_plugin_type() returns: 1 for a VOL connector, 2 for a file driver."""
    library = ctypes.CDLL(file, _MODE)
    for symbol in ("H5PLget_plugin_type", "H5PLget_plugin_info"):
        if not hasattr(library, symbol):
            raise OSError(f"it is no HDF5 plug-in: it lacks {symbol}")
    # A plug-in of ours may be a small file that leads to a larger one, which can be missing.
    if hasattr(library, "headrace_describe") and describe(file) is None:
        raise OSError("it cannot load the module that it stands for")
    return library.H5PLget_plugin_type()


class _DlInfo(ctypes.Structure):
    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def defines(library: ctypes.CDLL, symbol: str, file: str) -> bool:
    """Whether a symbol is of this very file: dlsym() also looks in what the file depends on."""
    try:
        address = ctypes.cast(library[symbol], ctypes.c_void_p)
    except AttributeError:
        return False
    info = _DlInfo()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr.argtypes = (ctypes.c_void_p, ctypes.POINTER(_DlInfo))
    if not dladdr(address, ctypes.byref(info)) or info.file is None:
        return False
    try:
        return Path(os.fsdecode(info.file)).samefile(file)
    except OSError:
        return os.fsdecode(info.file) == file


def hdf5(file: str) -> Any:
    """Version and build of a libhdf5, without initialising it."""
    library = ctypes.CDLL(file, _MODE)
    if not defines(library, "H5get_libversion", file):
        raise OSError("it is no libhdf5")
    answer = ctypes.c_bool(False)
    library.H5is_library_threadsafe(ctypes.byref(answer))
    label = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(library, "H5_lib_vers_info_g")))
    return {
        "version": label.decode("ascii", "replace").rpartition(": ")[2],
        "parallel": hasattr(library, "H5Pset_fapl_mpio"),
        "threadsafe": answer.value,
    }


_ACTIONS = {"describe": describe, "plugin_type": plugin_type, "hdf5": hdf5}


def answer(requests: Sequence[str], output: int) -> None:
    """Writes a line for each request to a file descriptor, at once: the next may be the last."""
    for request in requests:
        action, _, file = request.partition(":")
        try:
            found = {"value": _ACTIONS[action](file)}
        except (OSError, AttributeError, ValueError) as error:
            found = {"error": str(error)}
        os.write(output, (json.dumps(found) + "\n").encode("utf-8", "surrogateescape"))


def main() -> None:
    """Answers each request on what was standard output; libraries that print get stderr."""
    answers = os.dup(1)
    os.dup2(2, 1)
    answer(sys.argv[1:], answers)


if __name__ == "__main__":
    main()
