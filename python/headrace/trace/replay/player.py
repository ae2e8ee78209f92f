"""Makes the calls of a plan, in this process, of one libhdf5."""

from __future__ import annotations

import contextlib
import ctypes
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from headrace.trace.replay.changes import CHANGES
from headrace.trace.replay.hdf5.handles import Handles, MissingError
from headrace.trace.replay.hdf5.library import ATTRIBUTE, DATASET, DATATYPE, FILE, GROUP, Library
from headrace.trace.replay.questions import QUESTIONS
from headrace.trace.replay.transfers import Transfers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.trace.replay.hdf5.mpi import Mpi
    from headrace.trace.replay.kept import KeptValues
    from headrace.trace.replay.plan import Plan
    from headrace.trace.replay.step import Step

_BILLION: Final = 1e9
# HDF5 makes these of its own accord, within calls that are made again.
_BY_HDF5: Final = {
    ("file_optional", 28), ("file_get", 0), ("datatype_get", 0), ("datatype_get", 1),
}  # fmt: skip
# What a program may say of these; HDF5 adds more for connectors.
_TO_CREATE: Final = 0x2 | 0x4 | 0x20  # H5F_ACC_TRUNC, H5F_ACC_EXCL, H5F_ACC_SWMR_WRITE
_TO_OPEN: Final = 0x1 | 0x20 | 0x40  # H5F_ACC_RDWR, H5F_ACC_SWMR_WRITE, H5F_ACC_SWMR_READ
_IS_ACCESSIBLE: Final = 2  # of H5VL_file_specific_t
_CLOSES: Final = {
    "file_close": (FILE, "H5Fclose"),
    "group_close": (GROUP, "H5Gclose"),
    "dataset_close": (DATASET, "H5Dclose"),
    "datatype_close": (DATATYPE, "H5Tclose"),
    "attr_close": (ATTRIBUTE, "H5Aclose"),
}
_OPENS: Final = {
    "file_create": FILE, "file_open": FILE, "group_create": GROUP, "group_open": GROUP,
    "dataset_create": DATASET, "dataset_open": DATASET, "datatype_open": DATATYPE,
    "attr_create": ATTRIBUTE, "attr_open": ATTRIBUTE,
}  # fmt: skip
_KINDS: Final = {"group": GROUP, "dataset": DATASET, "datatype": DATATYPE}  # words of a trace


class LeftOutError(Exception):
    """A call that a replay does not make; says why."""


class Player:
    """Plays once. `left_out` counts what was not made, by callback and reason."""

    def __init__(
        self,
        plan: Plan,
        library: Library,
        files: Mapping[str, str],
        kept: KeptValues | None,
        mpi: Mpi | None,
    ) -> None:
        """`files`: of each name in the trace that of the replay; `kept`: what it is to write.

        `mpi`: of ranks that open files together.
        """
        self._plan = plan
        self._library = library
        self._files = files  # names in the trace: those of the replay
        self._handles = Handles(library)
        self._mpi = mpi
        self.transfers = Transfers(plan, library, self._handles, kept)
        self.left_out: Counter[str] = Counter()

    def play(self, *, compute: bool) -> None:
        """All steps; with `compute` also the times between them, in which the program worked."""
        if compute:
            self._play_all(compute=True)
            return
        with self._library.taped():
            self._play_all(compute=False)

    def _play_all(self, *, compute: bool) -> None:
        ended = self._plan.steps[0].begin if self._plan.steps else 0
        for step in self._plan.steps:
            if compute and step.begin > ended:
                time.sleep((step.begin - ended) / _BILLION)
            ended = max(ended, step.begin + step.duration)
            self.make(step)

    def make(self, step: Step) -> None:
        """One step, or its reason is counted in `left_out`."""
        if (step.callback, step.operation) in _BY_HDF5:
            return
        try:
            self._play(step)
        except LeftOutError as error:
            self.left_out[f"{step.callback}: {error}"] += 1
        except MissingError:
            if step.callback != "datatype_close":  # of a type that was asked for and let go
                self.left_out[f"{step.callback}: of an object that the replay has not open"] += 1

    def take(self, step: Step, other: Player, made: Step) -> None:
        """What another player has made for this one's step: the object that it has opened."""
        if step.callback in _CLOSES:
            with contextlib.suppress(MissingError):
                self._handles.close(step.key, _CLOSES[step.callback][0])
        elif step.callback in _OPENS or step.callback == "datatype_commit":
            kind = _OPENS.get(step.callback, DATATYPE)
            with contextlib.suppress(MissingError):
                self._handles.add(step.key, other._handles.of(made.key, {"of": kind}), kind)

    def _play(self, step: Step) -> None:
        if step.callback in _CLOSES:
            if step.key[0] == 0:  # HDF5's own, which a program never had
                return
            kind, function = _CLOSES[step.callback]
            self._library.call(function, self._handles.close(step.key, kind))
            return
        play = getattr(self, f"_{step.callback}", None)
        changes = CHANGES.get(step.callback)
        if play is None and changes is None and step.callback not in QUESTIONS:
            raise LeftOutError(f"a replay does not make its operation {step.operation}")
        if "given" not in step.given and "transfers" not in step.given:
            raise LeftOutError("the trace does not tell what it was given")
        if play is not None:
            play(step)
            return
        if changes is not None:
            changes(self._library, self._handles, step, self._list)
            return
        ask = QUESTIONS[step.callback].get(step.operation)
        if ask is None:
            raise LeftOutError(f"a replay does not make its operation {step.operation}")
        ask(self._library, self._handles, step)

    def _list(self, number: int | None) -> int:
        return self._library.decoded(number, self._plan.process.encoded)

    def _opened(self, step: Step, handle: int) -> None:
        if handle < 0 or step.failed:
            return
        about = self._plan.process.objects.get(step.key[0], {})
        kind = _KINDS.get(about.get("kind", ""))
        self._handles.add(step.key, handle, _OPENS.get(step.callback, kind))

    def _access(self, step: Step, number: int | None) -> int:
        """A file access list, with a communicator where the program's had one."""
        ranks = self._plan.ranks(step)
        if self._mpi is None or ranks == 0:
            return self._list(number)
        if ranks not in {1, self._mpi.recorded}:
            raise LeftOutError("some of all ranks have opened it, and a replay has all or one")
        return self._mpi.access(self._list(number), alone=ranks == 1)

    def _file_create(self, step: Step) -> None:
        name, flags, fcpl, fapl = step.given["given"][:4]
        made, said = self._files[name].encode(), flags & _TO_CREATE
        lists = (self._list(fcpl), self._access(step, fapl))
        self._opened(step, self._library.call("H5Fcreate", made, said, *lists))

    def _file_open(self, step: Step) -> None:
        name, flags, fapl = step.given["given"][:3]
        made, said = self._files[name].encode(), flags & _TO_OPEN
        self._opened(step, self._library.call("H5Fopen", made, said, self._access(step, fapl)))

    def _group_create(self, step: Step) -> None:
        self_, place, name, lcpl, gcpl, gapl = step.given["given"][:6]
        at = self._handles.of(self_, place)
        lists = (self._list(lcpl), self._list(gcpl), self._list(gapl))
        if name is None:
            handle = self._library.call("H5Gcreate_anon", at, *lists[1:])
        else:
            handle = self._library.call("H5Gcreate2", at, name.encode(), *lists)
        self._opened(step, handle)

    def _group_open(self, step: Step) -> None:
        self._open_by_name(step, "H5Gopen2")

    def _dataset_open(self, step: Step) -> None:
        self._open_by_name(step, "H5Dopen2")

    def _datatype_open(self, step: Step) -> None:
        self._open_by_name(step, "H5Topen2")

    def _open_by_name(self, step: Step, function: str) -> None:
        self_, place, name, list_ = step.given["given"][:4]
        at = self._handles.of(self_, place)
        self._opened(step, self._library.call(function, at, name.encode(), self._list(list_)))

    def _dataset_create(self, step: Step) -> None:
        self_, place, name, lcpl, type_, space, dcpl, dapl = step.given["given"][:8]
        at = self._handles.of(self_, place)
        what = (self._list(type_), self._list(space))
        lists = (self._list(dcpl), self._list(dapl))
        if name is None:
            handle = self._library.call("H5Dcreate_anon", at, *what, *lists)
        else:
            handle = self._library.call(
                "H5Dcreate2", at, name.encode(), *what, self._list(lcpl), *lists
            )
        self._opened(step, handle)

    def _object_open(self, step: Step) -> None:
        self_, place = step.given["given"][:2]
        at = self._handles.of(self_, place)
        if "token" in place:
            token = bytes.fromhex(place["token"])
            if place.get("reference"):
                handle = self._library.call("H5Rdereference2", at, 0, 0, token)
            else:
                room = (ctypes.c_ubyte * 16).from_buffer_copy(token)
                handle = self._library.call("H5Oopen_by_token", at, _Token(room))
        elif "at" in place:
            index = place["at"]
            handle = self._library.call(
                "H5Oopen_by_idx", at, place["name"].encode(), index["index"], index["order"],
                index["n"], self._list(place["lapl"]),
            )  # fmt: skip
        else:
            name = place.get("name", ".").encode()
            handle = self._library.call("H5Oopen", at, name, self._list(place.get("lapl")))
        self._opened(step, handle)

    def _attr_create(self, step: Step) -> None:
        self_, place, name, type_, space, acpl, aapl = step.given["given"][:7]
        at = self._handles.of(self_, place)
        what = (name.encode(), self._list(type_), self._list(space), self._list(acpl),
                self._list(aapl))  # fmt: skip
        if "name" in place:
            handle = self._library.call(
                "H5Acreate_by_name", at, place["name"].encode(), *what, self._list(place["lapl"])
            )
        else:
            handle = self._library.call("H5Acreate2", at, *what)
        self._opened(step, handle)

    def _attr_open(self, step: Step) -> None:
        self_, place, name, aapl = step.given["given"][:4]
        at = self._handles.of(self_, place)
        if "at" in place:
            index = place["at"]
            handle = self._library.call(
                "H5Aopen_by_idx", at, place["name"].encode(), index["index"], index["order"],
                index["n"], self._list(aapl), self._list(place["lapl"]),
            )  # fmt: skip
        elif "name" in place:
            handle = self._library.call(
                "H5Aopen_by_name", at, place["name"].encode(), name.encode(), self._list(aapl),
                self._list(place["lapl"]),
            )  # fmt: skip
        else:
            handle = self._library.call("H5Aopen", at, name.encode(), self._list(aapl))
        self._opened(step, handle)

    def _attr_write(self, step: Step) -> None:
        attribute = self._handles.of(step.given["given"][0], {"of": ATTRIBUTE})
        type_ = self._list(step.given["given"][1])
        elements = self.transfers.elements(step, type_)
        buffer = self.transfers.to_write(type_, elements, step.given.get("lengths"), 1.0)
        self._library.call("H5Awrite", attribute, type_, buffer)

    def _attr_read(self, step: Step) -> None:
        attribute = self._handles.of(step.given["given"][0], {"of": ATTRIBUTE})
        type_ = self._list(step.given["given"][1])
        buffer = ctypes.create_string_buffer(max(step.bytes, 1))
        self._library.call("H5Aread", attribute, type_, buffer)

    def _dataset_write(self, step: Step) -> None:
        self.transfers.make(step, "H5Dwrite")

    def _dataset_read(self, step: Step) -> None:
        self.transfers.make(step, "H5Dread")

    def _dataset_specific(self, step: Step) -> None:
        dataset = self._handles.of(step.given["given"][0], {"of": DATASET})
        if step.operation == 0:
            extent = step.given["extent"]
            self._library.call("H5Dset_extent", dataset, (ctypes.c_uint64 * len(extent))(*extent))
        else:
            self._library.call(("H5Dflush", "H5Drefresh")[step.operation - 1], dataset)

    def _file_specific(self, step: Step) -> None:
        self_, what = step.given["given"][:2]
        if what is None:
            raise LeftOutError(f"a replay does not make its operation {step.operation}")
        if "file" in what:
            function = "H5Fis_accessible" if step.operation == _IS_ACCESSIBLE else "H5Fdelete"
            file = self._files[what["file"]].encode()
            self._library.call(function, file, self._list(what["fapl"]))
            return
        self._library.call("H5Fflush", self._handles.of(self_, what), what["scope"])

    def _link_create(self, step: Step) -> None:
        what, self_, place, lcpl, lapl = step.given["given"][:5]
        lists = (self._list(lcpl), self._list(lapl))
        if what is None or self_ is None:
            raise LeftOutError("it is of a kind that no replay makes")
        at, name = self._handles.of(self_, place), place["name"].encode()
        if "class" in what:
            value = bytes.fromhex(what["value"])
            self._library.call(
                "H5Lcreate_ud", at, name, what["class"], value, ctypes.c_size_t(len(value)), *lists
            )
            return
        if "soft" in what:
            self._library.call("H5Lcreate_soft", what["soft"].encode(), at, name, *lists)
            return
        source = self._handles.of(what["hard"], what["place"])
        if "name" in what["place"]:
            old = what["place"]["name"].encode()
            self._library.call("H5Lcreate_hard", source, old, at, name, *lists)
        else:
            self._library.call("H5Olink", source, at, name, *lists)


class _Token(ctypes.Structure):
    """HDF5's H5O_token_t, which is given by value."""

    _fields_ = (("bytes", ctypes.c_ubyte * 16),)
