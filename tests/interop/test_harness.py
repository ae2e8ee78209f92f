"""The measuring itself can fail: these tests show that differences and hangs are noticed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from harness.api_suite import parse
from harness.outcome import differences, from_junit
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


def test_a_hang_ends_with_its_stacks(tmp_path: Path) -> None:
    script = "import time\ndef stuck_here():\n    time.sleep(60)\nstuck_here()"
    with pytest.raises(TimeLimitError, match="stuck_here"):
        run([sys.executable, "-c", script], env=CLEAN, cwd=tmp_path, limit=1)
