"""Layers that each have a driver of their own: all of them see the file, in the stack's order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import h5py
import pytest
from harness.program import text_of

from headrace import plan

ORDERS = ("null,model", "model,null", "null,fault,model", "fault(seat=vol),null(seat=vol),model")


def write_by_a_link_and_directly() -> None:
    with h5py.File("a.h5", "w") as file:
        file["x"] = range(1000)
        print(file.driver)
        file["link"] = h5py.ExternalLink("b.h5", "/")
        h5py.File("b.h5", "w").close()
        file["link"]["y"] = range(1000)
    with h5py.File("a.h5") as file:
        print(sum(file["x"]), sum(file["link/y"]))


@pytest.mark.parametrize("spec", ORDERS)
def test_every_driver_of_a_stack_is_in_the_chain(spec: str, tmp_path: Path) -> None:
    environ = {"HEADRACE_MODEL_SUMMARY": "summary", "HEADRACE_REPORT": "report"}
    prepared = plan.prepare(spec, None, environ)
    command = [sys.executable, "-c", text_of(write_by_a_link_and_directly)]
    done = subprocess.run(
        command, env=prepared.apply(environ), cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "sec2\n499500 499500\n"
    events = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    opened = [each["name"] for each in events if each["event"] == "file" and each["seat"] == "vfd"]
    expected = [layer for layer in ("null", "fault", "model") if f"{layer}(seat=vol)" not in spec]
    in_stack = {f"headrace_{layer}" for layer in expected if layer in spec}
    assert set(opened) == in_stack
    assert len({opened.count(name) for name in in_stack}) == 1
    summary = [json.loads(line) for line in (tmp_path / "summary").read_text().splitlines()]
    written = {Path(each["file"]).name for each in summary if each["writes"]["bytes"] >= 8000}
    assert written == {"a.h5", "b.h5"}
