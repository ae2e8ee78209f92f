"""Tells what a layer would of two files."""

import json
import os
from pathlib import Path

for file, values in (("a", {"written_bytes": 1 << 20}), ("b", {"written_bytes": 1 << 20, "n": 1})):
    line = {"event": "statistics", "name": "headrace_x", "file": file, "values": values}
    with Path(os.environ["HEADRACE_REPORT"]).open("a") as report:
        report.write(json.dumps(line) + "\n")
