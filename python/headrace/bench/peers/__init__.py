"""Other ways to store the same array: what Headrace and HDF5 are measured against."""

import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headrace.bench.options import peers_kernel
from headrace.errors import HeadraceError
from headrace.measuring import programs

__all__ = ["PEERS", "Peer", "by_case", "command", "peers_kernel", "pnetcdf_program"]

pnetcdf_program: Final = "headrace-bench-pnetcdf"


@dataclass(frozen=True, slots=True)
class Peer:
    """A program of its own. `module` is of this package; none for one that is no Python."""

    name: str
    variants: tuple[str, ...]
    module: str = ""
    # What must be importable, and how one gets it.
    needs: tuple[str, ...] = ()
    install: str = ""
    # Runs on HDF5, and so under stacks.
    hdf5: bool = False

    def cases(self) -> tuple[str, ...]:
        """Names of its cases."""
        return tuple(f"{self.name}-{variant}" for variant in self.variants)

    def missing(self, *, on_disk: bool = False) -> str:
        """How to install what it lacks; empty when nothing is.

        With `on_disk` it has to synchronise files or to empty caches, too.
        """
        absent = [name for name in self.needs if importlib.util.find_spec(name) is None]
        if absent:
            return f"not installed: {', '.join(absent)}; {self.install}"
        if not self.module:
            try:
                programs.bench(None, pnetcdf_program)
            except HeadraceError:
                return f"not installed: {pnetcdf_program}; {self.install}"
            if on_disk:
                return "left out: it can neither --sync nor --drop-caches"
        return ""


PEERS: Final = (
    Peer("posix", ("contiguous",), "posix", ("numpy",), "pip install numpy"),
    Peer(
        "h5py",
        ("contiguous", "chunked", "gzip"),
        "hdf5",
        ("h5py",),
        "pip install h5py",
        hdf5=True,
    ),
    Peer(
        "hdf5plugin",
        ("blosc2-zstd",),
        "hdf5",
        ("h5py", "hdf5plugin"),
        "pip install h5py hdf5plugin",
        hdf5=True,
    ),
    Peer(
        "netcdf4",
        ("contiguous", "gzip"),
        "netcdf",
        ("netCDF4",),
        "pip install netCDF4",
        hdf5=True,
    ),
    Peer("zarr", ("chunked", "gzip"), "zarr_python", ("zarr",), "pip install zarr"),
    Peer("tensorstore", ("chunked", "gzip"), "zarr3", ("tensorstore",), "pip install tensorstore"),
    Peer(
        "pnetcdf",
        ("contiguous",),
        install="apt install libpnetcdf-dev, then build Headrace again",
    ),
)


def by_case(case: str) -> tuple[Peer, str]:
    """The peer of a case and the variant."""
    for peer in PEERS:
        for variant, name in zip(peer.variants, peer.cases(), strict=True):
            if name == case:
                return peer, variant
    raise KeyError(case)


def command(case: str, shape: Sequence[str], options: Sequence[str]) -> list[str]:
    """The command line of a case; `options` are those that only peers in Python understand."""
    peer, variant = by_case(case)
    if peer.module:
        start = [sys.executable, "-P", "-m", "headrace.bench.peers.child", case]
        return [*start, *shape, *options]
    return [str(programs.bench(None, pnetcdf_program)), "--layout", variant, *shape]
