"""Maps: values by keys, as objects of a container. include/headrace/map.h is the same for C."""

import ctypes
from collections.abc import ItemsView, Iterator, KeysView, MutableMapping
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace.object import calls
from headrace.object.calls import Create, Info, Keys, Scan, entered, operate
from headrace.object.elements import Form, Memory, array_of, dtype_of, told
from headrace.operations.calls import CallError

_AT_ONCE = 1000
_NO_ELEMENT = (ValueError, TypeError, OverflowError)


class _MapId(h5py._objects.ObjectID):  # type: ignore[misc]  # noqa: SLF001, closes it at the end
    def get_create_plist(self) -> Any:
        """A list: h5py asks it whether attributes have an order."""
        return h5py.h5p.create(h5py.h5p.DATASET_CREATE)


def _path(name: str) -> bytes:
    if "\0" in name:
        raise ValueError(f"a name ends at a NUL: {name!r}")  # HDF5 would take what is before it
    return name.encode("utf-8", "surrogateescape")


class Map(MutableMapping[Any, Any]):
    """A map of a file that the layer `object` keeps, with the keys in their order.

    Keys and values are of numpy's types, `str` for texts of any length. What is put is written with
    all other changes of the file, by its flush and close; it can be read at once.

    Attributes:
        key_dtype: The type of keys.
        value_dtype: The type of values.
        attrs: Its attributes, as those of any object of h5py.
    """

    def __init__(self, object_id: Any) -> None:
        """One that is open: create() and open() make these."""
        self.id = object_id
        info = Info()
        with entered() as library:
            operate(library, self.id.id, b"types", info)
            types = [h5py.h5i.wrap_identifier(one) for one in (info.key_type, info.val_type)]
        self._keys, self._values = (Form(one.dtype) for one in types)
        self.key_dtype, self.value_dtype = self._keys.dtype, self._values.dtype

    @classmethod
    def create(cls, group: Any, name: str, key_dtype: Any, value_dtype: Any) -> Self:
        """A new map below a group or file of h5py; groups on the way are made.

        Raises HeadraceError where the file is none of the layer's, CallError where HDF5 or the
        layer refuse: the name is there, or keys of the type have no order.
        """
        types = [
            h5py.h5t.py_create(dtype_of(one), logical=True) for one in (key_dtype, value_dtype)
        ]
        links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        links.set_char_encoding(h5py.h5t.CSET_UTF8)
        with entered() as library:
            usual = calls.usual_list(library)
            path = _path(name)
            made = Create(0, path, types[0].id, types[1].id, links.id, usual)
            operate(library, group.id.id, b"create", made)
        return cls.open(group, name)

    @classmethod
    def open(cls, group: Any, name: str) -> Self:
        """One that is there; KeyError where it is not, TypeError where it is something else."""
        path = _path(name)
        with entered() as library:
            try:
                found = library.H5Oopen(group.id.id, path, 0)
            except CallError as error:
                raise KeyError(f"no map {name!r}: {error}") from error
            if library.H5Iget_type(found) != calls.IS_MAP:
                library.H5Idec_ref(found)
                raise TypeError(f"{name!r} is not a map")
            return cls(_MapId(found))

    def close(self) -> None:
        """It cannot be used any more. Also at the end of the object, and with its file."""
        if self:
            with entered() as library:
                library.H5Idec_ref(self.id.id)

    def __bool__(self) -> bool:
        """Whether it is open; also of a map without entries."""
        return bool(self.id.valid)

    def __enter__(self) -> Self:
        """It is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes it."""
        self.close()

    @property
    def attrs(self) -> Any:
        """Its attributes."""
        return h5py.AttributeManager(self)

    def __repr__(self) -> str:
        """What it is."""
        if not self:
            return "<closed map of the layer object>"
        return f"<map of the layer object: {self.key_dtype} to {self.value_dtype}, {len(self)}>"

    def __len__(self) -> int:
        """How many entries there are."""
        info = Info()
        self._operate(b"count", info)
        return int(info.count)

    def _operate(self, name: bytes, args: ctypes.Structure) -> None:
        if not self:
            raise ValueError("the map is closed")
        with entered() as library:
            operate(library, self.id.id, name, args)

    def _with_keys(self, name: bytes, keys: NDArray[Any]) -> NDArray[np.bool_]:
        found = np.zeros(len(keys), np.uint8)
        with Memory.of(self._keys, keys) as given:
            args = Keys(0, len(keys), given.type, given.address, -1, None, None)
            args.found = found.ctypes.data
            self._operate(name, args)
        return found.astype(bool)

    def _key(self, key: Any) -> NDArray[Any]:
        try:
            return array_of(self.key_dtype, key)
        except _NO_ELEMENT as error:
            raise KeyError(key) from error

    def __contains__(self, key: object) -> bool:
        """Whether there is such a key."""
        try:
            return bool(self._with_keys(b"exists", self._key(key))[0])
        except KeyError:
            return False

    def __getitem__(self, key: Any) -> Any:
        """The value of a key."""
        values, found = self._get(self._key(key))
        if not found[0]:
            raise KeyError(key)
        return values[0]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Puts an entry, or gives a key another value."""
        self._put(array_of(self.key_dtype, key), array_of(self.value_dtype, value))

    def __delitem__(self, key: Any) -> None:
        """Deletes the entry of a key."""
        if not self._with_keys(b"delete", self._key(key))[0]:
            raise KeyError(key)

    def _get(self, keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        found = np.zeros(len(keys), np.uint8)
        with (
            Memory.of(self._keys, keys) as given,
            Memory(self._values, len(keys), wanted=True) as room,
        ):
            args = Keys(0, len(keys), given.type, given.address, room.type, None)
            args.get, args.found = room.address, found.ctypes.data
            self._operate(b"get", args)
            return told(self.value_dtype, room.array(len(keys))), found.astype(bool)

    def _put(self, keys: NDArray[Any], values: NDArray[Any]) -> None:
        with (
            Memory.of(self._keys, keys) as given,
            Memory.of(self._values, values) as put,
        ):
            args = Keys(0, len(keys), given.type, given.address, put.type, put.address)
            self._operate(b"put", args)

    def get_many(self, keys: ArrayLike) -> NDArray[Any]:
        """The values of keys, in their order; KeyError for the first one that is not there."""
        wanted = list(keys) if not isinstance(keys, np.ndarray) else keys  # type: ignore[arg-type]
        try:
            given = array_of(self.key_dtype, wanted, len(wanted))
        except _NO_ELEMENT as error:
            raise KeyError(str(error)) from error
        values, found = self._get(given)
        if not found.all():
            raise KeyError(wanted[int(np.argmin(found))])
        return values

    def update(self, *args: Any, **more: Any) -> None:
        """Puts many entries at once.

        `update(keys, values)` takes arrays, or anything with as many; `update(mapping)`, pairs and
        keywords are as of a dict. The later one of two with one key stays.
        """
        if len(args) == 2:
            keys, values = args
        else:
            entries = dict(*args)
            keys, values = list(entries), list(entries.values())
        if len(keys) != len(values):
            raise ValueError(f"{len(keys)} keys and {len(values)} values")
        self._put(
            array_of(self.key_dtype, keys, len(keys)),
            array_of(self.value_dtype, values, len(values)),
        )
        if more:
            self.update(more)

    def _pages(self, start: Any, *, values: bool) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        last = None if start is None else array_of(self.key_dtype, start)
        behind = False
        while True:
            keys, found = self._page(last, behind=behind, values=values)
            if not len(keys):
                return
            yield told(self.key_dtype, keys), found
            last, behind = keys[-1:], True

    def _page(
        self, last: NDArray[Any] | None, *, behind: bool, values: bool
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        start = np.zeros(0, self.key_dtype) if last is None else last
        with (
            Memory.of(self._keys, start) as given,
            Memory(self._keys, _AT_ONCE, wanted=True) as keys,
            Memory(self._values, _AT_ONCE, wanted=True) as room,
        ):
            args = Scan(0, _AT_ONCE, keys.type, None if last is None else given.address)
            args.behind, args.keys = behind, keys.address
            args.val_mem_type, args.values = room.type, room.address if values else None
            self._operate(b"scan", args)
            return keys.array(args.n), told(self.value_dtype, room.array(args.n if values else 0))

    def __iter__(self) -> Iterator[Any]:
        """The keys, in their order. Entries may be put and deleted meanwhile."""
        for keys, _ in self._pages(None, values=False):
            yield from keys

    def keys(self, start: Any = None) -> KeysView[Any]:
        """The keys in their order, from one on that need not be there."""
        return _Keys(self, start)

    def items(self, start: Any = None) -> ItemsView[Any, Any]:
        """The entries in the order of their keys, from a key on that need not be there."""
        return _Items(self, start)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same map, open by the same handle."""
        return self is other

    def __hash__(self) -> int:
        """By the handle."""
        return object.__hash__(self)


class _Keys(KeysView[Any]):
    def __init__(self, owner: Map, start: Any) -> None:
        super().__init__(owner)
        self._owner, self._start = owner, start

    def __len__(self) -> int:
        return len(self._owner) if self._start is None else sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for keys, _ in self._owner._pages(self._start, values=False):  # noqa: SLF001
            yield from keys


class _Items(ItemsView[Any, Any]):
    def __init__(self, owner: Map, start: Any) -> None:
        super().__init__(owner)
        self._owner, self._start = owner, start

    def __len__(self) -> int:
        return len(self._owner) if self._start is None else sum(1 for _ in self)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for keys, values in self._owner._pages(self._start, values=True):  # noqa: SLF001
            yield from zip(keys, values, strict=True)
