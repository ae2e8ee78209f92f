"""Runs a suite of unittest's and writes what each of its tests ended with, as JSON.

    python unittest_outcomes.py FILE MODULE [ID...]

The module has a function `suite`, as PyTables' modules of tests have: not every class in them is to
be run. Identifiers choose tests by how theirs begin. The name of each test is printed when it
begins, so that a crash leaves it behind.
"""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any


class Outcomes(unittest.TestResult):
    """A list for each test, as a suite may hold one several times."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[str, list[str]] = {}
        self.running = ""  # PyTables' tests forget their names when they end

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().startTest(test)
        self.running = test.id()
        print(self.running, flush=True)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        self.running = ""

    def add(self, test: unittest.TestCase, end: str, reason: object = "") -> None:
        first = str(reason).partition("\n")[0]
        name = self.running or test.id()
        self.of.setdefault(name, []).append(f"{end} {first}".strip())

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.add(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self.add(test, "failure", f"{err[0].__name__}: {err[1]}")

    def addError(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        self.add(test, "error", f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.add(test, "failure", f"{subtest.id()}: {err[0].__name__}: {err[1]}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        self.add(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        self.add(test, "expected failure", err[0].__name__)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        self.add(test, "unexpected success")


def tests_of(suite: unittest.TestSuite | unittest.TestCase) -> Iterator[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for one in suite:
            yield from tests_of(one)


def main() -> None:
    into, module, *chosen = sys.argv[1:]
    whole: unittest.TestSuite = import_module(module).suite()
    if chosen:
        whole = unittest.TestSuite(
            test for test in tests_of(whole) if test.id().startswith(tuple(chosen))
        )
    outcomes = Outcomes()
    whole.run(outcomes)
    Path(into).write_text(json.dumps(outcomes.of))


if __name__ == "__main__":
    main()
