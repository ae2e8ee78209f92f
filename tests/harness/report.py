"""Read the report that the plug-ins write to HEADRACE_REPORT: proof that they took part."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any


class Report:
    def __init__(self, path: Path) -> None:
        lines = path.read_text().splitlines() if path.exists() else []
        self.events: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def select(self, event: str, **wanted: object) -> list[dict[str, Any]]:
        return [
            found
            for found in self.events
            if found["event"] == event and all(found.get(k) == v for k, v in wanted.items())
        ]

    def calls(self, seat: str) -> Counter[str]:
        """Calls that reached our plug-ins in this seat, over all processes."""
        total: Counter[str] = Counter()
        for counts in self.select("counts", seat=seat):
            total.update(counts["calls"])
        return total

    def libraries(self) -> set[str]:
        return {load["hdf5"] for load in self.select("load")}
