"""Read what HDF5's API suite (h5_api_test) prints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SECTION = re.compile(r"^\*\s+API (?:Parallel )?(\w+) Tests\s+\*$")
CHECK = re.compile(r"^(?P<part>  )?Testing (?P<name>.*)$")
RESULT = re.compile(r"(?P<before>.*?)\s*(?P<result>PASSED|\*FAILED\*|-SKIP-)\s*$")
SUMMARY = re.compile(r"(\d+)/(\d+) .*API tests (passed|did not pass|were skipped).*'(\w+)'$")


@dataclass
class Suite:
    """Results by `section: group: check`, and the totals the suite itself states."""

    results: dict[str, str] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    connector: str = ""

    @property
    def passed(self) -> int:
        return sum(result == "PASSED" for result in self.results.values())


def parse(text: str) -> Suite:
    """A check without a result of its own is a heading of indented parts, or died."""
    suite = Suite()
    section = group = current = ""
    for line in text.splitlines():
        if found := SECTION.match(line):
            section, group, current = found[1], "", ""
        if found := SUMMARY.search(line):
            suite.totals |= {"run": int(found[2]), found[3]: int(found[1])}
            suite.connector = found[4]
            continue
        result = RESULT.match(line)
        if check := CHECK.match(result["before"] if result else line):
            name = check["name"].strip()
            if not check["part"]:
                group = name
            full = f"{section}: {group}: {name}" if check["part"] else f"{section}: {name}"
            current = full
            repeat = 1
            while current in suite.results:
                repeat += 1
                current = f"{full} #{repeat}"
            suite.results[current] = "none"
        # Some checks print lines of their own before their result, and one prints two results.
        if result:
            again = suite.results.get(current) != "none"
            suite.results[f"{current} (again)" if again else current] = result["result"]
    return suite
