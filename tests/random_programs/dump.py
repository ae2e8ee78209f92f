"""All that an HDF5 file holds, as JSON: what a plain reader finds when a program is over."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from random_programs.prelude import plain, target


def tried(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return f"fails: {type(error).__name__}"


def value(dset: h5py.Dataset) -> Any:
    read = dset[...] if dset.shape is not None else "empty"
    kind = dset.dtype
    if h5py.check_ref_dtype(kind) is not None:
        return [plain(tried(lambda r=r: target(dset.file, r))) for r in np.ravel(read)]  # type: ignore[misc]
    return plain(read)


def storage(dset: h5py.Dataset) -> dict[str, Any]:
    plist = dset.id.get_create_plist()
    chunks: list[Any] = []
    if dset.chunks is not None:
        dset.id.chunk_iter(chunks.append)
    return {
        "layout": plist.get_layout(),
        "chunks": dset.chunks,
        "filters": [plist.get_filter(i) for i in range(plist.get_nfilters())],
        "fill": [plain(dset.fillvalue), plist.fill_value_defined()],
        "times": [plist.get_alloc_time(), plist.get_fill_time()],
        # Not how many chunks: a copy has those, too, that HDF5 has only read, all fill values.
        "stored": [dset.id.get_storage_size() > 0, dset.id.get_space_status() > 0],
        # Not which chunks there are: HDF5 stores some for having read them from its cache.
        # Nor where LZF and its like (registered: above 255) gain nothing: docs/guide/async.md.
        "masks": all(plist.get_filter(i)[0] < 256 for i in range(plist.get_nfilters()))
        and sorted((c.chunk_offset, c.filter_mask) for c in chunks if c.filter_mask),
        "external": dset.external,
        "virtual": dset.is_virtual and dset.virtual_sources(),
    }


def described(thing: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "attributes": {
            name: plain(tried(lambda name=name: thing.attrs[name]))  # type: ignore[misc]
            for name in sorted(thing.attrs)
        }
    }
    if isinstance(thing, h5py.Datatype):
        made["type"] = repr(thing.dtype)
    if isinstance(thing, h5py.Dataset):
        made |= {"type": repr(thing.dtype), "shape": [thing.shape, thing.maxshape]}
        made["virtual"] = tried(lambda: thing.is_virtual)
        made["storage"] = tried(lambda: plain(storage(thing)))
        made["data"] = tried(lambda: value(thing))
    return made


def walk(group: h5py.Group, path: str, made: dict[str, Any]) -> None:
    for name in sorted(group):
        here = f"{path}{name}"
        made[here] = tried(lambda name=name: linked(group, name))  # type: ignore[misc]
        if isinstance(made[here], dict) and made[here].get("is") == "Group" and len(path) < 60:
            walk(group[name], f"{here}/", made)


def linked(group: h5py.Group, name: str) -> Any:
    link = name.encode()
    if group.id.links.get_info(link).type != h5py.h5l.TYPE_HARD:
        return str(group.id.links.get_val(link))
    thing = group[name]
    return {"is": type(thing).__name__, **described(thing)}


def of_file(path: Path) -> Any:
    """Opened as it was made; a file that cannot be opened must be so natively."""
    options: dict[str, Any] = {}
    name = str(path)
    if path.stem.endswith("0"):
        name, options = str(path.with_name(f"{path.stem[:-1]}%d.h5")), {"driver": "family"}
        options["memb_size"] = 0
    elif path.stem.endswith("h5-m"):
        name, options = str(path).removesuffix("-m.h5"), {"driver": "split"}
    try:
        with h5py.File(name, "r", **options) as file:
            made: dict[str, Any] = {"/": tried(lambda: described(file["/"]))}
            made["end"] = tried(lambda: walk(file, "/", made))
            return made
    except OSError:
        return "cannot be opened"


def of_folder(folder: Path) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        if re.fullmatch(r"[ab]0*[1-9]\d*\.h5", path.name):
            continue  # another member of a family, which may have more or fewer of them
        made[path.name] = None
        if path.suffix == ".raw":
            made[path.name] = plain(path.read_bytes())
        elif path.stem[-1:] in {"0", "a", "b", "m"} or path.stem.startswith("snapshot"):
            made[path.name] = of_file(path)
    return made
