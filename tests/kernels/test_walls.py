"""The walls hold a kernel's HDF5 calls, and nothing of what the harness does around them."""

from __future__ import annotations

from typing import Any

import pytest
from kernels.bench_tool import Bench
from kernels.test_all_kernels import KERNELS, options

# Large enough for making, filling and freeing the buffers to take longer than ALLOWED.
SIZES: dict[str, tuple[object, ...]] = {
    "amrex": ("--domain", 128, "--levels", 1, "--plotfiles", 1, "--only", "single-default"),
    "bdcats": ("--particles", "2Mi", "--timesteps", 1, "--only", "contiguous-*"),
    "cgns": ("--elements", "128Ki"),
    "e3sm": ("--quick",),
    "files": ("--openings", 50, "--files", 20),
    "h5py": ("--rows", "256Ki", "--block", "256Ki", "--only", "append-blocks"),
    "hacc": ("--particles", "1Mi"),
    "ior": ("--block", "64Mi", "--transfer", "64Mi", "--segments", 1),
    "iotest": ("--rows", 4096, "--columns", 2048, "--steps", 1, "--arrays", 1, "--one-case", 1),
    "metadata": ("--groups", 10, "--datasets", 50),
    "ml": ("--samples-count", 256, "--batch", 256, "--only", "contiguous-sample"),
    "sw4": ("--nx", 256, "--ny", 256, "--nz", 64, "--only", "checkpoint"),
    "vpic": ("--particles", "2Mi", "--timesteps", 1, "--only", "contiguous-*"),
}
READING = ("open", "read", "close_read")
ALLOWED = 0.25  # of a wall
LEAST = 0.005  # seconds
TRIES = 3  # a loaded machine stops a program anywhere, but not there each time


def outside(sample: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Each wall, and how much of it is in none of its phases."""
    longest = {name: times["max"] for name, times in sample["phases"].items()}
    read = sum(seconds for name, seconds in longest.items() if name in READING)
    write = sum(longest.values()) - read
    walls = {"write": sample["write_wall"], "read": sample["read_wall"]}
    return {
        side: (wall, wall - {"write": write, "read": read}[side]) for side, wall in walls.items()
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_walls_are_their_phases(kernel: str, serial: Bench) -> None:
    wrong: list[tuple[str, str, float, float]] = []
    for _ in range(TRIES):
        wrong = [
            (sample["case"], side, wall, other)
            for sample in serial.samples(kernel, *SIZES[kernel], *options(kernel))
            for side, (wall, other) in outside(sample).items()
            if not -1e-6 < other < max(ALLOWED * wall, LEAST)
        ]
        if not wrong:
            break
    assert not wrong


def test_a_short_case_is_done_until_it_has_taken_long_enough(serial: Bench) -> None:
    """The mean of the rounds is told: times, phases and bytes of one."""
    tiny = ("ior", "--block", "64Ki", "--transfer", "64Ki", "--segments", 1)
    (once,) = serial.samples(*tiny)
    (sample,) = serial.samples(*tiny, "--at-least", "20ms")
    assert once["rounds"] == 1
    assert sample["rounds"] > 1
    assert sample["bytes"] == once["bytes"]
    for wall in ("write_wall", "read_wall"):
        assert sample["rounds"] * sample[wall] >= 0.02 or sample["rounds"] == 200
    assert all(other < wall for wall, other in outside(sample).values())
    (sample,) = serial.samples("ior", "--block", "8Mi", "--segments", 4, "--at-least", "1ms")
    assert sample["rounds"] == 1
