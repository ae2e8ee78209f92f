"""HDF5's tools say and write the same, byte for byte, with and without `null` below them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from harness.corpus import build_clock, build_forge, generate, openable
from harness.prefix import Hdf5
from harness.stack import NATIVE, PASS_THROUGH
from harness.tools import CASES, SPECIAL, Seen, ToolBox, difference

# Stack -> the seats that must have handled each file.
STACKS = {
    "null(seat=vol)": ["vol"],
    "null(seat=vfd)": ["vfd"],
    "null(seat=both)": ["vol", "vfd"],
    "null,null,null": ["vol", "vfd"],
}
READERS = ("h5dump", "h5ls", "h5stat", "h5diff")
BOTH, LAYERS = "null(seat=both)", "async,log"
SEATS = {**STACKS, LAYERS: ["vol", "vfd"]}
SAMPLE_CASES = ["dump", "dump_xml", "list", "stat", "diff_self", "repack", "repack_latest", "copy"]
# What each day has; `null` in both seats does what others of it do.
DAILY = {("dump", LAYERS), ("diff_self", LAYERS), ("repack", BOTH)}

# Sample files of HDF5 with more data than a tool prints or compares within a second.
SLOW = {
    "tbigdims.h5", "h5stat_newgrat.h5", "h5diff_dset1.h5", "h5diff_dset2.h5", "h5diff_dset3.h5",
    "h5diff_hyper1.h5", "h5diff_hyper2.h5", "h5repack_layouto.h5", "h5repack_objs.h5",
    "tarray1_big.h5", "h5fc_err_level.h5", "tlonglinks.h5",
}  # fmt: skip

# With a filter that is not there, h5dump -x prints a variable that it never set (Pixels_per_block).
UNSET = {"dump_xml": {"tfilters.h5", "h5stat_filters.h5"}}


@dataclass
class Bench:
    """The files, the tools, and what the tools did natively, remembered."""

    box: ToolBox
    files: list[Path]
    opening: set[str]
    native: dict[tuple[str, Path], Seen] = field(default_factory=dict)

    def differ(self, case: str, command: list[str], file: Path, spec: str) -> str:
        if (case, file) not in self.native:
            self.native[case, file] = self.box.see(command, file, NATIVE)[0]
        seen, report = self.box.see(command, file, spec)
        driver = command[0] == "h5ls" and "vfd" in SEATS[spec]

        def shown(whole: Seen) -> Seen:
            return whole.without_driver(named=SEATS[spec] == ["vfd"]) if driver else whole

        natives, told = [shown(self.native[case, file])], ""
        if shown(seen) != natives[0]:
            natives += [shown(self.box.see(command, file, NATIVE)[0]) for _ in range(3)]
            told = difference(natives, shown(seen))
        # A file that opens by itself must have been opened through us, in every seat; for others
        # the tools try all drivers natively.
        if file.name in self.opening:
            for seat in SEATS[spec]:
                opened = report.select("file", seat=seat, ok=True)
                if file.name not in {Path(event["file"]).name for event in opened}:
                    told += f"\n    not handled by seat {seat}: {report.events}"
        elif case in SPECIAL and "vol" in SEATS[spec] and not report.select("file", seat="vol"):
            told += f"\n    not handled: {report.events}"
        return told and f"{file.name}: {told}"

    def compare(self, case: str, command: list[str], spec: str, files: Iterable[Path]) -> None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            told = list(pool.map(lambda file: self.differ(case, command, file, spec), files))
        told = [text for text in told if text]
        assert not told, f"{len(told)} files differ:\n" + "\n".join(told[:15])


@pytest.fixture(scope="module")
def built(tools: Hdf5, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("programs")
    return build_forge(tools, folder), build_clock(folder)


@pytest.fixture(scope="module")
def corpus(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "native"
    generate(*built, NATIVE, folder)
    return folder


@pytest.fixture(scope="module")
def bench(tools: Hdf5, built: tuple[Path, Path], corpus: Path) -> Bench:
    files = sorted(corpus.glob("*.h5"))
    changed = corpus.with_name("changed")
    changed.mkdir()
    box = ToolBox(tools.program("h5dump").parent, built[1], changed, corpus / "sizes.h5")
    return Bench(box, files, openable(files, changed))


@pytest.fixture(scope="module")
def samples(bench: Bench, hdf5_source: Path) -> Bench:
    """The files of HDF5's own tests: old, odd and damaged ones, made by nobody here."""
    found = {path.name: path for path in hdf5_source.glob("tools/test/*/testfiles/**/*.h5")}
    files = [path for name, path in sorted(found.items()) if name not in SLOW]
    return Bench(bench.box, files, openable(files))


# Signatures of what the format has in several kinds: B-trees of both versions, fixed and extensible
# arrays, heaps, old and new groups and headers, free space, shared messages, a cache image.
SIGNATURES = [
    *("TREE", "BTHD", "FAHD", "FADB", "EAHD", "EASB", "HEAP", "FRHP", "GCOL", "SNOD", "OHDR"),
    *("FSHD", "FSSE", "SMTB", "SMLI", "MDCI"),
]


def test_the_corpus_is_complete(bench: Bench, samples: Bench) -> None:
    assert len(bench.opening) > 85
    assert len(samples.opening) > 250
    held = b"".join(file.read_bytes() for file in bench.files)
    assert [name for name in SIGNATURES if name.encode() not in held] == []


def test_files_that_went_past_us_are_noticed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal output proves nothing when HDF5's own connector handled the file."""
    monkeypatch.setitem(SEATS, PASS_THROUGH, ["vol"])
    with pytest.raises(AssertionError, match="not handled by seat vol"):
        bench.compare("list", CASES["list"], PASS_THROUGH, bench.files[:1])


def each_day(*specs: str) -> list[ParameterSet]:
    """All stacks of `null`, of which each day has some."""
    return [
        pytest.param(spec, marks=[] if spec in specs else [pytest.mark.long]) for spec in STACKS
    ]


def pairs(cases: Iterable[str], long: Callable[[str, str], bool]) -> list[ParameterSet]:
    """Each case under `null` and, if the tool only reads, under the layers."""
    return [
        pytest.param(case, spec, marks=[pytest.mark.long] if long(case, spec) else [])
        for case in cases
        for spec in SEATS
        if spec != LAYERS or CASES[case][0] in READERS
    ]


def long_for_corpus(case: str, spec: str) -> bool:
    """Each day tools that only read do so under the layers, others under `null`."""
    return spec != (LAYERS if CASES[case][0] in READERS else BOTH)


@pytest.mark.share(4)
@pytest.mark.parametrize(("case", "spec"), pairs(CASES, long_for_corpus))
def test_corpus(bench: Bench, case: str, spec: str) -> None:
    files = [file for file in bench.files if file.name in bench.opening]
    bench.compare(case, CASES[case], spec, files)


def test_no_filters_appear(bench: Bench, corpus: Path) -> None:
    """A program that never searched for filters does not find any by being run with a stack."""
    file = corpus / "filters_v110.h5"
    box = replace(bench.box, native_plugins={})
    native, ours = (box.see(CASES["dump"], file, spec)[0] for spec in (NATIVE, "null(seat=vol)"))
    assert native == ours, difference([native], ours)


@pytest.mark.parametrize("spec", each_day(BOTH, "null,null,null"))
def test_files_that_do_not_open(bench: Bench, spec: str) -> None:
    files = [file for file in bench.files if file.name not in bench.opening]
    bench.compare("dump", CASES["dump"], spec, [*files, files[0].with_name("not_there.h5")])


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("case", "spec"), pairs(SAMPLE_CASES, lambda case, spec: (case, spec) not in DAILY)
)
def test_samples_of_hdf5(samples: Bench, case: str, spec: str) -> None:
    names = samples.opening - UNSET.get(case, set())
    files = [file for file in samples.files if file.name in names]
    samples.compare(case, CASES[case], spec, files)


@pytest.mark.parametrize("spec", each_day(BOTH))
@pytest.mark.parametrize("case", SPECIAL)
def test_special(bench: Bench, corpus: Path, case: str, spec: str) -> None:
    """Commands for certain files: drivers by option, raw output, pairs, single objects."""
    file, command = SPECIAL[case]
    bench.compare(case, command, spec, [corpus / file])


def test_same_files_written(built: tuple[Path, Path], corpus: Path, tmp_path: Path) -> None:
    """The corpus itself, made by h5py and by C, is the same byte for byte under every stack."""
    expected = {path.name: path.read_bytes() for path in corpus.iterdir()}
    for number, (spec, seats) in enumerate(STACKS.items()):
        report = generate(*built, spec, tmp_path / str(number))
        made = {path.name: path.read_bytes() for path in (tmp_path / str(number)).iterdir()}
        differing = [n for n in sorted(expected.keys() | made) if expected.get(n) != made.get(n)]
        assert not differing, f"{spec}: {differing}"
        for seat in seats:
            assert len(report.select("file", seat=seat, ok=True)) > 80, f"{spec}: {seat}"


def test_plain_reader(bench: Bench, built: tuple[Path, Path], tmp_path: Path) -> None:
    """Debian's h5dump 1.10.8 knows nothing of connectors: it reads what was written under us."""
    reader = ToolBox(Path("/usr/bin"), built[1], bench.box.changed, bench.box.empty)
    folder = tmp_path / "null"
    generate(*built, BOTH, folder)
    command = ["h5dump", "-pBR", "--", "{in}"]
    read = 0
    for file in bench.files:
        native, ours = (reader.see(command, path, NATIVE)[0] for path in (file, folder / file.name))
        ours = Seen(ours.status, ours.out.replace(bytes(folder), bytes(file.parent)), b"", {})
        native = Seen(native.status, native.out, b"", {})
        assert native == ours, difference([native], ours)
        read += native.status == 0
    assert read > 65  # it is too old for format 1.12 in places
