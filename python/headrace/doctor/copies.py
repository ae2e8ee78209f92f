"""The copies of libhdf5 that a program has, and which versions can load our plug-ins."""

from dataclasses import dataclass

from headrace.doctor.programs import number_of


@dataclass(frozen=True, slots=True)
class Copy:
    """A libhdf5 in a process; None stands for what could not be found out."""

    path: str
    version: str | None
    initialised: bool | None = None
    parallel: bool | None = None
    threadsafe: bool | None = None

    def number(self) -> tuple[int, ...]:
        """The version to compare; empty when it is unknown."""
        return number_of(self.version)
