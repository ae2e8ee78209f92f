"""What a case asked of the file: the summary lines of the layer that counts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_SIDES: Final = ("reads", "writes")
_COUNTS: Final = (
    "calls", "requests", "bytes", "sequential", "seeks", "metadata_requests", "metadata_bytes",
)  # fmt: skip


def read(summary: Path) -> dict[str, Any] | None:
    """All lines added up: those of all ranks, and of the file as written and as read again."""
    total: dict[str, Any] = {side: dict.fromkeys(_COUNTS, 0) for side in _SIDES}
    lines = 0
    try:
        text = summary.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        lines += 1
        for side in _SIDES:
            for name in _COUNTS:
                total[side][name] += int(record.get(side, {}).get(name, 0))
        for name in ("flushes", "truncates"):
            total[name] = total.get(name, 0) + int(record.get(name, 0))
    return total if lines else None


def derived(ledger: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """With the shares that people compare; None where there is nothing to divide by.

    `metadata_share` is of the requests, `amplification` is device bytes over payload bytes.
    """
    result = dict(ledger)
    for side, name in (("reads", "read"), ("writes", "written")):
        counts = dict(ledger[side])
        counts["metadata_share"] = _ratio(counts["metadata_requests"], counts["requests"])
        counts["amplification"] = _ratio(counts["bytes"], int(payload.get(name, 0) or 0))
        result[side] = counts
    return result


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
