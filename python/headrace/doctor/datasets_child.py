"""Run as a script in a process of its own: what the async layer says of a file's datasets.

Prints a JSON list, one entry for each dataset.
"""

import contextlib
import importlib
import json
import sys
from typing import Any

import h5py

from headrace import filters
from headrace.operations.control import why_not

_LAYOUTS = {
    h5py.h5d.COMPACT: "compact",
    h5py.h5d.CONTIGUOUS: "contiguous",
    h5py.h5d.CHUNKED: "chunked",
    h5py.h5d.VIRTUAL: "virtual",
}


def datasets(file: str) -> list[dict[str, Any]]:
    """All of a file, each once, in the order of their names."""
    found: list[dict[str, Any]] = []

    def visit(_name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found.append(_told(item))

    with h5py.File(file, "r") as opened:
        opened.visititems(visit)
    return found


def _told(dataset: Any) -> dict[str, Any]:
    properties = dataset.id.get_create_plist()
    return {
        "dataset": dataset.name,
        "layout": _LAYOUTS.get(properties.get_layout(), "unknown"),
        "chunks": dataset.chunks,
        "filters": [_filter(properties, i) for i in range(properties.get_nfilters())],
        "why_not": why_not(dataset),
    }


def _filter(properties: Any, place: int) -> str:
    number, _, _, name = properties.get_filter(place)
    first = name.decode(errors="replace").partition(";")[0]
    return filters.names.get(number) or f"{first or 'unknown'} ({number})"


def main() -> None:
    """Answers on standard output."""
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")  # registers filters
    try:
        answer: dict[str, Any] = {"datasets": datasets(sys.argv[1])}
    except OSError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
