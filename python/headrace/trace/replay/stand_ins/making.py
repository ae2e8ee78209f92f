"""Makes a file like one that a program has read, by plain HDF5."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

from headrace.errors import FileError
from headrace.trace.replay.kept import native_access
from headrace.trace.replay.stand_ins.known import parent_of
from headrace.trace.replay.stand_ins.values import DatasetValues, made_of

if TYPE_CHECKING:
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.stand_ins.known import Contents, Known

_ANEW: Final = 2  # H5F_ACC_TRUNC
_IN_ORDER: Final = 1 | 2  # H5P_CRT_ORDER_TRACKED, H5P_CRT_ORDER_INDEXED
_NEWEST: Final = 16  # beyond each library's newest format
_LOWEST: Final = {0: 0, 1: 0, 2: 1}  # H5F_libver_t by version of the superblock; of 3: 2
_VIRTUAL: Final = 3  # H5D_layout_t
_BASIC: Final = 1  # H5O_INFO_BASIC
_ELSEWHERE: Final = "its elements are in other files"
_NOT_MADE: Final = "HDF5 does not make it here"


class _Info(ctypes.Structure):
    """The beginning of HDF5's H5O_info2_t, and room for the rest."""

    _fields_ = (
        ("file", ctypes.c_ulong), ("token", ctypes.c_ubyte * 16), ("rest", ctypes.c_ubyte * 1000),
    )  # fmt: skip


class Making:
    """The file while it is made."""

    def __init__(self, library: Library, contents: Contents, output: str) -> None:
        """FileError where HDF5 does not make it."""
        self._library, self._contents = library, contents
        self._call = library.call
        self._made = {"/"}
        self.datasets = 0
        fcpl, fapl = self._lists()
        self._file = self._call("H5Fcreate", output.encode(), ctypes.c_uint(_ANEW), fcpl, fapl)
        if self._file < 0:
            raise FileError(f"{output}: HDF5 does not make this file, a stand-in for an input")

    def _lists(self) -> tuple[int, int]:
        """Of a file of the same format, without the layers that environment variables name."""
        known, call = self._contents.file, self._call
        fapl = native_access(self._library)
        opened = {} if known is None else known.opened
        lowest = _LOWEST.get(opened.get("superblock", 0), 2)
        newest = (each for each in range(_NEWEST, lowest, -1)
                  if call("H5Pset_libver_bounds", fapl, lowest, each) >= 0)  # fmt: skip
        next(newest, None)
        given = self._library.decoded(opened.get("list"), known.process.encoded) if known else 0
        default = self._library.variable("H5P_CLS_FILE_CREATE_ID_g")
        fcpl = given if given > 0 else call("H5Pcreate", default)
        return self._ordered(fcpl), fapl

    def _ordered(self, list_: int) -> int:
        """A list of a file or group that keeps an order where the program has asked for it."""
        if self._contents.ordered:
            self._call("H5Pset_link_creation_order", list_, ctypes.c_uint(_IN_ORDER))
            self._call("H5Pset_attr_creation_order", list_, ctypes.c_uint(_IN_ORDER))
        return list_

    def make(self) -> None:
        """All objects, those that are in others after these; what is not made becomes unknown."""
        objects = self._contents.objects
        for path, known in objects.items():
            if known.kind in {"file", "group"}:
                self._group(path)
        for path, known in objects.items():
            if why := self._object(path, known):
                self._contents.unknown[path] = why

    def tokens(self) -> dict[str, str]:
        """What references of the program's file are in this one."""
        found = {}
        for token, path in self._contents.tokens.items():
            info = _Info()
            basic = ctypes.c_uint(_BASIC)
            args = (self._file, path.encode(), ctypes.byref(info), basic, 0)
            if self._call("H5Oget_info_by_name3", *args) >= 0:
                found[token] = bytes(info.token).hex()
        return found

    def close(self) -> None:
        """Ends it."""
        self._call("H5Fclose", self._file)

    def _group(self, path: str) -> None:
        if path in self._made:
            return
        self._group(parent_of(path))
        default = self._library.variable("H5P_CLS_GROUP_CREATE_ID_g")
        list_ = self._ordered(self._call("H5Pcreate", default))
        group = self._call("H5Gcreate2", self._file, path.encode(), 0, list_, 0)
        self._made.add(path)
        for function, handle in (("H5Gclose", group), ("H5Pclose", list_)):
            self._call(function, handle)

    def _object(self, path: str, known: Known) -> str:
        """Makes one with its attributes, or says why not."""
        self._group(parent_of(path))
        if known.kind == "dataset":
            if why := self._dataset(path, known):
                return why
            self.datasets += 1
        elif known.kind == "datatype":
            type_ = self._call("H5Tcopy", self._decoded(known, "type"))
            self._call("H5Tcommit2", self._file, path.encode(), type_, 0, 0, 0)
            self._call("H5Tclose", type_)
        object_ = self._call("H5Oopen", self._file, path.encode(), 0)
        for name, each in known.attributes.items():
            if not self._attribute(object_, name, each):
                self._contents.unknown[f"{path}@{name}"] = _NOT_MADE
        self._call("H5Oclose", object_)
        return "" if object_ >= 0 else _NOT_MADE

    def _decoded(self, known: Known, key: str) -> int:
        return self._library.decoded(known.opened.get(key), known.process.encoded)

    def _dataset(self, path: str, known: Known) -> str:
        type_, space, list_ = (self._decoded(known, key) for key in ("type", "space", "list"))
        if list_ > 0 and (
            self._call("H5Pget_layout", list_) == _VIRTUAL
            or self._call("H5Pget_external_count", list_) > 0
        ):
            return _ELSEWHERE
        name = path.encode()
        dataset = self._call("H5Dcreate2", self._file, name, type_, space, 0, list_, 0)
        if dataset < 0:
            return _NOT_MADE
        DatasetValues(self._library, dataset, (type_, space, list_), known).write()
        self._call("H5Dclose", dataset)
        return ""

    def _attribute(self, object_: int, name: str, known: Known) -> bool:
        type_, space = self._decoded(known, "type"), self._decoded(known, "space")
        attribute = self._call("H5Acreate2", object_, name.encode(), type_, space, 0, 0)
        elements = self._library.elements_in(space)
        if attribute >= 0 and elements:
            self._call("H5Awrite", attribute, type_, made_of(self._library, type_, elements, 8))
        self._call("H5Aclose", attribute)
        return attribute >= 0
