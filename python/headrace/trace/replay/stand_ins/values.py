"""Values of a stand-in's dataset: as large in the file as those that the program has read."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headrace.trace.replay import data
from headrace.trace.replay.hdf5.filters import KINDS, Filters, Place
from headrace.trace.replay.hdf5.library import SEQUENCE
from headrace.trace.replay.stand_ins import blocks

if TYPE_CHECKING:
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.stand_ins.known import Known

_CHUNKED: Final = 2  # H5D_layout_t
_HEAP_ENTRY: Final = 16  # bytes that a value has in a heap beside its own
_LENGTH: Final = 8  # of values of variable length, where none is known
_SET: Final = 0  # H5S_SELECT_SET


class DatasetValues:
    """Of one dataset, which is empty."""

    def __init__(
        self, library: Library, dataset: int, how: tuple[int, int, int], known: Known
    ) -> None:
        """`how`: its type, dataspace and creation list."""
        self._library, self._call = library, library.call
        self._dataset, self._known = dataset, known
        self._type, space, self._list = how
        self._space = self._call("H5Scopy", space)  # others have the one that was decoded
        self._about = library.about_type(self._type)
        rank = max(self._call("H5Sget_simple_extent_ndims", self._space), 0)
        numbers = (ctypes.c_uint64 * rank)()
        self._call("H5Sget_simple_extent_dims", self._space, numbers, None)
        self._chunked = self._list > 0 and self._call("H5Pget_layout", self._list) == _CHUNKED
        self._grid = blocks.pieces(tuple(numbers), self._about.size)
        if self._chunked:
            sides = (ctypes.c_uint64 * rank)()
            self._call("H5Pget_chunk", self._list, rank, sides)
            self._grid = blocks.Grid(tuple(numbers), tuple(sides))

    def write(self) -> None:
        """All blocks that the program has looked at."""
        if not self._library.elements_in(self._space):
            return
        grid, touched = self._grid, self._known.touched
        found = blocks.looked_at(self._library, grid, touched, chunked=self._chunked)
        if not self._is_filtered() or self._about.has_pointers or self._about.has_references:
            length = self._length()
            for place in found:
                elements = int(np.prod(grid.extent(place)))
                self._write(place, made_of(self._library, self._type, elements, length))
            return
        whole = int(np.prod(grid.sides)) * self._about.size
        usual = round(self._known.ratio * whole)
        filters = Filters(self._library, self._type, self._list)
        for place, size in blocks.levels(found, usual, whole).items():
            values = filters.values(grid.extent(place), self._about.size, size, KINDS[-1])
            self._write(place, values.ctypes.data_as(ctypes.c_void_p))
        filters.close()

    def _is_filtered(self) -> bool:
        return self._chunked and self._call("H5Pget_nfilters", self._list) > 0

    def _length(self) -> int:
        """Of values of variable length, of what was read of a heap for those that were read."""
        reads = [each for each in self._known.touched if each.is_read]
        heap = sum(each.heap for each in reads)
        elements = sum(each.bytes for each in reads) // self._about.size
        return max(heap // elements - _HEAP_ENTRY, 0) if heap and elements else _LENGTH

    def _write(self, place: Place, buffer: Any) -> None:
        rank = len(place)
        if rank == 0:
            self._call("H5Dwrite", self._dataset, self._type, 0, 0, 0, buffer)
            return
        numbers = ctypes.c_uint64 * rank
        extent = numbers(*self._grid.extent(place))
        memory = self._call("H5Screate_simple", rank, extent, None)
        first = numbers(*place)
        self._call("H5Sselect_hyperslab", self._space, _SET, first, None, extent, None)
        self._call("H5Dwrite", self._dataset, self._type, memory, self._space, 0, buffer)
        self._call("H5Sclose", memory)


def made_of(library: Library, type_: int, elements: int, length: int) -> Any:
    """So many values, those of variable length as long; keep it until HDF5 has read it."""
    about = library.about_type(type_)
    if about.is_string:
        return data.strings([length] * elements, elements)
    if about.has_pointers and library.call("H5Tget_class", type_) == SEQUENCE:
        base = library.call("H5Tget_super", type_)
        size = library.about_type(base).size
        return data.sequences([length // max(size, 1)] * elements, elements, size)
    if about.has_pointers or about.has_references:
        return ctypes.create_string_buffer(max(elements * about.size, 1))
    return data.values(max(elements * about.size, 1), 1.0).ctypes.data_as(ctypes.c_void_p)
