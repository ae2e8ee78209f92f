"""Reads and writes of a replay, on values in place of the program's."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from headrace.errors import FileError
from headrace.trace.replay import data
from headrace.trace.replay.hdf5.handles import Handles, MissingError
from headrace.trace.replay.hdf5.library import DATASET, FILE, Library
from headrace.trace.replay.hdf5.tape import now

if TYPE_CHECKING:
    from headrace.trace.model.process import Fact
    from headrace.trace.replay.kept import KeptValues
    from headrace.trace.replay.plan import Plan
    from headrace.trace.replay.step import Step


class Transfers:
    """Of one process of the program."""

    def __init__(
        self, plan: Plan, library: Library, handles: Handles, kept: KeptValues | None
    ) -> None:
        """`kept`: what datasets are to be written with, where it is kept."""
        self._plan = plan
        self._library = library
        self._handles = handles
        self._kept = kept
        # numpy takes new memory for what it reads; compiled programs read into what they have.
        self._in_python = any("source" in line for line in plan.process.lines.values())
        self._read_into = ctypes.create_string_buffer(1)
        self._placed: dict[tuple[int, ...], int] = {}  # dataspaces by that without, and the offset

    def _room(self, size: int) -> Any:
        """The same memory for all reads, none of which is looked at."""
        if size > len(self._read_into):
            self._library.settle()
            self._read_into = ctypes.create_string_buffer(size)
        return self._read_into

    def _list(self, number: int | None) -> int:
        return self._library.decoded(number, self._plan.process.encoded)

    def _space(self, given: int | Fact | None) -> int:
        """A dataspace, whose selection a program may have put elsewhere."""
        if not isinstance(given, dict):
            return self._list(given)
        number, offset = given["space"], given["offset"]
        key = (number, *offset)
        if key not in self._placed:
            self._placed[key] = self._library.call("H5Scopy", self._list(number))
            there = (ctypes.c_int64 * len(offset))(*offset)
            self._library.call("H5Soffset_simple", self._placed[key], there)
        return self._placed[key]

    def elements(self, step: Step, type_: int) -> int:
        """That the call moved. To ask HDF5 would be a call that the program has not made."""
        return step.bytes // max(self._library.about_type(type_).size, 1)

    def to_write(self, type_: int, elements: int, lengths: list[int] | None, ratio: float) -> Any:
        """Keep what is returned until HDF5 has read it."""
        about = self._library.about_type(type_)
        if about.is_string:
            return data.strings(lengths or [], elements)
        if lengths is not None:
            base = self._library.call("H5Tget_super", type_)
            return data.sequences(lengths, elements, self._library.about_type(base).size)
        bytes_ = max(elements * about.size, 1)
        if about.has_pointers or about.has_references:
            return ctypes.create_string_buffer(bytes_)
        values = data.values(bytes_, ratio)
        return (values if self._kept is None else values.copy()).ctypes.data_as(ctypes.c_void_p)

    def make(self, step: Step, function: str) -> None:
        """One, by `H5Dwrite` or `H5Dread`, or by its like for several datasets."""
        self._call(
            step, function, [self._moved(step, e, function) for e in step.given["transfers"]]
        )

    def _call(self, step: Step, function: str, moved: list[tuple[int, int, int, int, Any]]) -> None:
        list_ = self._list(step.given.get("list"))
        if len(moved) == 1:
            ((dataset, type_, memory, file, buffer),) = moved
            self._library.call(function, dataset, type_, memory, file, list_, buffer)
            return
        self._library.settle()  # ids in arrays are to be known
        *ids, buffers = zip(*moved, strict=True)
        arrays = [(ctypes.c_int64 * len(moved))(*map(now, column)) for column in ids]
        pointers = (ctypes.c_void_p * len(moved))(
            *(ctypes.cast(each, ctypes.c_void_p).value for each in buffers)
        )
        self._library.call(
            f"{function}_multi", ctypes.c_size_t(len(moved)), *arrays, list_, pointers
        )

    def _moved(self, step: Step, given: list[Any], function: str) -> tuple[int, int, int, int, Any]:
        """A dataset, its type, dataspaces and buffer, as `H5Dwrite` takes them."""
        object_, type_number, *spaces = given
        memory, file = (self._space(each) for each in spaces)
        type_ = self._list(type_number)
        space = memory or file
        elements = self._library.elements_in(space) if space else self.elements(step, type_)
        dataset = self._handles.of(object_, {"of": DATASET})
        size = max(elements * self._library.about_type(type_).size, 1)
        self._library.holds(size)
        if function == "H5Dwrite":
            ratio = self._plan.ratios.get(object_[0], 1.0)
            buffer = self.to_write(type_, elements, step.given.get("lengths"), ratio)
            if self._kept is not None:
                self._kept.fill(object_[0], (type_, memory, file), elements, buffer)
        else:
            buffer = data.new_room(size) if self._in_python else self._room(size)
        return dataset, type_, memory, file, buffer

    def take_part(self, step: Step) -> None:
        """In a collective transfer of other ranks, with nothing selected."""
        self._library.settle()
        function = "H5Dwrite" if step.callback == "dataset_write" else "H5Dread"
        taken = [self._nothing(*each) for each in step.given["transfers"]]
        self._call(step, function, [each for each, _ in taken])
        self._library.settle()
        for (_, _, space, _, _), opened in taken:
            self._library.call_now("H5Sclose", space)
            if opened >= 0:
                self._library.call_now("H5Dclose", opened)

    def _nothing(
        self, object_: list[int], type_: int, _memory: object, file: int | Fact | None
    ) -> tuple[tuple[int, int, int, int, Any], int]:
        """As _moved(), and the dataset again where it was opened for this."""
        call = self._library.call_now
        dataset, opened = self._dataset(object_)
        given = self._space(file)
        space = call("H5Scopy", given) if given else call("H5Dget_space", dataset)
        if call("H5Sselect_none", space) < 0:
            raise FileError(f"{self._path(object_)}: HDF5 selects nothing of its dataspace")
        room = ctypes.create_string_buffer(1)
        return (dataset, self._list(type_), space, space, room), dataset if opened else -1

    def _dataset(self, object_: list[int]) -> tuple[int, bool]:
        """One that this process may have closed by now: it is opened then."""
        try:
            return self._handles.of(object_, {"of": DATASET}), False
        except MissingError:
            file = self._plan.process.objects[object_[0]]["file"]
            roots = (id_ for id_, each in self._plan.process.objects.items()
                     if each["file"] == file and each["kind"] == "file")  # fmt: skip
            at = self._handles.of([next(roots), 0], {"of": FILE})
            path = self._path(object_).encode()
            return self._library.call_now("H5Dopen2", at, path, 0), True

    def _path(self, object_: list[int]) -> str:
        return str(self._plan.process.objects[object_[0]]["path"])
