"""Calls that copy, move and commit: how each is made, by HDF5's callback."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.trace.replay.hdf5.handles import Handles
    from headrace.trace.replay.hdf5.library import Library
    from headrace.trace.replay.step import Step

    Decode = Callable[[Any], int]  # of an id that was recorded
    Change = Callable[[Library, Handles, Step, Decode], None]


def _commit(library: Library, handles: Handles, step: Step, decode: Decode) -> None:
    self_, place, name, type_, *given = step.given["given"][:7]
    at, lists = handles.of(self_, place), [decode(each) for each in given]
    committed = library.call("H5Tcopy", decode(type_))
    if name is None:
        library.call("H5Tcommit_anon", at, committed, *lists[1:])
    else:
        library.call("H5Tcommit2", at, name.encode(), committed, *lists)
    handles.add(step.key, committed)


def _copy(library: Library, handles: Handles, step: Step, decode: Decode) -> None:
    source, from_, old, target, to, new, *given = step.given["given"][:8]
    library.call(
        "H5Ocopy", handles.of(source, from_), old.encode(), handles.of(target, to), new.encode(),
        *(decode(each) for each in given),
    )  # fmt: skip


def _link(library: Library, handles: Handles, step: Step, decode: Decode, *, function: str) -> None:
    """A program may name one of both places; that is where the other is, too."""
    source, from_, target, to, *given = step.given["given"][:6]
    at = [handles.of(each or target or source, from_ if each is source else to)
          for each in (source, target)]  # fmt: skip
    library.call(
        function, at[0], from_["name"].encode(), at[1], to["name"].encode(),
        *(decode(each) for each in given),
    )  # fmt: skip


CHANGES: Final[dict[str, Change]] = {
    "datatype_commit": _commit,
    "link_copy": partial(_link, function="H5Lcopy"),
    "link_move": partial(_link, function="H5Lmove"),
    "object_copy": _copy,
}
