"""All runs in their order, those that fail included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from headrace.bench import jobs

from .evidence import RunError
from .ways import Way


class Case(Protocol):
    """A workload with its parameters, and the ways that are compared in it."""

    @property
    def kernel(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def ranks(self) -> int: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def ways(self) -> Sequence[Way]: ...


Given = TypeVar("Given", bound=Case)
Taken_contra = TypeVar("Taken_contra", bound=Case, contravariant=True)


class Runner(Protocol[Taken_contra]):
    """Makes one run of a case; RunError and OSError are results."""

    def sample(self, case: Taken_contra, way: Way) -> dict[str, Any]: ...

    def forget(self) -> None: ...


def measure(
    runner: Runner[Given], chosen: Sequence[Given], repeats: int, warmup: int
) -> Iterator[dict[str, Any]]:
    """The record of each run, of those that fail, too: case by case, its ways in turns."""
    for case in chosen:
        ways = {way.name: way for way in case.ways}
        whole = [(jobs.Case(case.kernel, case.name, case.ranks), tuple(ways))]
        for job in jobs.schedule(whole, repeats, warmup):
            record: dict[str, Any] = {
                "kernel": case.kernel, "case": case.name, "stack": job.stack, "ranks": case.ranks,
                "repeat": job.repeat, "warmup": job.warmup, "layers": ways[job.stack].layers,
                "parameters": case.parameters,
            }  # fmt: skip
            try:
                record |= runner.sample(case, ways[job.stack])
            except (RunError, OSError) as error:
                record["error"] = str(error)
            yield record
        runner.forget()
