"""What is left of a file in pieces that was replaced, and sets of older versions."""

from __future__ import annotations

import re
from pathlib import Path

from headrace.stripe.sets import find
from headrace.stripe.state import state_path


def leave(stub: Path, number: int) -> Path:
    """Removes the stub of a set, and gives its pieces that number; returns the configuration.

    As if the system had given the stub's inode to another file.
    """
    found = find(stub)
    stub.unlink()
    before = re.escape(found.config.name).replace(r"\.config", "")
    own = re.sub(r"\d+$", str(number), found.config.name[: -len(".config")])
    for path in (state_path(found.config), *found.subfiles):
        path.rename(path.with_name(re.sub(before, own, path.name)))
    config = found.config.with_name(f"{own}.config")
    config.write_text(re.sub(before, own, found.config.read_text()))
    found.config.unlink()
    return config


def forget_identity(config: Path, stub: Path | None = None) -> None:
    """As older versions have written them."""
    config.write_text(re.sub("headrace_id=.*\n", "", config.read_text()))
    if stub is not None:
        text = re.sub(rb"\nid=.*\nmade=.*\n", b"\n", stub.read_bytes(), count=1)
        stub.write_bytes(text)
