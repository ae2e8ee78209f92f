"""Values that were made for a dataset as a whole (stored_sizes), of which a replay writes parts."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.trace.replay.hdf5.library import Library

_NATIVE = 0  # H5_VOL_NATIVE


def native_access(library: Library) -> int:
    """An access list of files that no layer sees."""
    call = library.call
    native = call("H5VLget_connector_id_by_value", _NATIVE)
    fapl = call("H5Pcreate", library.variable("H5P_CLS_FILE_ACCESS_ID_g"))
    call("H5Pset_fapl_sec2", fapl)
    call("H5Pset_vol", fapl, native, None)
    return fapl


class KeptValues:
    """The file of them, which is read past all layers; HDF5 picks and converts."""

    def __init__(self, library: Library, file: str, names: Mapping[int, str]) -> None:
        """`names` are those in the file, by ids of the trace."""
        self._library = library
        call = library.call
        opened = call("H5Fopen", file.encode(), ctypes.c_uint(0), native_access(library))
        self._datasets = {id_: call("H5Dopen2", opened, name.encode(), 0)
                          for id_, name in names.items()}  # fmt: skip
        self._sizes = {id_: self._size(dataset) for id_, dataset in self._datasets.items()}

    def _size(self, dataset: int) -> int:
        space = self._library.call("H5Dget_space", dataset)
        elements = self._library.call("H5Sget_simple_extent_npoints", space)
        self._library.call("H5Sclose", space)
        return elements

    def fill(self, id_: int, how: tuple[int, int, int], elements: int, buffer: Any) -> None:
        """What a write of so many elements takes, by type and dataspaces, as far as it is kept."""
        dataset = self._datasets.get(id_, -1)
        if dataset >= 0 and (how[1:] != (0, 0) or elements == self._sizes[id_]):
            self._library.call_now("H5Dread", dataset, *how, 0, buffer)
