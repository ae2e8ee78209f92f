"""What plain HDF5 reads of files: `python -m bench.tune.contents FOLDER`, digests by dataset."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import h5py


def main(folder: str) -> None:
    found: dict[str, str] = {}
    for file in sorted(each for each in Path(folder).iterdir() if each.suffix in (".h5", ".nc")):
        with h5py.File(file) as opened:

            def note(name: str, each: object, file: str = file.name) -> None:
                if isinstance(each, h5py.Dataset):
                    found[f"{file}:{name}"] = hashlib.sha256(each[()].tobytes()).hexdigest()

            opened.visititems(note)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
