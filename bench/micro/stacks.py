"""The configurations that are compared, each as the environment that makes HDF5 use it."""

from __future__ import annotations

from dataclasses import dataclass, field


def _null(seat: str, under: str = "under_vol=0;under_info={}") -> str:
    return f"seat={seat};{under}"


def _null_times(count: int) -> str:
    info = _null("vol")
    for _ in range(count - 1):
        info = _null("vol", f"under_vol=7200;under_info={{{info}}}")
    return info


@dataclass(frozen=True)
class Stack:
    """One configuration. `seats` are those in which Headrace must turn out to have worked."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    seats: frozenset[str] = frozenset()
    connector: str = "native"  # what HDF5 must name as the connector of a file


NATIVE = Stack("native")
# HDF5's own sample connector: what any layer costs because of HDF5's side of the interface.
SAMPLE = Stack(
    "pass_through",
    {"HDF5_VOL_CONNECTOR": "pass_through under_vol=0;under_info={}"},
    connector="pass_through",
)
STACKS = (
    NATIVE,
    Stack(
        "vol",
        {"HDF5_VOL_CONNECTOR": f"headrace_null {_null('vol')}"},
        frozenset({"vol"}),
        "headrace_null",
    ),
    Stack("vfd", {"HDF5_DRIVER": "headrace_null"}, frozenset({"vfd"})),
    Stack(
        "both",
        {"HDF5_VOL_CONNECTOR": f"headrace_null {_null('both')}"},
        frozenset({"vol", "vfd"}),
        "headrace_null",
    ),
    Stack(
        "vol x3",
        {"HDF5_VOL_CONNECTOR": f"headrace_null {_null_times(3)}"},
        frozenset({"vol"}),
        "headrace_null",
    ),
    SAMPLE,
)
