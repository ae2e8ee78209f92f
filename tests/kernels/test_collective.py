"""Cases that are called collective are so, as HDF5 itself tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.prefix import Hdf5
from kernels.bench_tool import Bench

# More than HDF5's default conversion buffer of 1 MiB holds, where types are converted.
KERNELS: dict[str, tuple[object, ...]] = {
    "bdcats": ("--quick",),
    "cgns": ("--quick",),
    "hacc": ("--quick",),
    "ior": ("--quick",),
    "iotest": ("--quick",),
    "vpic": ("--quick", "--slow-particles", "64Ki", "--timesteps", 1),
}


@pytest.mark.parametrize("hdf5", ["1.14.5-openmpi", "2.2.0-mpich"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_collective_cases_are_collective(kernel: str, hdf5: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, Hdf5(hdf5), ranks=2)
    found = {
        sample["case"]: sample["parameters"].get("actual_io")
        for sample in bench.samples(kernel, *KERNELS[kernel])
    }
    expected = {case: "collective" if case.endswith("collective") else None for case in found}
    assert found == expected
    assert "collective" in found.values()


def test_a_serial_run_tells_nothing_of_it(serial: Bench) -> None:
    for sample in serial.samples("sw4", "--quick"):  # which asks for collective transfers always
        assert "actual_io" not in sample["parameters"]
