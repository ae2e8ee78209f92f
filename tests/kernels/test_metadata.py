"""The kernel `metadata`."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from kernels.bench_tool import Bench, bits, h5dump_header, key_of, same_as_golden
from kernels.expected import run_of

GROUPS, DATASETS, ATTRIBUTES = 2, 5, 3
QUICK = ("--groups", GROUPS, "--datasets", DATASETS, "--attributes", ATTRIBUTES)
ALONE = ["default-contiguous", "default-compact", "latest-contiguous", "latest-compact"]
TOGETHER = [
    f"{version}-{rest}"
    for version in ("default", "latest")
    for rest in ("contiguous-one", "contiguous-each", "compact-same")
]


def attribute_of(path: str, number: int) -> tuple[str, object]:
    name = f"attribute_{number:06}"
    word = bits(key_of(f"{path}/{name}"), 0)
    return name, f"{word:016x}".encode() if number % 2 else np.uint64(word).astype(np.int64)


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("metadata", *QUICK, "--keep")
    assert [each["case"] for each in samples] == (TOGETHER if bench.ranks else ALONE)
    groups = [f"group_{number:06}" for number in range(GROUPS)]
    datasets = [f"dataset_{number:06}" for number in range(DATASETS)]
    for sample in samples:
        elements = 8 * (bench.ranks if "-each" in sample["case"] else 1)
        payload = GROUPS * DATASETS * (elements * 8 + 8 + 16 + 8)
        assert sample["bytes"]["written"] == payload
        with h5py.File(bench.kept("metadata", sample["case"]) / "data.h5") as file:
            assert list(file) == groups
            for group in groups:
                assert list(file[group]) == datasets
                for name in datasets:
                    data = file[group][name]
                    path = f"/{group}/{name}"
                    expected = run_of(key_of(path), 0, elements, "f8")
                    np.testing.assert_array_equal(data[:], expected)
                    attributes = dict(attribute_of(path, n) for n in range(ATTRIBUTES))
                    assert dict(data.attrs) == attributes


@pytest.mark.parametrize("case", ALONE)
def test_the_layout(serial: Bench, case: str) -> None:
    sizes = ("--groups", 2, "--datasets", 2, "--attributes", 2)
    serial.samples("metadata", *sizes, "--only", case, "--keep")
    path = serial.kept("metadata", case) / "data.h5"
    same_as_golden(f"metadata-{case.partition('-')[2]}.txt", h5dump_header(path))
    superblock = path.read_bytes()[8]
    assert superblock == (3 if case.startswith("latest") else 0)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("value", "wrong data in /group_000001/dataset_000003, element 7"),
        ("integer", "wrong data in attribute attribute_000002 of /group_000001/dataset_000003"),
        ("text", "wrong data in attribute attribute_000001 of /group_000001/dataset_000003"),
        ("one attribute less", "dataset_000003 has 2 attributes instead of 3"),
        ("one dataset less", "group_000001 has 4 members instead of 5"),
        ("one dataset more", "group_000001 has 6 members instead of 5"),
        ("one group more", "/ has 3 members instead of 2"),
        ("another name", "group_000001 has dataset_xxx where dataset_000004 must be"),
        ("another kind", "group_000001: dataset_000004 is another kind of object"),
        ("another type", "/group_000001/dataset_000003 has another type or size"),
        ("another layout", "/group_000001/dataset_000003 has another layout"),
    ],
)
def test_what_is_wrong_is_found(serial: Bench, damage: str, message: str) -> None:
    only = ("--only", "default-contiguous")
    serial.samples("metadata", *QUICK, *only, "--keep")
    assert serial.start("metadata", *QUICK, *only, "--reread").status == 0
    with h5py.File(serial.kept("metadata", only[1]) / "data.h5", "r+") as file:
        spoil(file, file["group_000001"], damage)
    reread = serial.start("metadata", *QUICK, *only, "--reread")
    assert reread.status == 1
    assert message in reread.text


def spoil(file: h5py.File, group: h5py.Group, damage: str) -> None:
    data = group["dataset_000003"]
    if damage == "value":
        data[7] += 1
    elif damage == "integer":
        data.attrs.modify("attribute_000002", data.attrs["attribute_000002"] ^ 1)
    elif damage == "text":
        data.attrs.modify("attribute_000001", np.bytes_(b"0123456789abcdef"))
    elif damage == "one attribute less":
        del data.attrs["attribute_000000"]
    elif damage == "one dataset less":
        del group["dataset_000003"]
    elif damage == "one dataset more":
        group["dataset_000009"] = 1.0
    elif damage == "one group more":
        file.create_group("group_000009")
    elif damage == "another name":
        group.move("dataset_000004", "dataset_xxx")
    elif damage == "another kind":
        del group["dataset_000004"]
        group.create_group("dataset_000004")
    else:
        replace(group, data, damage)


def replace(group: h5py.Group, data: h5py.Dataset, damage: str) -> None:
    """Another dataset in the place of this one, with its values and attributes."""
    values, attributes = data[:], dict(data.attrs)
    del group["dataset_000003"]
    kind = "f4" if damage == "another type" else "f8"
    space = h5py.h5s.create_simple((8,))
    storage = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if damage == "another layout":
        storage.set_layout(h5py.h5d.COMPACT)
    made = h5py.h5d.create(group.id, b"dataset_000003", h5py.h5t.py_create(kind), space, storage)
    dataset = h5py.Dataset(made)
    dataset[:] = values
    for name, value in attributes.items():
        dataset.attrs[name] = value


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments in (("--groups", 0), ("--datasets", 0), ("--attributes", "x")):
        done = serial.start("metadata", *arguments)
        assert done.status == 2, done.text
        assert arguments[0] in done.text
