"""Whether a record that was read from a file is one that a run leaves."""

import math
from collections.abc import Mapping
from typing import Any, Final

_WALLS: Final = ("write_wall", "read_wall")
_TABLES: Final = ("parameters", "bytes", "phases", "baseline", "ledger")


def fault(record: Mapping[str, Any]) -> str:
    """What is wrong with a sample or ledger; empty when tables and figures can be made of it."""
    for name in ("kernel", "case", "stack"):
        if not isinstance(record.get(name), str) or not record[name]:
            return f"{name} is not a text"
    for name, least in (("ranks", 1), ("repeat", 0), ("rounds", 1)):
        if not _is_count(record.get(name, least), least):
            return f"{name} is not a whole number from {least} on"
    for name in _WALLS:
        if record.get(name) is not None and not _is_amount(record[name]):
            return f"{name} is not a number of seconds"
    for name in _TABLES:
        if not isinstance(record.get(name) or {}, Mapping):
            return f"{name} is not a table"
    return _inner_fault(record)


def _inner_fault(record: Mapping[str, Any]) -> str:
    for name in ("bytes", "baseline"):
        for inner, value in (record.get(name) or {}).items():
            if not _is_amount(value):
                return f"{name}.{inner} is not a number"
    for name, phase in (record.get("phases") or {}).items():
        if not isinstance(phase, Mapping) or not _is_amount(phase.get("max")):
            return f"phases.{name}.max is not a number of seconds"
    ledger = record.get("ledger") or {}
    for side in ("reads", "writes") if ledger else ():
        counts = ledger.get(side)
        if not isinstance(counts, Mapping):
            return f"ledger.{side} is not a table"
        for name, value in counts.items():
            if not _is_count(value, 0):
                return f"ledger.{side}.{name} is not a count"
    return ""


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_amount(value: object) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0  # type: ignore[arg-type, operator]
