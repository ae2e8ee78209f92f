"""The build that tests run: plug-ins and commands plain or, if asked for, under a sanitizer.

HEADRACE_TEST_SANITIZER=address (with the one for undefined behaviour) or thread takes the plug-ins
from that build. The C programs that load them are the plain ones in any case: the sanitizer's
library is preloaded.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SANITIZER = os.environ.get("HEADRACE_TEST_SANITIZER", "")
_PRESETS = {"": "dev", "address": "asan", "thread": "tsan"}

PROGRAMS = ROOT / "build/dev"
BUILD = ROOT / "build" / _PRESETS[SANITIZER]
PLUGINS = BUILD / "lib/plugins"
_MADE_BY = {"": "setup-test", "address": "ctest-asan", "thread": "ctest-tsan"}
NOT_BUILT = f"nothing is built in {PLUGINS}: run `make {_MADE_BY[SANITIZER]}`"


def built(path: str) -> Path:
    """A C program or preload of the tests."""
    found = PROGRAMS / path
    assert found.exists(), f"{found} is missing: `make ctest` builds it"
    return found


def _libraries() -> list[str]:
    """Of the sanitizer; it looks for what throws exceptions when the process begins."""
    names = [{"address": "libasan.so", "thread": "libtsan.so"}[SANITIZER], "libstdc++.so.6"]
    asked = [["gcc", f"-print-file-name={name}"] for name in names]
    return [subprocess.check_output(ask, text=True).strip() for ask in asked]


_PRELOADS = _libraries() if SANITIZER else []
# What a sanitizer says goes to files here: a program that is to fail may not hide it.
_FINDINGS = Path(tempfile.mkdtemp(prefix="sanitizer-"))
atexit.register(shutil.rmtree, _FINDINGS, ignore_errors=True)
_COMMON = f"exitcode=86:log_path={_FINDINGS}/found"
# Python and HDF5 leave memory behind, and their own locks and threads are not looked at.
_SANITIZER_OPTIONS = {
    "address": {
        "ASAN_OPTIONS": f"{_COMMON}:detect_leaks=0:allocator_may_return_null=1:handle_abort=1",
        # What it says itself goes to stderr, beside the one for addresses; when it aborts, that one
        # tells where, in a file.
        "UBSAN_OPTIONS": f"{_COMMON}:print_stacktrace=1:abort_on_error=1",
    },
    "thread": {
        "TSAN_OPTIONS": f"{_COMMON}:halt_on_error=1:ignore_noninstrumented_modules=1",
    },
}


def preloads(*libraries: str | Path) -> str:
    """LD_PRELOAD for libraries of a test, behind the sanitizer's."""
    return ":".join([*_PRELOADS, *map(str, libraries)])


def sanitized(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child, which finds the sanitizer in it."""
    if not SANITIZER:
        return dict(env)
    others = [one for one in env.get("LD_PRELOAD", "").split(":") if one and one not in _PRELOADS]
    return {**_SANITIZER_OPTIONS[SANITIZER], **env, "LD_PRELOAD": preloads(*others)}


def take_findings() -> str:
    """What the sanitizer has said since the last call."""
    texts = []
    for file in sorted(_FINDINGS.iterdir()):
        if text := file.read_text(errors="replace"):  # else it is about to be written
            texts.append(text)
            file.unlink()
    return "\n".join(texts)
