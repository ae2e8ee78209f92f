"""python -m headrace.trace.replay.contents FILE...: what plain HDF5 reads, as a JSON object.

For each file, each of its objects and attributes: a digest of the type, the extent and the values.
"""

import hashlib
import json
import re
import sys
from typing import Final

import h5py
import numpy as np

_ADDRESS: Final = re.compile(" at 0x[0-9a-f]+")  # of Python's objects


def _digest(value: object) -> str:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = value.tobytes()
    else:
        data = _ADDRESS.sub("", repr(value)).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def _values(holder: h5py.Dataset | h5py.AttributeManager, name: str | None) -> str:
    try:
        return _digest(holder[()] if name is None else holder[name])
    except (OSError, TypeError) as error:  # a type that h5py has no word for
        return f"cannot be read: {error}"


def contents(file: str) -> dict[str, str]:
    """All of a file; OSError where it cannot be opened."""
    if not h5py.is_hdf5(file):  # a program may have asked for that
        return {"/": "no HDF5 file"}
    found: dict[str, str] = {}
    with h5py.File(file, "r") as opened:

        def visit(name: str, object_: h5py.HLObject) -> None:
            found[name] = type(object_).__name__
            if isinstance(object_, h5py.Dataset):
                found[name] += f" {object_.shape} {object_.dtype} {_values(object_, None)}"
            for attribute in object_.attrs:
                found[f"{name}@{attribute}"] = _values(object_.attrs, attribute)

        visit("/", opened["/"])
        opened.visititems(visit)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps({file: contents(file) for file in sys.argv[1:]}) + "\n")
