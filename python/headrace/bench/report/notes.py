"""What a reader has to know about the cases of a kernel."""

from collections.abc import Sequence
from typing import Final

from headrace.bench.summary import Row

_E3SM: Final = (
    "Cases called requests build selections as E3SM-IO itself does, one H5S_SELECT_OR for each "
    "request: they tell what an unmodified E3SM-IO gains or loses. It spends much of its time in "
    "that, and no layer below HDF5 can save it. In canonical, multi and boxes the same data are "
    "selected by unions that are built well, or by arrays of boxes: they tell what the I/O itself "
    "gains, in a program that builds its selections so."
)
_MADE_UP: Final = (
    "The maps were made up, with as many runs of the same lengths as E3SM-IO's: --data FOLDER "
    "takes the real ones."
)


def of(kernel: str, rows: Sequence[Row]) -> list[str]:
    """Paragraphs to put before its figures."""
    if kernel != "e3sm":
        return []
    made_up = any(row.parameters.get("data") == "made up" for row in rows)
    return [_E3SM, *([_MADE_UP] if made_up else [])]
