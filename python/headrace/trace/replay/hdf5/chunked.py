"""Values for datasets with filters: of the sizes of the program's chunks, and of their time."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import h5py
import numpy as np

from headrace.trace.replay.hdf5.filters import KINDS, Filters, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

_SAMPLES: Final = 3  # chunks of a dataset that are timed
_GOLDEN: Final = 0.6180339887498949  # its multiples' fractions are spread evenly


@dataclass(frozen=True)
class Mix:
    """Which kind of values chunks get: this part of them the second, the others the first."""

    first: int
    second: int
    part: float

    def kind(self, number: int) -> int:
        """Of a chunk, by its number."""
        return self.second if number * _GOLDEN % 1 < self.part else self.first


class Chunked:
    """A dataset of the trial, and what the program stored of each of its chunks."""

    def __init__(self, like: h5py.Dataset, filters: Filters, wanted: Mapping[Place, int]) -> None:
        """Takes from `like`, whose file may be closed afterwards, what is needed of it."""
        self._type = like.id.get_type()
        self._shape, self._chunks = like.shape, like.chunks
        self._item = int(self._type.get_size())
        self._filters = filters
        self._wanted = {p: size for p, size in wanted.items() if min(self._extent(p)) > 0}
        places = list(self._wanted)
        samples = places[:: -(-len(places) // _SAMPLES)]
        # HDF5 hands out the bytes of a type that it calls opaque as they are.
        self._samples = {place: _bytes_of(like, self._part(place)) for place in samples}

    def _extent(self, place: Place) -> Place:
        """What is of a chunk within the dataset."""
        sides = zip(self._chunks, self._shape, place, strict=True)
        return tuple(min(chunk, whole - first) for chunk, whole, first in sides)

    def _part(self, place: Place) -> tuple[slice, ...]:
        return tuple(slice(p, p + e) for p, e in zip(place, self._extent(place), strict=True))

    def longer(self, kind: int) -> float:
        """Seconds that all chunks take more with values of a kind than with those of the trial."""
        taken = [
            self._filters.seconds(extent, self._values(place, kind))
            - self._filters.seconds(extent, data)
            for place, data in self._samples.items()
            for extent in (self._extent(place),)
        ]
        return float(np.mean(taken)) * len(self._wanted) if taken else 0.0

    def _values(self, place: Place, kind: int) -> NDArray[np.uint8]:
        return self._filters.values(self._extent(place), self._item, self._wanted[place], kind)

    def write(self, output: h5py.File, name: str, kind: Callable[[int], int]) -> None:
        """All values, to a dataset without filters."""
        data = np.zeros((*self._shape, self._item), np.uint8)
        for number, place in enumerate(self._wanted):
            values = self._values(place, kind(number))
            data[self._part(place)] = values.reshape(*self._extent(place), self._item)
        space = h5py.h5s.create_simple(self._shape)
        made = h5py.h5d.create(output.id, name.encode(), self._type, space)
        made.write(h5py.h5s.ALL, h5py.h5s.ALL, data, mtype=self._type)


def _bytes_of(dataset: h5py.Dataset, part: tuple[slice, ...]) -> NDArray[np.uint8]:
    whole: NDArray[Any] = np.ascontiguousarray(dataset[part])
    return whole.view(np.uint8).ravel()


def fitting(datasets: Sequence[Chunked], longer: float) -> Mix:
    """The mix with which all datasets take about so many seconds longer than in the trial."""
    taken = sorted((sum(each.longer(kind) for each in datasets), kind) for kind in KINDS)
    after = bisect.bisect(taken, (longer, 0))
    if after in {0, len(taken)}:
        only = taken[min(after, len(taken) - 1)][1]
        return Mix(only, only, 0.0)
    (before_seconds, before), (after_seconds, second) = taken[after - 1], taken[after]
    return Mix(before, second, (longer - before_seconds) / (after_seconds - before_seconds))
