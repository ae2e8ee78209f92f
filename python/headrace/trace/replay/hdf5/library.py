"""A libhdf5 that calls are made of by name; any version, also one that no package is built on."""

from __future__ import annotations

import contextlib
import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headrace.trace.replay.hdf5.tape import Tape, now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headrace.trace.model.process import Fact

FILE, GROUP, DATATYPE, DATASET, ATTRIBUTE = 1, 2, 3, 5, 7  # H5I_type_t
_REFERENCE, SEQUENCE = 7, 9  # H5T_class_t
# Those that return something else than an int, by their last letters' meaning in HDF5.
_IDS: Final = (
    "create", "create1", "create2", "open", "open1", "open2", "decode", "decode1", "decode2",
    "create_by_name", "open_by_name", "open_by_idx", "open_by_token", "reopen", "get_space",
    "create_anon", "get_super", "get_type", "get_create_plist", "get_access_plist", "get_file_id",
)  # fmt: skip
_LONG: Final = {
    "H5Pcopy", "H5Rdereference2", "H5Scopy", "H5Screate_simple", "H5Sget_select_npoints",
    "H5Sget_simple_extent_npoints",
    "H5Tcopy", "H5Tget_size", "H5VLget_connector_id_by_value",
}  # fmt: skip
# Those of many a program; what they return is not looked at but for failure.
_TAPED: Final = {
    "H5Fopen", "H5Fclose", "H5Fflush", "H5Gopen2", "H5Gclose", "H5Topen2", "H5Tclose",
    "H5Gcreate2", "H5Dcreate2", "H5Dopen2", "H5Dread", "H5Dwrite", "H5Dclose", "H5Dset_extent",
    "H5Dflush", "H5Dget_space", "H5Dget_type", "H5Dget_create_plist", "H5Dget_access_plist",
    "H5Dget_storage_size", "H5Idec_ref", "H5Oopen", "H5Aopen", "H5Aopen_by_name", "H5Acreate2",
    "H5Aread", "H5Awrite", "H5Aclose", "H5Aget_space", "H5Aget_type", "H5Aexists",
    "H5Aexists_by_name", "H5Lexists", "H5Oget_info3", "H5Oget_info_by_name3", "H5Gget_info",
}  # fmt: skip
_OF_NO_FILE: Final = {"H5P", "H5S", "H5T"}  # how names of functions begin


@dataclass(frozen=True)
class AboutType:
    """A datatype: bytes of an element; whether values are strings of variable length.

    `has_pointers`: values lead to others, of variable length; `has_references`: they are, or have,
    references.
    """

    size: int
    is_string: bool
    has_pointers: bool
    has_references: bool


class Library:
    """One libhdf5. Calls take Python's numbers, bytes and ctypes objects; ids are 64 bits wide."""

    def __init__(self, file: str, *, for_ranks: bool = False) -> None:
        """Loads the file; for ranks MPI's modules find its names. OSError where it cannot."""
        self._loaded = ctypes.CDLL(file, ctypes.RTLD_GLOBAL if for_ranks else ctypes.RTLD_LOCAL)
        self._tape: Tape | None = None
        self._types: dict[int, AboutType] = {}
        self._elements: dict[int, int] = {}
        self._decoded: dict[tuple[int, int], int] = {}
        self.call("H5open")
        self.call("H5Eset_auto2", 0, None, None)  # calls that failed fail again

    def call(self, name: str, *arguments: Any) -> int:
        """What the function returns: negative when it fails.

        While there is a tape it may be called later: what it returns then has no other use than as
        an argument of calls.
        """
        if self._tape is not None:
            if name in _TAPED:
                function = getattr(self._loaded, name)
                address = ctypes.cast(function, ctypes.c_void_p).value or 0
                return self._tape.add(address, arguments, is_long=_is_long(name))
            if name[:3] not in _OF_NO_FILE or name.startswith("H5Tcommit"):
                self._tape.play()
        return self.call_now(name, *arguments)

    def call_now(self, name: str, *arguments: Any) -> int:
        """The same, but called at once, before what is on a tape."""
        function = getattr(self._loaded, name)
        function.restype = ctypes.c_int64 if _is_long(name) else ctypes.c_int
        return int(function(*(_as_c(each) for each in arguments)))

    @contextlib.contextmanager
    def taped(self) -> Iterator[None]:
        """Calls of programs' functions are put on a tape, and made before it ends."""
        self._tape = Tape()
        try:
            yield
            self._tape.play()
        finally:
            self._tape = None

    def settle(self) -> None:
        """Makes all calls that are on a tape: what they return is known then."""
        if self._tape is not None:
            self._tape.play()

    def holds(self, size: int) -> None:
        """A call that comes next reads or writes so many bytes, which are kept for it."""
        if self._tape is not None:
            self._tape.holds(size)

    def variable(self, name: str) -> int:
        """An id that the library keeps."""
        return ctypes.c_int64.in_dll(self._loaded, name).value

    def has(self, name: str) -> bool:
        """Whether there is such a function in this version, or in what it is linked with."""
        return hasattr(self._loaded, name)

    def function(self, name: str) -> Any:
        """One of a library that it is linked with; it returns an int."""
        return getattr(self._loaded, name)

    def address(self, name: str) -> int:
        """Of a variable of a library that it is linked with."""
        return ctypes.addressof(ctypes.c_char.in_dll(self._loaded, name))

    def decoded(self, number: int | None, encoded: Mapping[int, Fact]) -> int:
        """The list, type or dataspace of an `encoded` fact; HDF5's default (0) where none is.

        `encoded` are the facts of one process, which stay; it is decoded once.
        """
        if number is None or number not in encoded:
            return 0
        key = (id(encoded), number)
        if key not in self._decoded:
            self._decoded[key] = self._decode(encoded[number])
        return self._decoded[key]

    def _decode(self, fact: Fact) -> int:
        for kind, function in (("list", "H5Pdecode"), ("space", "H5Sdecode")):
            if kind in fact:
                return self.call(function, bytes.fromhex(fact[kind]))
        data = bytes.fromhex(fact["type"])
        if self.has("H5Tdecode2"):
            return self.call("H5Tdecode2", data, len(data))
        return self.call("H5Tdecode", data)

    def about_type(self, type_: int) -> AboutType:
        """Of one that is not changed."""
        if type_ not in self._types:
            strings = self.call("H5Tis_variable_str", type_) > 0
            self._types[type_] = AboutType(
                self.call("H5Tget_size", type_),
                strings,
                strings or self.call("H5Tdetect_class", type_, SEQUENCE) > 0,
                self.call("H5Tdetect_class", type_, _REFERENCE) > 0,
            )
        return self._types[type_]

    def elements_in(self, space: int) -> int:
        """The elements of a dataspace that is not changed."""
        if space not in self._elements:
            self._elements[space] = max(self.call("H5Sget_simple_extent_npoints", space), 0)
        return self._elements[space]


def _is_long(name: str) -> bool:
    return name[3:] in _IDS or name in _LONG


def _as_c(value: Any) -> Any:
    return ctypes.c_int64(now(value)) if isinstance(value, int) else value
