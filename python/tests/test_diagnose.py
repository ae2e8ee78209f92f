"""From evidence to findings, case by case."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.catalogue import Catalogue
from headrace.doctor.copies import Copy
from headrace.doctor.diagnose import NOTE, OK, PROBLEM, Case, diagnose
from headrace.doctor.evidence import Evidence, FileCall, Load, Process, Refusal
from headrace.stack import resolve

_LIB = "/opt/libhdf5.so"
_NEW = Copy(_LIB, "2.0.0", True, False, False)
_VOL = Load("vol", "headrace_null", 1, _LIB, "2.0.0")
_VFD = Load("vfd", "headrace_null", 1, _LIB, "2.0.0")
_VOL_FILE = FileCall("vol", "headrace_null", 1, "file_create", "x.h5", True)
_VFD_FILE = FileCall("vfd", "headrace_null", 1, "open", "x.h5", True)

Examine = Callable[..., list[tuple[str, str, str]]]


def _process(copy: Copy | None = _NEW, **more: Any) -> Process:
    return Process(1, "/bin/program", **{"how": "exit", "copies": [copy] if copy else [], **more})


@pytest.fixture
def examine(catalogue: Catalogue) -> Examine:
    def run(
        stack: str = "null",
        command: str = "program",
        mpi_modules: tuple[str, ...] | None = None,
        **seen: Any,
    ) -> list[Any]:
        evidence = Evidence(**{"status": 0, "watched": True, **seen})
        environ = {"HDF5_DRIVER": "a", "PATH": "/bin"}
        case = Case([command], environ, resolve(stack, catalogue), evidence, mpi_modules)
        found = diagnose(case)
        return [(finding.level, finding.text, finding.advice) for finding in found]

    return run


def test_all_is_well(examine: Examine) -> None:
    found = examine(
        processes=[_process()], loads=[_VOL, _VFD], files=[_VOL_FILE, _VFD_FILE, _VOL_FILE]
    )
    assert [level for level, _, _ in found] == [OK] * 4
    texts = [text for _, text, _ in found]
    assert "HDF5 2.0.0 loaded headrace_null (VOL)" in texts
    assert "1 file went through headrace_null (VFD)" in texts


@pytest.mark.parametrize(
    ("seen", "level", "text", "advice"),
    [
        ({"processes": [_process(None)]}, PROBLEM, "no process .* loaded a libhdf5", "no HDF5"),
        ({"processes": [_process(None, how=None)]}, NOTE, "killed before they could tell", ""),
        ({}, NOTE, "could not be watched", "raised privileges"),
        ({"watched": False}, NOTE, "probe library is not installed", ""),
        ({"processes": [_process(Copy(_LIB, "1.10.8"))]}, PROBLEM, "1.10.8: too old", "recent"),
        (
            {"processes": [_process(Copy(_LIB, "1.14.5", False))]},
            NOTE,
            "was loaded but not used",
            "",
        ),
        (
            {"processes": [_process(environment={"HDF5_DRIVER": "a"})]},
            PROBLEM,
            r"did not load headrace_null \(VOL\)",
            "initialised before they were set",
        ),
        (
            {"processes": [_process(environment={"HDF5_DRIVER": None})]},
            PROBLEM,
            "did not load",
            r"HDF5_DRIVER was unset in program \(process 1\)",
        ),
        (
            {"processes": [_process(environment={"HDF5_DRIVER": "b"})]},
            PROBLEM,
            "did not load",
            "HDF5_DRIVER was changed to b in program",
        ),
        (
            {"processes": [_process()], "loads": [_VOL]},
            PROBLEM,
            "no file went through them",
            "connector or driver of its own",
        ),
        (
            {"processes": [_process()], "loads": [_VOL], "files": [_VFD_FILE]},
            PROBLEM,
            r"no file went through headrace_null \(VOL\)",
            "of its own",
        ),
        (
            {"processes": [_process()], "loads": [_VOL], "files": [_VOL_FILE]},
            NOTE,
            "driver of layer null stayed out",
            "",
        ),
        ({"processes": [_process()], "status": 9}, NOTE, "ended with status 9", ""),
        ({"processes": [_process()], "status": -11}, PROBLEM, "ended by SIGSEGV", "could not load"),
        (
            {"processes": [_process(how="signal", signal=6)], "loads": [_VOL]},
            PROBLEM,
            "/bin/program ended by SIGABRT",
            "^$",
        ),
        ({"processes": [_process()], "status": -64}, PROBLEM, "SIGRTMAX", ""),
        ({"processes": [_process()], "status": -99}, PROBLEM, "signal 99", ""),
    ],
)
def test_single_findings(
    examine: Examine, seen: dict[str, Any], level: str, text: str, advice: str
) -> None:
    found = [(of, said, hint) for of, said, hint in examine(**seen) if re.search(text, said)]
    assert len(found) == 1, examine(**seen)
    assert found[0][0] == level
    assert re.search(advice, found[0][2])


def test_each_copy_is_judged_for_itself(examine: Examine) -> None:
    other = Copy("/opt/other.so", "2.2.0", True)
    found = examine(processes=[_process(copies=[_NEW, other])], loads=[_VOL], files=[_VOL_FILE])
    problems = [text for level, text, _ in found if level == PROBLEM]
    assert problems == ["/opt/other.so did not load headrace_null (VOL)"]


def test_drivers_and_hdf5s_own_connector(examine: Examine) -> None:
    seen = {"processes": [_process()], "loads": [_VFD], "files": [_VFD_FILE]}
    assert {level for level, _, _ in examine("null(seat=vfd)", **seen)} == {OK}
    # Nothing of ours is in this stack, so nothing of ours is missing.
    assert examine("pass_through", processes=[_process()]) == []


def test_a_static_program_is_recognised(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "program"
    file.write_bytes(b"HDF5 library version: 1.14.5\0")
    file.chmod(0o755)
    monkeypatch.setattr("headrace.doctor.diagnose.is_static", lambda _: True)
    static, embedded = examine(command=str(file))
    assert "linked statically" in static[1]
    assert "HDF5 1.14.5 linked into it" in embedded[1]


def test_hdf5_hidden_in_a_library_is_found(examine: Examine, tmp_path: Path) -> None:
    file = tmp_path / "module.so"
    file.write_bytes(b"HDF5 library version: 1.14.5\0")
    found = examine(processes=[_process(None, objects=[str(file), "linux-vdso.so.1"])])
    assert [level for level, _, _ in found] == [PROBLEM]
    assert str(file) in found[0][1]


def test_a_library_that_refused_the_plug_ins(examine: Examine) -> None:
    why = f"{_LIB} does not export H5Aget_space"
    seen = {"processes": [_process()], "refusals": [Refusal(_LIB, "2.0.0", why)]}
    ((level, text, advice),) = examine(**seen)
    assert (level, text) == (PROBLEM, why)
    assert "runs natively" in advice


def test_what_run_would_say_at_the_end_is_a_note(examine: Examine) -> None:
    left = {"event": "summary", "opened": 1, "through": 1}
    layers = {"async": {"taken": 0, "left": {"left_for_mpi": 9}}}
    refused = {"event": "refused", "hdf5": _LIB, "version": "1.12.2", "why": "w"}
    found = examine(processes=[_process()], summary=[left | {"layers": layers}, refused])
    texts = [text for level, text, _ in found if level == NOTE]
    assert len(texts) == 1
    assert texts[0].startswith("the async layer wrote nothing behind the program: files that ranks")


def test_an_mpi_that_there_is_no_module_for(examine: Examine) -> None:
    parallel = [_process(Copy(_LIB, "2.0.0", True, True, False))]
    for processes, modules, told in (
        (parallel, (), True),
        (parallel, ("openmpi",), False),
        (parallel, None, False),
        ([_process()], (), False),
    ):
        found = examine(processes=processes, mpi_modules=modules)
        assert any("without a module" in text for _, text, _ in found) == told
        assert any("`pip install .`" in advice for _, _, advice in found) == told
