"""Where requests fall in a file: stripes of the storage, and many small ones for metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from headrace.bench.units import count, seconds, size
from headrace.trace.advice.advice import OTHER_FILE, Advice, Code
from headrace.trace.advice.evidence import BILLION, RAW, is_python

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headrace.trace.advice.evidence import Run

_STRIPE: Final = 1 << 20  # Lustre's, unless told
_LARGE: Final = 256 << 10
_SLOW: Final = 1e-3  # seconds a request, from which on it is no page cache that answers
_PAGE: Final = 64 << 10
_MANY: Final = 200


def alignment(run: Run) -> Iterator[Advice]:
    """Large requests that straddle stripes of a parallel file system."""
    for seat in run.trace.seats:
        raw = seat.requests
        large = (raw["type"] == RAW) & (raw["kind"] < 2) & (raw["length"] >= _LARGE)
        rows = np.flatnonzero(large & (raw["collective"] == 0))  # MPI aligns the others
        spent = raw["duration"][rows] / BILLION
        if not len(rows) or spent.mean() < _SLOW:
            continue
        begin, length = raw["offset"][rows], raw["length"][rows]
        touched = (begin + length - 1) // _STRIPE - begin // _STRIPE + 1
        least = -(-length // _STRIPE)
        share = 1 - least / touched
        if (share > 0).mean() < 0.5:
            continue
        yield Advice(
            "alignment",
            "all files",
            f"{count((share > 0).sum())} of {count(len(rows))} large requests straddle a stripe of "
            f"{size(_STRIPE)} more than they need to, and take {seconds(float(spent.mean()))} each",
            "Align what is large to stripes",
            Code(
                f"h5py.File(..., alignment_threshold={_LARGE}, alignment_interval={_STRIPE})",
                f"H5Pset_alignment(fapl, {_LARGE}, {_STRIPE})",
            ).of(python=is_python(seat)),
            float((spent * share).sum()),
            "the time of these requests times the share of stripes that would not be touched",
            f"a file of many objects just above {size(_LARGE)} becomes up to four times as large; "
            f"the stripe is taken to be {size(_STRIPE)}; {OTHER_FILE}",
        )


def metadata_blocks(run: Run) -> Iterator[Advice]:
    """Many small requests for metadata, which pages would hold together."""
    for seat in run.trace.seats:
        raw = seat.requests
        rows = np.flatnonzero((raw["type"] != RAW) & (raw["type"] < 7) & (raw["kind"] < 2))
        parallel = any(each["parallel"] for each in seat.process.files.values())
        if len(rows) < _MANY:
            continue
        pages = len(
            np.unique(np.stack([raw["file"][rows], raw["offset"][rows] // _PAGE]), axis=1)[0]
        )
        each_kind = 2 if len(np.unique(raw["kind"][rows])) > 1 else 1
        after = pages * each_kind
        spent = float(raw["duration"][rows].sum()) / BILLION
        yield Advice(
            "metadata_blocks",
            "all files",
            f"{count(len(rows))} requests of {size(raw['length'][rows].mean())} on average are for "
            f"metadata, in {count(pages)} pages of {size(_PAGE)}",
            "Make larger blocks of metadata"
            if parallel
            else "Keep metadata in pages, and pages in memory",
            Code(
                "h5py.File(..., meta_block_size=1048576)",
                "H5Pset_meta_block_size(fapl, 1048576)",
            ).of(python=is_python(seat))
            if parallel
            else Code(
                f'h5py.File(..., fs_strategy="page", fs_page_size={_PAGE}, '
                f"page_buf_size={max(64 * _PAGE, 2 * pages * _PAGE)})",
                f"H5Pset_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_PAGE, 0, 1), "
                f"H5Pset_file_space_page_size(fcpl, {_PAGE}), H5Pset_page_buffer_size(fapl, …)",
            ).of(python=is_python(seat)),
            spent * max(1 - after / len(rows), 0) * (0.2 if parallel else 1),
            "the time of these requests, with one for each page instead",
            f"such a file takes whole pages, and needs HDF5 1.10 or newer; {OTHER_FILE}",
        )
