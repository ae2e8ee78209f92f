"""Follows HACKING.md to the letter, in a copy of the checkout."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from install.commands import output_of

pytestmark = [pytest.mark.timeout(1800), pytest.mark.long]  # it builds the project once more

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script_of(page: str) -> str:
    """Writes the blocks that have a file name and executes the `sh` blocks, in one shell."""
    lines = ["set -euxo pipefail"]
    for language, name, body in BLOCK.findall(page):
        if name:
            lines.append(f"mkdir -p {Path(name).parent}\ncat > {name} <<'END OF FILE'")
            lines.append(body + "END OF FILE")
        elif language == "sh":
            lines.append(body)
    return "\n".join(lines)


class Followed:
    """The copy of the checkout after the page was followed, and all that was printed."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        script = checkout / "hacking.sh"
        script.write_text(script_of((checkout / "HACKING.md").read_text()))
        self.output = output_of("bash", script, cwd=checkout)

    def messages(self) -> list[str]:
        lines = (self.checkout / "count.log").read_text().splitlines()
        return [line.split(" ", 3)[3] for line in lines]

    def events(self, kind: str, name: str) -> list[dict[str, Any]]:
        lines = (self.checkout / "report.jsonl").read_text().splitlines()
        events = [json.loads(line) for line in lines]
        return [event for event in events if event["event"] == kind and event["name"] == name]


@pytest.fixture(scope="module")
def followed(checkout: Path) -> Followed:
    return Followed(checkout)


def test_the_connector_counted_what_h5py_wrote(followed: Followed) -> None:
    assert set(followed.messages()) >= {"800 bytes written to datasets"}
    calls = [event["calls"] for event in followed.events("counts", "headrace_count_writes")]
    assert calls
    assert all(call["dataset_write"] == 1 and call["file_close"] == 1 for call in calls)


def test_it_ran_in_the_library_of_the_pinned_wheel(followed: Followed) -> None:
    wheel = followed.checkout / ".venv/lib"
    events = followed.events("load", "headrace_count_writes")
    assert events
    for event in events:
        assert Path(event["hdf5"]).is_relative_to(wheel)
        assert Path(event["hdf5"]).parent.name == "h5py.libs"
        assert event["version"] == "2.0.0"


def test_it_ran_above_null(followed: Followed) -> None:
    events = followed.events("counts", "headrace_null")
    assert [e["calls"]["dataset_write"] for e in events if e["seat"] == "vol"] == [1]


def test_the_file_is_fine_without_headrace(followed: Followed) -> None:
    read = "import h5py; print(h5py.File('out.h5')['x'][:].tolist() == [1.5] * 100)"
    python = followed.checkout / ".venv/bin/python"
    assert output_of(python, "-c", read, cwd=followed.checkout) == "True\n"


def test_the_driver_counted_more_than_the_data(followed: Followed) -> None:
    counted = re.findall(r"^(\d+) bytes written to files$", "\n".join(followed.messages()), re.M)
    assert len(counted) == 1
    assert int(counted[0]) > 800


def test_doctor_saw_the_connector(followed: Followed) -> None:
    _, _, after = followed.output.partition("+ .venv/bin/headrace doctor")
    report, _, _ = after.partition("+ HDF5_VOL_CONNECTOR=")
    assert "headrace_count_writes" in report


def test_the_debugger_stopped_in_the_connector(followed: Followed) -> None:
    frame = r"^#0 .*Connector::dataset_write .* at .*/count_writes\.cpp:\d+$"
    assert re.search(frame, followed.output, re.MULTILINE)


def test_the_sanitizer_found_nothing_but_was_there(followed: Followed) -> None:
    plugin = followed.checkout / "build/asan/lib/plugins/libheadrace_count_writes.so"
    assert "libasan.so" in output_of("readelf", "-d", plugin, cwd=followed.checkout)
    last_run = followed.output.split("+ LD_PRELOAD=")[1]
    assert "ERROR: AddressSanitizer" not in last_run
    assert "800 bytes written to datasets" in followed.messages()[-1]


def test_its_code_is_in_the_projects_style(followed: Followed) -> None:
    tools = followed.checkout / ".venv/bin"
    added = [followed.checkout / "examples" / name for name in ("count_writes", "count_bytes")]
    sources = [source for folder in added for source in folder.glob("*.cpp")]
    assert len(sources) == 2
    output_of(tools / "clang-format", "--dry-run", "-Werror", *sources, cwd=followed.checkout)
    output_of(tools / "ruff", "check", *added, cwd=followed.checkout)
    output_of(tools / "ruff", "format", "--check", *added, cwd=followed.checkout)
