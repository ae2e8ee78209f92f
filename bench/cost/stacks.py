"""What is counted: the stacks, the builds of HDF5, and how a process gets both."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from bench.common.ways import Stacks, Way

from headrace.bench.stacks import BenchStack, without_stack

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/dev"  # not stripped: functions have names
PLUGINS = BUILD / "lib/plugins"
PROGRAMS = BUILD / "bench/cost"

NATIVE, FLOOR = "native", "floor"
LAYERS = ("null", "async", "log", "cache", "tune", "trace", "stripe", "model", "fault")
COMBINED = ("tune,async", "async,log", "tune,async,log", "trace,async")
NAMES = (NATIVE, FLOOR, *LAYERS, *COMBINED)
# Layers whose own thread frees or joins what the program allocates, sooner or later.
VARYING = ("trace", "async")

# libc's functions for memory and strings that every x86-64 has: none whose instructions valgrind
# counts once for each byte (rep stosb, rep movsb), and the same on every machine.
PLAIN_MEMORY = "glibc.cpu.hwcaps=-ERMS,-FSRM,-AVX2,-AVX512F,-AVX512VL"

# All that a process has of the caller's environment, as getenv looks at each variable.
KEPT = ("PATH", "HOME")


# The files of the program have just been written.
JUST_WRITTEN = {"HEADRACE_CACHE_SETTLE": "0"}


@dataclass(frozen=True)
class Hdf5:
    """A build of the test matrix, such as 1.14.5-openmpi."""

    name: str

    @property
    def version(self) -> str:
        return self.name.partition("-")[0]

    @property
    def mpi(self) -> str:
        return self.name.partition("-")[2]

    @property
    def program(self) -> Path:
        return PROGRAMS / f"cost_ops_{self.mpi}"


HDF5S = (Hdf5("1.14.5-openmpi"), Hdf5("2.2.0-mpich"))


def varies(name: str) -> bool:
    """Whether two runs of the stack count differently, as a thread runs beside the program."""
    return any(layer in name.split(",") for layer in VARYING)


def planned(name: str) -> BenchStack | None:
    """The stack as it is installed; None for the floor. Raises HeadraceError."""
    if name == FLOOR:
        return None
    clean = without_stack(os.environ)
    return Stacks(clean).of(Way(name, name if name == NATIVE else name.replace(",", "+")))


def environment(name: str, stack: BenchStack | None, hdf5: Hdf5) -> dict[str, str]:
    """Of a process under the stack, with the plug-ins of this checkout's build."""
    clean = {each: os.environ[each] for each in KEPT} | {"GLIBC_TUNABLES": PLAIN_MEMORY}
    if stack is None:
        folder = PROGRAMS / f"floor_{hdf5.mpi}"
        return clean | {"HDF5_PLUGIN_PATH": str(folder), "HDF5_VOL_CONNECTOR": "cost_floor"}
    under = stack.environment(clean) | JUST_WRITTEN
    return under if name == NATIVE else under | {"HDF5_PLUGIN_PATH": str(PLUGINS)}
