"""The kernel `e3sm`: history files in the real decompositions of a climate model."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from harness.prefix import ROOT, Hdf5
from kernels.bench_tool import (
    Bench,
    bits,
    double_at,
    float_at,
    h5dump_header,
    key_of,
    same_as_golden,
)

DATA = ROOT.parent / "shared/data/e3sm"
HEADER = {"f": DATA / "f_case_h0.txt", "g": DATA / "g_case_hist.txt"}
TYPES = {"char": "S1", "int": "i4", "float": "f4", "double": "f8"}
# The sizes of the maps; for case g other than the header's.
SIZES = {
    "f": {"ncol": 866, "lev": 72, "ilev": 73, "nbnd": 2, "chars": 8},
    "g": {
        "nCells": 285,
        "nEdges": 879,
        "nVertices": 593,
        "nVertLevels": 100,
        "nVertLevelsP1": 101,
        "StrLen": 64,
    },
}
BYTES = {"f": 16849048, "g": 8296404}


def declared(which: str) -> dict[str, tuple[str, list[str]]]:
    """Type and dimensions of each variable, read from the header with nothing but a pattern."""
    found = re.findall(
        r"^\t(char|int|float|double) (\w+)(?:\(([\w, ]*)\))? ;$", HEADER[which].read_text(), re.M
    )
    return {name: (kind, dims.split(", ") if dims else []) for kind, name, dims in found}


def check_values(name: str, data: Any, kind: str, where: list[int]) -> None:
    key = key_of(name)
    flat = data.reshape(-1)
    for index in where:
        if kind == "char":
            assert flat[index].ljust(1, b"\0")[0] == bits(key, index) & 0xFF
        elif kind == "int":
            assert int(flat[index]) & 0xFFFFFFFF == bits(key, index) & 0xFFFFFFFF
        else:
            value = double_at if kind == "double" else float_at
            assert flat[index] == value(key, index), (name, index)


def check_file(path: Path, which: str, records: int) -> None:
    variables = declared(which)
    assert len(variables) == {"f": 414, "g": 52}[which]
    total = 0
    with h5py.File(path) as file:
        assert set(file) == set(variables)
        for name, (kind, dims) in variables.items():
            record = bool(dims) and dims[0].lower() == "time"
            inner = [SIZES[which][each] for each in dims[record:]]
            data = file[name]
            assert data.dtype == TYPES[kind]
            assert data.shape == (*[records] * record, *inner)
            assert data.chunks == ((1, *inner) if record else None)
            size = int(np.prod(data.shape))
            total += data.nbytes
            step = max(1, size // 5)
            check_values(name, data[()], kind, [*range(0, size, step), size - 1])
    assert total == BYTES[which] if records == 1 else total > BYTES[which]


@pytest.mark.parametrize("which", ["f", "g"])
def test_a_plain_reader_finds_the_data(bench: Bench, which: str) -> None:
    modes = ("independent", "collective")[: max(1, bench.ranks)]
    kinds = ("canonical", "requests", "multi") if which == "g" else ("canonical", "multi")
    cases = [f"{which}-{calls}-{mode}" for calls in kinds for mode in modes]
    cases.append(f"{which}-boxes-independent")
    if which == "f" and bench.ranks:  # it takes seconds
        cases = ["f-multi-independent"]
    for case in cases:
        (sample,) = bench.samples("e3sm", "--data", DATA, "--case", which, "--only", case, "--keep")
        assert sample["parameters"]["logical_ranks"] == 16
        assert sample["bytes"]["written"] == BYTES[which]
        check_file(bench.kept("e3sm", case) / "data.h5", which, records=1)


def test_the_cases(bench: Bench) -> None:
    listed = bench.start("e3sm", "--data", DATA, "--list")
    assert listed.status == 0, listed.text
    modes = ("independent", "collective")[: max(1, bench.ranks)]
    assert re.findall(r'"case":"(\w+-[\w-]+)"', listed.text) == [
        f"{which}-{calls}-{mode}"
        for which in "fg"
        for calls in ("canonical", "requests", "multi", "boxes")
        for mode in modes
        if (calls, mode) != ("boxes", "collective")
    ]


def test_records_are_appended(bench: Bench) -> None:
    arguments = ("--data", DATA, "--case", "g", "--records", 2, "--only", "g-canonical*", "--keep")
    for sample in bench.samples("e3sm", *arguments):
        check_file(bench.kept("e3sm", sample["case"]) / "data.h5", "g", records=2)


def requests_of_g() -> dict[tuple[int, ...], int]:
    """By the shape of a map of case g: the pieces of rows that its ranks own, all together."""
    counts = {}
    with netCDF4.Dataset(DATA / "map_g_case_16p.nc") as maps:
        for number in range(1, 7):
            shape = tuple(np.atleast_1d(maps.getncattr(f"D{number}.dims")).tolist())
            ends = np.cumsum(maps[f"D{number}.nreqs"][:])[:-1]
            offsets, lengths = (maps[f"D{number}.{name}"][:] for name in ("offsets", "lengths"))
            counts[shape] = 0
            for first, long in zip(np.split(offsets, ends), np.split(lengths, ends), strict=True):
                order = np.argsort(first)
                begin, end = first[order], (first + long)[order]
                apart = (begin[1:] != end[:-1]) | (begin[1:] % shape[-1] == 0)
                counts[shape] += 1 + int(np.sum(apart))
    return counts


def unions(serial: Bench, case: str, *data: object) -> int:
    """How often a case calls H5Sselect_hyperslab with H5S_SELECT_OR to write its variables."""
    shim = serial.folder / "selections.so"
    source = Path(__file__).with_name("count_selections.c")
    subprocess.run(["/usr/bin/cc", "-shared", "-fPIC", "-o", shim, source], check=True)
    library = serial.hdf5.prefix / "lib/libhdf5.so"
    told = serial.folder / case
    environ = {"LD_PRELOAD": str(shim), "LIBHDF5": str(library), "SELECTIONS": str(told)}
    bench = dataclasses.replace(serial, environ=environ)
    done = bench.start("e3sm", *data, "--no-read", "--only", case)
    assert done.status == 0, done.text
    return int(told.read_text())


def test_requests_are_selected_as_e3sm_io_does(serial: Bench) -> None:
    """One H5S_SELECT_OR for each request, but for the first of a variable and rank."""
    known = requests_of_g()
    inner = [[d for d in dims if d != "Time"] for _, dims in declared("g").values()]
    shapes = [tuple(SIZES["g"][dim] for dim in dims) for dims in inner]
    expected = sum(known[shape] - 16 for shape in shapes if shape in known)
    assert unions(serial, "g-requests-independent", "--data", DATA) == expected
    assert unions(serial, "g-canonical-independent", "--data", DATA) == 0


@pytest.mark.parametrize("case", ["f-requests-independent", "g-canonical-independent"])
def test_selections_appended_one_by_one_are_the_same(serial: Bench, case: str) -> None:
    arguments = ("--data", DATA, "--only", case, "--selections", "append", "--keep")
    (sample,) = serial.samples("e3sm", *arguments)
    assert sample["parameters"]["selections"] == "append"
    check_file(serial.kept("e3sm", case) / "data.h5", case[0], records=1)


def test_without_data_maps_are_made_up(serial: Bench) -> None:
    """As many variables, bytes and, but for a tenth, requests as the real ones have."""
    listed = {}
    for data in ([], ["--data", DATA]):
        done = serial.start("e3sm", "--list", "--only", "*-boxes-*", *data)
        assert done.status == 0, done.text
        cases = [json.loads(line) for line in done.out.splitlines()]
        listed[bool(data)] = [(c["case"], c["parameters"]["variables"], c["bytes"]) for c in cases]
    assert listed[False] == listed[True]
    for which in "fg":
        case = f"{which}-requests-independent"
        real = unions(serial, case, "--data", DATA)
        assert unions(serial, case) == pytest.approx(real, rel=0.1)
    samples = serial.samples("e3sm", "--only", "*-canonical-*")
    assert {sample["parameters"]["data"] for sample in samples} == {"made up"}


@pytest.mark.parametrize(("ranks", "only"), [(3, "g-multi*"), (17, "g-multi-collective")])
def test_any_number_of_processes(tmp_path: Path, ranks: int, only: str) -> None:
    """Also such that do not divide the logical ranks, and more than them."""
    bench = Bench(tmp_path, Hdf5("1.14.5-openmpi"), ranks=ranks)
    for sample in bench.samples("e3sm", "--data", DATA, "--only", only, "--keep"):
        check_file(bench.kept("e3sm", sample["case"]) / "data.h5", "g", records=1)


def test_attributes_are_those_of_the_header(serial: Bench) -> None:
    serial.samples("e3sm", "--data", DATA, "--only", "*canonical*", "--keep")
    pattern = re.compile(r"^\t\t(\w*):(\w+) = (.*) ;$", re.M)
    for which in "fg":
        counts: Counter[str] = Counter()
        with h5py.File(serial.kept("e3sm", f"{which}-canonical-independent") / "data.h5") as file:
            for owner, name, text in pattern.findall(HEADER[which].read_text()):
                value = (file[owner] if owner else file).attrs[name]
                counts[owner] += 1
                if text.startswith('"'):
                    expected = text[1:-1].replace("\\'", "'").replace('\\"', '"')
                    assert value.decode() == expected
                else:
                    suffix = text.endswith("f")
                    kind = "f4" if suffix else "f8" if re.search("[.e]", text) else "i4"
                    assert value.dtype == kind
                    assert value.tolist() == [np.dtype(kind).type(text.removesuffix("f"))]
            for owner, count in counts.items():
                dimensions = len(SIZES[which]) + 1
                if owner:
                    assert len(file[owner].attrs) == count
                else:  # one of them spans several lines, and is not among those found
                    assert len(file.attrs) == count + dimensions + (which == "g")
            if which == "g":
                lines = b"rz1tbn0bed\n555vk5hkh9\n0s1lcmezuy\n7z1uysqc5i\nwj661vqvze"
                assert file.attrs["parent_id"] == lines
                assert file.attrs["_DIM_nCells"] == 285
                assert file.attrs["_DIM_Time"] == 2**64 - 1


def test_the_layout(serial: Bench) -> None:
    serial.samples("e3sm", "--data", DATA, "--only", "g-canonical*", "--keep")
    header = h5dump_header(serial.kept("e3sm", "g-canonical-independent") / "data.h5")
    same_as_golden("e3sm-g.txt", header)


def test_wrong_data_are_found(serial: Bench) -> None:
    only = ("--data", DATA, "--only", "f-multi-independent")
    serial.samples("e3sm", *only, "--keep")
    with h5py.File(serial.kept("e3sm", "f-multi-independent") / "data.h5", "r+") as file:
        file["ANRAIN"][0, 71, 865] += 1
    reread = serial.start("e3sm", *only, "--reread")
    assert reread.status == 1
    assert "wrong data in ANRAIN, element 62351" in reread.text


def small_map(path: Path, offsets: list[int], lengths: list[int], version: Any) -> None:
    """A valid map file of one 2-D decomposition for two ranks, by netCDF itself."""
    with netCDF4.Dataset(path, "w", format=version) as file:
        file.createDimension("num_decomp", 1)
        file.createDimension("decomp_nprocs", 2)
        file.createDimension("D1.total_nreqs", len(offsets))
        file.setncattr("D1.ndims", np.int32(2))
        file.setncattr("D1.dims", np.array([3, 4], "i4"))
        counts = [1, len(offsets) - 1]
        for name, values in (("nreqs", counts), ("offsets", offsets), ("lengths", lengths)):
            dimension = "decomp_nprocs" if name == "nreqs" else "D1.total_nreqs"
            file.createVariable(f"D1.{name}", "i4", (dimension,))[:] = values


HEADER_OF_SMALL = """netcdf small {
dimensions:
	time = UNLIMITED ;
	lev = 3 ;
	ncol = 4 ;
variables:
	float T(time, lev, ncol) ;
}
"""


@pytest.mark.parametrize(
    ("offsets", "lengths", "message"),
    [
        ([0, 6], [6, 7], "request 1 is not inside the array"),
        ([0, 6], [6, 5], "element 11 has no owner"),
        ([0, 5], [6, 7], "element 5 has two owners"),
        ([0, 6], [6, -6], "request 1 is not inside the array"),
        ([0, 6], [6, 6], "too few maps"),  # a good one: but case f needs three
    ],
)
def test_wrong_maps_are_told(
    serial: Bench, offsets: list[int], lengths: list[int], message: str
) -> None:
    for version in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        path = serial.folder / "map_f_case_16p.nc"
        small_map(path, offsets, lengths, version)
        (serial.folder / "f_case_h0.txt").write_text(HEADER_OF_SMALL)
        done = serial.start("e3sm", "--data", serial.folder, "--case", "f")
        assert done.status == 2, done.text
        assert message in done.text
        assert "map_f_case_16p.nc" in done.text


def test_damaged_files_are_told(serial: Bench) -> None:
    good_map = (DATA / "map_f_case_16p.nc").read_bytes()
    good_header = HEADER["f"].read_text()

    def fails(map_file: bytes, header: str, message: str) -> None:
        (serial.folder / "map_f_case_16p.nc").write_bytes(map_file)
        (serial.folder / "f_case_h0.txt").write_text(header)
        done = serial.start("e3sm", "--data", serial.folder, "--case", "f")
        assert done.status == 2, done.text
        assert message in done.text

    fails(b"", good_header, "not a netCDF classic file")
    fails(b"\x89HDF\r\n\x1a\n", good_header, "not a netCDF classic file")
    fails(good_map[:20], good_header, "the file ends here")
    fails(good_map[:1000], good_header, "more members than the file can hold")
    fails(good_map[:-1], good_header, "ends behind the end of the file")
    fails(good_map, "", "f_case_h0.txt: line 1: expected netcdf, found the end")
    fails(good_map, good_header.replace("(ncol)", "(mcol)"), "line 11: no dimension mcol")
    fails(good_map, good_header[:-3], "found the end")
    fails(good_map, good_header.replace("double lat", "real lat"), "type real is not")


def test_missing_data_are_told(serial: Bench, tmp_path: Path) -> None:
    for arguments, message in (
        (("--data", tmp_path / "nowhere"), "--data"),
        (("--data", tmp_path), "map_f_case_16p.nc: No such file"),
        (("--data", DATA, "--case", "i"), "--case"),
    ):
        done = serial.start("e3sm", *arguments)
        assert done.status == 2, done.text
        assert message in done.text
