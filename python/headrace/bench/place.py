"""On what a run measures: figures of other storage or another libhdf5 are not added to it."""

import datetime
import hashlib
from pathlib import Path
from typing import Any, Final

from headrace.bench import privacy
from headrace.bench.atomic import ResultsError
from headrace.measuring import machine
from headrace.measuring.programs import Library

_NAMES: Final = {
    "data": "--dir",
    "data_digest": "--dir",
    "file_system": "the file system of the data",
    "device": "the device of the data",
    "hdf5": "the version of libhdf5",
    "hdf5_bytes": "the size of libhdf5's file",
    "hdf5_modified": "the time of libhdf5's file",
}


def describe(data: Path, folder: Path, library: Library | None) -> dict[str, Any]:
    """Of the data's folder, which exists, and the library; nothing that must not be published."""
    storage = machine.storage(data)
    own = data == folder / "data"  # the results may have been moved
    place = {
        "data": "" if own else privacy.last_part(str(data)),
        "data_digest": "" if own else hashlib.sha256(str(data.resolve()).encode()).hexdigest(),
        "file_system": storage["file_system"],
        "device": storage.get("device", ""),
    }
    if library is not None:
        stat = library.file.stat()
        modified = datetime.datetime.fromtimestamp(stat.st_mtime, datetime.UTC)
        place |= {
            "hdf5": library.version,
            "hdf5_bytes": stat.st_size,
            "hdf5_modified": modified.isoformat(),
        }
    return place


def check(folder: Path, earlier: dict[str, Any], now: dict[str, Any]) -> None:
    """ResultsError tells what is not as it was when the run in `folder` began."""
    for name, text in _NAMES.items():
        old, new = earlier.get(name), now.get(name)
        if old != new:
            values = "is another one" if name == "data_digest" else f"was {old!r}, is {new!r}"
            raise ResultsError(
                f"{folder} cannot be resumed, results would be mixed: {text} {values}"
            )
