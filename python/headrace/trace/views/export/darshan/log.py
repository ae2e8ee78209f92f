"""Darshan's log, by the library that comes with PyDarshan."""

from __future__ import annotations

import ctypes
import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The layouts of records that this writes; the library takes others for these without a word.
_VERSIONS: Final = {"POSIX": 4, "H5F": 3, "H5D": 2, "DXT_POSIX": 1}
_ZLIB: Final = 0
_WHOLE: Final = 0
_MOST_WORDS: Final = 4000  # bytes of a command line
_HOST: Final = 64

BASE: Final = (("id", "<u8"), ("rank", "<i8"))
SEGMENT: Final = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])
DXT: Final = np.dtype(
    [*BASE, ("shared", "<i8"), ("host", f"S{_HOST}"), ("writes", "<i8"), ("reads", "<i8")]
)


class _Job(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("uid", "start_sec", "start_nsec", "end_sec",
                                              "end_nsec", "nprocs", "jobid")),
        ("metadata", ctypes.c_char * 1024),
    )  # fmt: skip


class _Mount(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_char * 3015), ("path", ctypes.c_char * 3015))


class _Name(ctypes.Structure):
    """A node of the hash table of names; only the list through it is followed."""

    _fields_ = (
        ("record", ctypes.c_void_p),
        ("table", ctypes.c_void_p),
        ("previous", ctypes.c_void_p),
        ("next", ctypes.c_void_p),
        ("rest", ctypes.c_void_p * 4),
    )


@dataclass
class Contents:
    """What a log tells: of the run, the names of records by their ids, and records by module."""

    begin: int  # nanoseconds since 1970
    end: int
    user: int
    processes: int
    job: int
    command: str
    names: dict[int, str] = field(default_factory=dict)
    records: dict[str, list[bytes]] = field(default_factory=lambda: defaultdict(list))

    def id_of(self, name: str) -> int:
        """The id of a record with this name."""
        hashed = hashlib.blake2b(name.encode(errors="replace"), digest_size=8)
        id_ = int.from_bytes(hashed.digest(), "little")
        self.names[id_] = name
        return id_


def backend() -> Any:
    """PyDarshan's access to its library; raises FileError where it is not installed."""
    try:
        from darshan.backend import cffi_backend  # noqa: PLC0415
    except ImportError as error:
        raise FileError(f"Darshan's logs need `pip install darshan`: {error}") from None
    return cffi_backend


@cache
def names(module: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the counters of a module: whole numbers, and the others."""
    found = backend()
    return tuple(found.counter_names(module)), tuple(found.fcounter_names(module))


def packed(
    module: str, id_: int, rank: int, values: Mapping[str, float], file: int | None = None
) -> bytes:
    """A record of counters by name, without the module's prefix; those that are not given are 0."""
    whole, others = names(module)
    known = {f"{module}_{name}": value for name, value in values.items()}
    if unknown := known.keys() - {*whole, *others}:
        raise KeyError(*unknown)
    of_file = [] if file is None else [("file", "<u8")]
    layout = [*BASE, *of_file, ("whole", "<i8", len(whole)), ("others", "<f8", len(others))]
    record = np.zeros(1, np.dtype(layout))
    record["id"], record["rank"] = id_, rank
    if file is not None:
        record["file"] = file
    record["whole"] = [int(known.get(name, 0)) for name in whole]
    record["others"] = [float(known.get(name, 0)) for name in others]
    return record.tobytes()


def save(path: Path, contents: Contents) -> None:
    """Writes a log; raises OSError."""
    library = _library()
    path.touch()  # says why where it cannot be; the library tells no reason
    path.unlink()
    log = library.darshan_log_create(bytes(path), _ZLIB, _WHOLE)
    if not log:
        raise OSError("Darshan's library cannot create this file")
    try:
        _put(library, ctypes.c_void_p(log), contents)
    finally:
        library.darshan_log_close(ctypes.c_void_p(log))
    if not path.exists():
        raise OSError("Darshan's library could not finish it")


def _put(library: ctypes.CDLL, log: ctypes.c_void_p, contents: Contents) -> None:
    job = _Job(
        contents.user, *divmod(contents.begin, 10**9), *divmod(contents.end, 10**9),
        contents.processes, contents.job, f"lib_ver={backend().get_lib_version()}\n".encode(),
    )  # fmt: skip
    command = contents.command.replace("\n", " ").encode("utf-8", "replace")[:_MOST_WORDS]
    _check(library.darshan_log_put_job(log, ctypes.byref(job)))
    _check(library.darshan_log_put_exe(log, ctypes.c_char_p(command)))
    # Without any, the library finds no command line either.
    mount = _Mount(b"UNKNOWN", b"/")
    _check(library.darshan_log_put_mounts(log, ctypes.byref(mount), 1))
    nodes = _nodes(contents.names.items())
    _check(library.darshan_log_put_namehash(log, nodes[0][0] if nodes else None))
    for module in _VERSIONS:  # in ascending order, or the library fails
        number = backend().mod_name_to_idx(module)
        for record in contents.records.get(module, ()):
            buffer = ctypes.c_char_p(record)
            version = _VERSIONS[module]
            _check(library.darshan_log_put_mod(log, number, buffer, len(record), version))


def _nodes(named: Iterable[tuple[int, str]]) -> list[tuple[Any, Any]]:
    """The list of names, and what its nodes point to: an id, and the text inline."""
    nodes: list[tuple[Any, Any]] = []
    for id_, name in named:
        text = id_.to_bytes(8, "little") + name.encode("utf-8", "replace").replace(b"\0", b"?")
        record = ctypes.create_string_buffer(text)
        node = ctypes.pointer(_Name(record=ctypes.addressof(record)))
        if nodes:
            nodes[-1][0].contents.next = ctypes.addressof(node.contents)
        nodes.append((node, record))
    return nodes


def _check(result: int) -> None:
    if result < 0:
        raise OSError("Darshan's library could not write it")


@cache
def _library() -> ctypes.CDLL:
    folder = Path(backend().__file__).parents[2] / "darshan.libs"
    found = sorted(folder.glob("libdarshan-util*.so*"))
    library = ctypes.CDLL(str(found[0]) if found else "libdarshan-util.so")
    library.darshan_log_create.restype = ctypes.c_void_p
    return library
