"""CSV and JSON for programs."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from headrace.bench.summary import Row, as_json

_FIRST = ("kernel", "case", "stack", "ranks", "repeat", "warmup", "error", "missing")
_LAST = ("hdf5", "library", "connector", "driver", "dropped", "verified", "started", "partial")


def flat(sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample without nesting: phases.write.max becomes write_max, bytes.file bytes_file."""
    row: dict[str, Any] = {}
    for name, value in sample.items():
        if not isinstance(value, Mapping):
            row[name] = value
            continue
        for inner, each in value.items():
            if name == "phases" and isinstance(each, Mapping):
                row |= {f"{inner}_{which}_s": number for which, number in each.items()}
            else:
                row[f"{_prefix(name)}_{inner}"] = each
    return row


def _prefix(name: str) -> str:
    return "parameter" if name == "parameters" else name


def to_csv(samples: Sequence[Mapping[str, Any]]) -> str:
    """One row per sample, failed ones included; all have the same columns."""
    flattened = [flat(sample) for sample in samples]
    names = dict.fromkeys(name for row in flattened for name in row)
    middle = [name for name in names if name not in (*_FIRST, *_LAST)]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, [*_FIRST, *middle, *_LAST], lineterminator="\n")
    writer.writeheader()
    writer.writerows(flattened)
    return stream.getvalue()


def to_json(
    about: Mapping[str, Any], rows: Sequence[Row], samples: Sequence[Mapping[str, Any]]
) -> str:
    """The summary and the samples; a line for each record, so that two runs can be compared."""
    parts = [f'"about": {json.dumps(about)}']
    for name, records in (("summary", [as_json(row) for row in rows]), ("samples", samples)):
        lines = ",\n".join(json.dumps(record) for record in records)
        parts.append(f'"{name}": [\n{lines}\n]')
    return "{" + ",\n".join(parts) + "}\n"
