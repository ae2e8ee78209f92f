"""What became of what a program wrote: the summaries of its processes, in one sentence.

All is well where a layer took most of what it is for, and where a program wrote nothing.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from headrace.doctor.executable import find_embedded
from headrace.doctor.programs import hidden, is_too_old, newer_build, too_old
from headrace.units import size

# What is said of a layer that took too little of its share; shares of `log` are calls, those of
# `stripe` files.
_NOTHING: Final[Mapping[str, str]] = {
    "log": "the log layer logged none of {total} writes",
    "async": "the async layer wrote nothing behind the program",
    "async_filters": "the async layer compressed nothing",
    "stripe": "the stripe layer left {left} of {total} files whole",
}
_PART: Final[Mapping[str, str]] = {
    "async": "the async layer wrote only {taken} of {total} behind the program",
    "async_filters": "the async layer compressed only {taken} of {total} that its filters are for",
    "stripe": "the stripe layer left {left} of {total} files whole",
}
without_mpi: Final = "Headrace is installed without a module for the program's MPI"
mpi_remedy: Final = (
    "`pip install .` in Headrace's sources, with that MPI's mpicc in PATH, makes one"
)
_COUNTED: Final = ("log", "stripe")
mpi_logs_reason: Final = "left_for_mpi"
_ADDRESS: Final = "the program asked where the data lies in the file (H5Dget_offset and the like)"
_MEMORY: Final = "their buffers are in a GPU's memory, which is HDF5's to read and write"
_REASONS: Final[Mapping[tuple[str, str], str]] = {
    ("log", mpi_logs_reason): "files that ranks open together need mpi_logs, as in "
    "--stack 'log(mpi_logs=rank)'",
    ("log", "left_for_swmr"): "the files are open for SWMR",
    ("log", "left_for_ended"): "deleted links, mounted files and some other calls end logging",
    ("log", "left_for_dataset"): "compact, external and virtual datasets, those of variable-length "
    "or reference data, and those that get their name later (h5py's f[name] = data) are HDF5's",
    ("log", "left_for_address"): _ADDRESS,
    ("log", "left_for_room"): "the log and the data would not both have room",
    ("log", "left_for_rows"): "long rows, whole blocks and dense rows gain nothing from a log",
    ("log", "left_for_selection"): "HDF5 writes what they select itself",
    ("log", "left_for_conversion"): "HDF5 converts what they write itself",
    ("log", "left_for_memory"): _MEMORY,
    ("log", "left_for_several_files"): "each writes to several files",
    ("log", "left_for_transfer_list"): "their transfer property list may change data",
    ("log", "left_for_error"): "the log could not be written",
    ("async", "left_for_mpi"): "files that ranks open together need mpi_staging, as in "
    "--stack 'async(mpi_staging=true)'",
    ("async", "left_for_swmr"): "the files are open for SWMR",
    ("async", "left_for_budget"): "the budget is below 512KiB",
    ("async", "left_for_driver"): "the files use another driver than sec2 and mpio",
    ("async", "left_for_driver_below"): "the driver below does not let threads write",
    ("async", "left_for_address"): _ADDRESS,
    ("async", "left_for_descriptor"): "the program took the files' descriptors or began SWMR",
    ("async", "left_for_memory"): _MEMORY,
    ("async_filters", "left_for_memory"): _MEMORY,
    ("async_filters", "left_for_address"): _ADDRESS,
    ("async_filters", "left_for_selection"): "selections of up to a million pieces are taken over",
    ("async_filters", "left_for_conversion"): "only numbers are converted",
    ("async_filters", "left_for_transfer_list"): "the transfer property lists may change data",
    ("async_filters", "left_for_chunk_cache"): "parts of chunks larger than its chunk_cache",
    ("stripe", "left_for_address"): _ADDRESS,
    ("stripe", "left_for_place"): "no pieces can lie beside them",
    ("stripe", "left_for_user_block"): "programs write into user blocks past HDF5",
}


@dataclass(slots=True)
class _Share:
    taken: int = 0
    left: Counter[str] = field(default_factory=Counter)


def sentences(
    lines: Iterable[Mapping[str, Any]], told: Iterable[str] = (), *, mpi_logs: bool = False
) -> Iterator[str]:
    """What a user should know, nothing when all is well.

    `told` holds reasons that have been given before the program started; `mpi_logs` says that the
    log layer was to log over MPI.
    """
    refused: dict[str, Mapping[str, Any]] = {}
    opened = through = 0
    shares: defaultdict[str, _Share] = defaultdict(_Share)
    for line in lines:
        if line.get("event") == "refused":
            refused.setdefault(str(line["hdf5"]), line)
        elif line.get("event") == "summary":
            opened += int(line["opened"])
            through += int(line["through"])
            for name, numbers in line["layers"].items():
                share = shares[name]
                share.taken += numbers["taken"]
                share.left.update(numbers["left"])
    yield from (_refusal(os.path.normpath(path), line) for path, line in refused.items())
    if opened > 0 and through == 0:
        yield (
            "none of the program's files went through the layers: it gives them a connector of "
            "its own (H5Pset_vol)"
        )
    for name, share in list(shares.items()):
        if name != "async_filters" or share.left.total() >= shares["async"].taken / 2:
            yield from _of_layer(name, share, set(told), mpi_logs=mpi_logs)


def _of_layer(name: str, share: _Share, told: set[str], *, mpi_logs: bool) -> Iterator[str]:
    left = share.left.total()
    if left == 0 or left <= share.taken or (share.taken > 0 and name not in _PART):
        return
    reason = share.left.most_common(1)[0][0]
    if reason in told:
        return
    text = (_PART if share.taken > 0 else _NOTHING).get(name)
    if text is None:
        return
    told_as = "{:,}".format if name in _COUNTED else size
    shown = {
        "taken": told_as(share.taken),
        "left": told_as(left),
        "total": told_as(share.taken + left),
    }
    words = reason.removeprefix("left_for_").replace("_", " ")
    because = _REASONS.get((name, reason), words)
    if (name, reason) == ("log", mpi_logs_reason) and mpi_logs:
        because = f"{without_mpi}; {mpi_remedy}"
    yield f"{text.format(**shown)}: {because}"


def _refusal(path: str, line: Mapping[str, Any]) -> str:
    version = str(line["version"])
    if is_too_old(version):
        return too_old(path, version, _newer(path))
    embedded = find_embedded([Path(path)])
    if embedded and not embedded[0].exported:
        return hidden(path, embedded[0].version)
    return (
        f"{line['why']}: it runs natively, without any layer; a program that HDF5 is linked into "
        "statically must export all of it (-rdynamic -Wl,--whole-archive), or be linked with a "
        "shared libhdf5"
    )


def _newer(path: str) -> str:
    """A wheel's library lies in a folder that is named after its package."""
    for part in Path(path).parts:
        if part.endswith(".libs"):
            package = part.removesuffix(".libs")
            return f"install a newer {package} (`pip install --upgrade {package}`)"
    return newer_build
