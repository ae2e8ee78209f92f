"""The measuring itself can fail: these tests show that differences and hangs are noticed."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from harness import kept as kept_module
from harness.api_suite import parse
from harness.build import SANITIZER, sanitized, take_findings
from harness.corpus import compile_c
from harness.outcome import differences, from_junit
from harness.program import text_of
from harness.run import TimeLimitError, run
from harness.stack import CLEAN
from harness.tools import Seen, difference

PRINTED = """\
*               API File Tests               *
Testing H5Fcreate                                                      {0}
Testing H5Fopen
  Testing read-only                                                    PASSED
  Testing read-only                                                    -SKIP-
Testing a check that prints first
 1/2 2/2 PASSED
{1}/4 (50.00%) API tests passed with VOL connector 'native'
"""


def test_a_changed_check_is_a_difference() -> None:
    native, other = (parse(PRINTED.format(*end)) for end in ((" PASSED", 3), ("*FAILED*", 2)))
    assert (native.passed, native.totals["passed"]) == (3, 3)
    assert differences(native.results, other.results) == {"File: H5Fcreate": ("PASSED", "*FAILED*")}


def test_a_missing_check_is_a_difference() -> None:
    whole = parse(PRINTED.format(" PASSED", 3)).results
    part = parse(PRINTED.format(" PASSED", 3).split("Testing a check")[0]).results
    assert list(differences(whole, part)) == ["File: a check that prints first"]


def test_another_reason_to_fail_is_a_difference(tmp_path: Path) -> None:
    maps = []
    for reason in ("DID NOT RAISE PermissionError", "OSError: cannot open /tmp/x1/y"):
        junit = tmp_path / "junit.xml"
        case = f'<testcase classname="a" name="b"><failure message="{reason}"/></testcase>'
        junit.write_text(f"<testsuites>{case}</testsuites>")
        maps.append(from_junit(junit))
    assert maps[1] == {"a::b": "failure OSError: cannot open *"}
    assert differences(*maps)


def test_output_that_differs_is_told() -> None:
    first, second = (Seen(0, b"head\n%d\ntail" % n, b"", {"out.h5": b"ab"}) for n in (1, 2))
    assert difference([first], first) == ""
    assert "-1" in difference([first], second)
    assert difference([first, second], second) == "", "the line varies natively"
    assert difference([first, second], replace(second, out=b"HEAD\n2\ntail")) != ""
    assert difference([first, second], replace(second, out=b"head\ntail")) != ""
    assert "status 0 -> 1" in difference([first], replace(first, status=1))
    assert "from byte 1 on" in difference([first], replace(first, files={"out.h5": b"ax"}))
    assert "only natively" in difference([first], replace(first, files={}))


FIRST = 3


def from_first(count: int) -> list[int]:
    return [FIRST + k for k in range(count)]


def add_up(name: str | Path, count: int = 2) -> None:
    total = sum(from_first(count))
    assert total
    assert "total" in globals(), "the body is the top level of the program"
    Path(name).write_text(f"{total} {__name__}")


def test_a_function_is_a_program_of_its_own(tmp_path: Path) -> None:
    program = [sys.executable, "-c", text_of(partial(add_up, tmp_path / "sum"))]
    done = run(program, env=CLEAN, cwd=tmp_path)
    assert done.status == 0, done.text
    assert (tmp_path / "sum").read_text() == "7 __main__"


def test_native_runs_are_kept_by_what_they_depend_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "_FOLDER", tmp_path / "kept")
    runs: list[int] = []

    def count() -> int:
        runs.append(len(runs))
        return len(runs)

    program = tmp_path / "program"
    program.write_text("one")
    assert [kept_module.kept("n", ["x", program], count) for _ in range(2)] == [1, 1]
    assert kept_module.kept("n", ["y", program], count) == 2
    other = tmp_path / "other"
    other.write_text("two")
    assert kept_module.kept("n", ["x", other], count) == 3
    assert kept_module.kept("n", ["x", program], count) == 1


def test_a_hang_ends_with_its_stacks(tmp_path: Path) -> None:
    script = "import time\ndef stuck_here():\n    time.sleep(60)\nstuck_here()"
    with pytest.raises(TimeLimitError, match="stuck_here"):
        run([sys.executable, "-c", script], env=CLEAN, cwd=tmp_path, limit=1)


# Of undefined behaviour the file says where it ended the process.
FOUND = {
    "address": {"heap": "heap-buffer-overflow", "overflow": "in plant "},
    "thread": {"race": "data race"},
}


@pytest.mark.sanitized
@pytest.mark.threads
def test_what_a_sanitizer_finds_is_seen(tmp_path: Path) -> None:
    """Also where a program is to fail, and nobody reads what it prints."""
    flag = {"address": "address,undefined", "thread": "thread"}.get(SANITIZER, "bounds")
    source = Path(__file__).with_name("planted.c")
    flags = [f"-fsanitize={flag}", "-fno-sanitize-recover=undefined", "-shared", "-fPIC", "-g"]
    planted = compile_c(tmp_path, "planted.so", "gcc", *flags, source)
    for what, name in FOUND.get(SANITIZER, {}).items():
        env = sanitized({**CLEAN, "LD_PRELOAD": str(planted), "PLANTED": what})
        assert run(["true"], env=env, cwd=tmp_path).status != 0
        assert name in take_findings()
