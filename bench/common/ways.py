"""How a case is run: the ways that are compared, and the stacks behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.bench import stacks
from headrace.bench.stacks import BenchStack, native
from headrace.plugins import load_catalogue


@dataclass(frozen=True)
class Way:
    """`layers` as `headrace bench --stack` has them; none for native HDF5."""

    name: str
    layers: str = native
    environ: Mapping[str, str] = field(default_factory=dict)
    peer: str = ""


NATIVE = Way(native)


class Stacks:
    """The stacks of what is installed, each checked once."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._catalogue = load_catalogue(environ)
        self._found: dict[str, BenchStack] = {}

    def of(self, way: Way) -> BenchStack:
        """The checked stack; raises HeadraceError."""
        if way.layers not in self._found:
            self._found[way.layers] = stacks.resolve(
                way.layers, None, self._environ, self._catalogue
            )
        return self._found[way.layers]
