"""The kernel `cgns`: prisms and their solution in a CGNS file."""

from __future__ import annotations

import h5py
from kernels.bench_tool import Bench, bits, double_at, h5dump_header, key_of, same_as_golden

QUICK = ("--elements", "1000")
LENGTH = 6 * 1000  # of each array, per rank
ZONE = "Base 1/Zone 1"
REAL = [
    *(f"{ZONE}/GridCoordinates/Coordinate{axis}" for axis in "XYZ"),
    *(f"{ZONE}/Solution/Momentum{axis}" for axis in "XYZ"),
    f"{ZONE}/User Data/ArrayR",
]
INTEGER = [f"{ZONE}/Elements/ElementConnectivity", f"{ZONE}/User Data/ArrayI"]


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("cgns", *QUICK, "--keep")
    ranks = max(1, bench.ranks)
    modes = ("independent", "collective")[:ranks]
    assert [each["case"] for each in samples] == [
        f"{calls}-{mode}" for calls in ("single", "multi") for mode in modes
    ]
    length = LENGTH * ranks
    for sample in samples:
        assert sample["bytes"]["written"] == 9 * 8 * length
        with h5py.File(bench.kept("cgns", sample["case"]) / "data.h5") as file:
            assert file[f"{ZONE}/ data"][:].tolist() == [[length], [length // 6], [0]]
            for path in REAL + INTEGER:
                data = file[f"{path}/ data"][:]
                assert len(data) == length
                key = key_of(path)
                for index in (0, 1, LENGTH - 1, LENGTH % length, length - 1):
                    if path in REAL:
                        assert data[index] == double_at(key, index)
                    else:
                        assert int(data[index]) & (2**64 - 1) == bits(key, index)


def test_nodes_are_those_of_cgns(serial: Bench) -> None:
    """Names, labels and types of all nodes, in the order of their making."""
    serial.samples("cgns", *QUICK, "--keep", "--only", "single-independent")
    found: list[tuple[str, str, str]] = []

    def note(name: str, node: h5py.Group | h5py.Dataset) -> None:
        if isinstance(node, h5py.Group):
            assert node.attrs["name"].decode() == name.rsplit("/", 1)[-1]
            found.append((name, node.attrs["label"].decode(), node.attrs["type"].decode()))
            assert (" data" in node) == (node.attrs["type"] != b"MT")

    with h5py.File(serial.kept("cgns", "single-independent") / "data.h5") as file:
        assert file.attrs["label"] == b"Root Node of HDF5 File"
        file.visititems(note)
        kind = file[f"{ZONE}/ZoneType/ data"][:].tobytes()
        elements = file[f"{ZONE}/Elements/ data"][:].tolist()
    assert kind == b"Unstructured"
    assert elements == [14, 0]  # PENTA_6
    assert sorted(found) == sorted(
        [
            ("CGNSLibraryVersion", "CGNSLibraryVersion_t", "R4"),
            ("Base 1", "CGNSBase_t", "I4"),
            (ZONE, "Zone_t", "I8"),
            (f"{ZONE}/ZoneType", "ZoneType_t", "C1"),
            (f"{ZONE}/GridCoordinates", "GridCoordinates_t", "MT"),
            (f"{ZONE}/Elements", "Elements_t", "I4"),
            (f"{ZONE}/Elements/ElementRange", "IndexRange_t", "I8"),
            (f"{ZONE}/Solution", "FlowSolution_t", "MT"),
            (f"{ZONE}/User Data", "UserDefinedData_t", "MT"),
            *((path, "DataArray_t", "R8") for path in REAL),
            *((path, "DataArray_t", "I8") for path in INTEGER),
        ]
    )


def test_the_layout(serial: Bench) -> None:
    serial.samples("cgns", *QUICK, "--keep", "--only", "single-independent")
    file = serial.kept("cgns", "single-independent") / "data.h5"
    same_as_golden("cgns.txt", h5dump_header(file))


def test_wrong_data_are_found(serial: Bench) -> None:
    only = ("--only", "multi-independent")
    serial.samples("cgns", *QUICK, *only, "--keep")
    with h5py.File(serial.kept("cgns", "multi-independent") / "data.h5", "r+") as file:
        file[f"{INTEGER[1]}/ data"][5999] += 1
    reread = serial.start("cgns", *QUICK, *only, "--reread")
    assert reread.status == 1
    assert f"wrong data in {INTEGER[1]}, element 5999" in reread.text


def test_wrong_options_are_told(serial: Bench) -> None:
    for value, message in (("0", "--elements"), ("2000Gi", "--elements is too large")):
        done = serial.start("cgns", "--elements", value)
        assert done.status == 2, done.text
        assert message in done.text
