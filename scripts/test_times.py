"""Where the time of a test run went: its stages and its slowest tests, as JSON and in print.

    test_times.py FOLDER OUTPUT BUDGET

FOLDER holds what the run left: `stages`, lines of stage.sh, and JUnit files of pytest and ctest.
BUDGET are the seconds that all stages together may take.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

SLOWEST = 40


def stages(folder: Path) -> list[dict[str, Any]]:
    """Stages in the order in which they ended; seconds, and 0 for no budget."""
    file = folder / "stages"
    rows = [line.split("\t") for line in file.read_text().splitlines()] if file.exists() else []
    return [
        {"name": name, "seconds": int(seconds), "budget": int(budget), "outcome": outcome}
        for name, seconds, budget, outcome in rows
    ]


def tests(folder: Path) -> list[dict[str, Any]]:
    """All tests, the slowest first; of pytest's, set-up and tear-down are in their seconds."""
    found = [
        {
            "name": f"{case.get('classname', '')}::{case.get('name')}".removeprefix("::"),
            "run": file.stem,
            "seconds": round(float(case.get("time") or 0), 2),
        }
        for file in sorted(folder.glob("*.xml"))
        for case in ElementTree.parse(file).iter("testcase")  # noqa: S314
    ]
    return sorted(found, key=lambda test: -float(str(test["seconds"])))


def main() -> None:
    folder, output = map(Path, sys.argv[1:3])
    run = {"stages": stages(folder), "tests": tests(folder)}
    total = sum(stage["seconds"] for stage in run["stages"])
    everything = {"name": "all stages", "seconds": total, "budget": int(sys.argv[3]), "outcome": ""}
    run["stages"].append(everything)
    output.write_text(json.dumps(run, indent=1) + "\n")
    print(f"\n==== the slowest of {len(run['tests'])} tests (all: {output})")
    for test in run["tests"][:SLOWEST]:
        print(f"{test['seconds']:8.1f} s  {test['run']}: {test['name']}")
    print("==== stages")
    for stage in run["stages"]:
        over = " OVER ITS BUDGET" if 0 < stage["budget"] < stage["seconds"] else ""
        budget = f" of {stage['budget']}" if stage["budget"] else ""
        print(f"{stage['seconds']:6d}{budget} s  {stage['name']} {stage['outcome']}{over}")


if __name__ == "__main__":
    main()
