"""Where requests fall in a file: stripes of the storage, and many small ones for metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.trace.analysis.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.analysis.advice.data import COPIED, RAW
from headrace.trace.analysis.advice.process import BILLION, is_netcdf, is_python, lets_others_read
from headrace.trace.analysis.advice.rewriting import h5repack
from headrace.units import count, seconds, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from headrace.trace.model.seats import Seat

_STRIPE: Final = 1 << 20  # Lustre's, unless told
_LARGE: Final = 256 << 10
_SLOW: Final = 1e-3  # seconds a request, from which on it is no page cache that answers
_PAGE: Final = 64 << 10
_MANY: Final = 200


def alignment(seat: Seat) -> Iterator[Advice]:
    """Large requests that straddle stripes of a parallel file system."""
    raw = seat.requests
    large = (raw["type"] == RAW) & (raw["kind"] < 2) & (raw["length"] >= _LARGE)
    rows = np.flatnonzero(large & (raw["collective"] == 0))  # MPI aligns the others
    spent = raw["duration"][rows] / BILLION
    if not len(rows) or spent.mean() < _SLOW:
        return
    begin, length = raw["offset"][rows], raw["length"][rows]
    touched = (begin + length - 1) // _STRIPE - begin // _STRIPE + 1
    least = -(-length // _STRIPE)
    share = 1 - least / touched
    if (share > 0).mean() < 0.5:
        return
    worst = int(raw["file"][rows][int(np.argmax(spent * share))])
    command = h5repack(f"-t {_LARGE} -a {_STRIPE}", seat.storages[worst])
    yield Advice(
        "alignment",
        "all files",
        f"{count((share > 0).sum())} of {count(len(rows))} large requests straddle a stripe of "
        f"{size(_STRIPE)} more than they need to, and take {seconds(float(spent.mean()))} each",
        "Align what is large to stripes",
        Code(
            f"h5py.File(..., alignment_threshold={_LARGE}, alignment_interval={_STRIPE})",
            f"H5Pset_alignment(fapl, {_LARGE}, {_STRIPE})",
            f"in C nc_set_alignment({_LARGE}, {_STRIPE}) before the file is made",
        ).of(python=is_python(seat), netcdf=is_netcdf(seat))
        if (raw["kind"][rows] == 1).any()
        else command.text,
        float((spent * share).sum()),
        "the time of these requests times the share of stripes that would not be touched",
        f"a file of many objects just above {size(_LARGE)} becomes up to four times as large; "
        f"the stripe is taken to be {size(_STRIPE)}; {command.risk}",
    )


def metadata_blocks(seat: Seat) -> Iterator[Advice]:
    """Many small requests for metadata, which pages would hold together."""
    raw = seat.requests
    files = seat.process.files.values()
    parallel = any(each["parallel"] for each in files)
    rows = _of_metadata(seat)
    if not len(rows) or is_netcdf(seat) or lets_others_read(seat):
        return  # netCDF's library makes no such files, and SWMR takes none
    pairs = np.stack([raw["file"][rows], raw["offset"][rows] // _PAGE])
    opened, counts = np.unique(np.unique(pairs, axis=1)[0], return_counts=True)
    pages = int(counts.sum())
    after = pages * len(np.unique(raw["kind"][rows]))
    spent = float(raw["duration"][rows].sum()) / BILLION
    made = any(each.get("created", False) for each in files)
    code, risk = _blocks() if parallel else _pages(seat, opened, counts, made=made)
    yield Advice(
        "metadata_blocks",
        "all files",
        f"{count(len(rows))} requests of {size(raw['length'][rows].mean())} on average are for "
        f"metadata, in {count(pages)} pages of {size(_PAGE)}",
        "Make larger blocks of metadata"
        if parallel
        else "Keep metadata in pages, and pages in memory",
        code.of(python=is_python(seat)),
        (spent * max(1 - after / len(rows), 0) - after * _PAGE / COPIED) * (0.2 if parallel else 1),
        "the time of these requests, with one for each page instead, less that to copy the pages",
        f"such a file takes whole pages, and needs HDF5 1.10 or newer; {risk}",
    )


def _of_metadata(seat: Seat) -> NDArray[np.int64]:
    """Rows of the requests for metadata of files that have many, each time they are open."""
    raw = seat.requests
    rows = np.flatnonzero((raw["type"] != RAW) & (raw["type"] < 7) & (raw["kind"] < 2))
    _, places, counts = np.unique(raw["file"][rows], return_inverse=True, return_counts=True)
    found: NDArray[np.int64] = rows[counts[places] >= _MANY]
    return found


def _blocks() -> tuple[Code, str]:
    code = Code(
        "h5py.File(..., meta_block_size=1048576)",
        "H5Pset_meta_block_size(fapl, 1048576)",
    )
    return code, OTHER_FILE


def _pages(
    seat: Seat, opened: NDArray[np.int64], counts: NDArray[np.int64], *, made: bool
) -> tuple[Code, str]:
    """For files that the program makes, or those that are there; and what it says of others.

    `counts`: how many pages of each of the files are used, by their ids.
    """
    most = int(np.argmax(counts))
    command = h5repack(f"-S PAGE -G {_PAGE}", seat.storages[int(opened[most])])
    buffer = max(64 * _PAGE, 2 * int(counts[most]) * _PAGE)
    if not made:
        return Code(
            f"{command.text}, and h5py.File(..., page_buf_size={buffer}) of the new file",
            f"{command.text}, and H5Pset_page_buffer_size(fapl, {buffer}, 0, 0) for the new file",
        ), "no page buffer over MPI"
    return Code(
        f'h5py.File(..., fs_strategy="page", fs_page_size={_PAGE}, page_buf_size={buffer})',
        f"H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 0, 1), "
        f"H5Pset_file_space_page_size(fcpl, {_PAGE}), "
        f"H5Pset_page_buffer_size(fapl, {buffer}, 0, 0)",
    ), command.risk
