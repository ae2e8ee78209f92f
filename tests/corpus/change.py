"""python -m corpus.change DEST FILE...   print the names of the files that open in h5py.

Into DEST, unless it is `-`, go altered copies of them.

What is altered: an attribute more at the root, a link less, and one element of each number array.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5t

BROKEN = {"damaged.h5", "truncated.h5"}  # walking through them is asking for trouble


def alter(file: h5py.File) -> None:
    def visit(_: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset) and found.size:
            numeric = found.id.get_type().get_class() in (h5t.INTEGER, h5t.FLOAT)
            if not numeric or found.is_virtual or found.external or found.chunks:
                return
            first = (0,) * found.ndim
            found[first] = np.array(found[first] == 0).astype(found.dtype)

    file.visititems(visit)
    file.attrs["only in the changed copy"] = 1
    names = list(file)
    if len(names) > 2:
        del file[names[1]]


def main(destination: Path | None, files: list[Path]) -> None:
    for path in files:
        try:
            h5py.File(path, "r").close()
            print(path.name)
            if destination is not None:
                shutil.copyfile(path, destination / path.name)
                if path.name not in BROKEN:
                    with h5py.File(destination / path.name, "r+") as file:
                        alter(file)
        except (OSError, RuntimeError, ValueError, TypeError):
            continue  # it does not open, or only for reading, or h5py lacks one of its types


if __name__ == "__main__":
    main(None if sys.argv[1] == "-" else Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
