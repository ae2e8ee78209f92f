"""Copies of whole files between containers of the layer `object` and plain HDF5 files."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import TYPE_CHECKING, Any

from headrace import stores
from headrace.errors import FileError
from headrace.inprocess import enable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def copy_file(source: Path, target: Path, store: Path, *, to_container: bool) -> None:
    """Copies a container to a plain HDF5 file, or such a file to a container.

    HDF5 must not have been started in this process: the layer is put under it. Chunks are copied
    as they are stored, and references to objects lead to the copies.

    Args:
        source: A plain file, or the stub of a container.
        target: What is made. It gets this name when it is whole.
        store: The folder of the container's store.
        to_container: Whether the target is the container.

    Raises:
        FileError: The copy cannot be made, or there is a file of the target's name.
    """
    enable("object", object_store=str(store.absolute()))
    try:
        import h5py  # noqa: PLC0415, it starts HDF5
    except ImportError:
        raise FileError("copies are made by h5py, which is not installed") from None
    with contextlib.suppress(ImportError):
        import hdf5plugin  # noqa: F401, PLC0415, it has filters
    try:
        with h5py.File(source, "r") as old, _new(h5py, old, target, to_container) as new:
            h5py.h5o.copy(old.id, b"/", new.id, b"/")
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        raise FileError(f"copying {source} to {target}: {error}") from error


@contextlib.contextmanager
def _new(h5py: Any, old: Any, target: Path, to_container: bool) -> Iterator[Any]:
    """A file that gets the target's name when it is whole: a killed copy leaves none of it."""
    if os.path.lexists(target):
        raise FileError(f"{target} is there: file exists")
    creation = old.id.get_create_plist()
    creation.set_userblock(0)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if not to_container:
        access.set_fapl_stdio()  # a file with another driver than usual is left to HDF5
    half = target.with_name(f".headrace-cp-{uuid.uuid4().hex}")
    file = h5py.File(h5py.h5f.create(bytes(half), h5py.h5f.ACC_EXCL, creation, access))
    try:
        yield file
        file.close()
        _rename(half, target)
    except BaseException:
        file.close()
        has_name = half.exists() and target.exists() and half.samefile(target)
        if to_container and half.exists() and not has_name:
            stores.ask("rm", half)
        else:
            half.unlink(missing_ok=True)
        raise
    if to_container:
        h5py.File(target, "r+").close()  # the store gets to know the name


def _rename(half: Path, target: Path) -> None:
    """Replaces no file that was made meanwhile, where the file system has hard links."""
    try:
        target.hardlink_to(half)
    except FileExistsError:
        raise FileError(f"{target} is there: file exists") from None
    except OSError:
        half.rename(target)
    else:
        half.unlink()
