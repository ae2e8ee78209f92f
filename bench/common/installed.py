"""Which build of Headrace is measured: it is installed apart from the checkout, and may change."""

from __future__ import annotations

import hashlib
from pathlib import Path

from headrace.plugins import library_dir

from .evidence import RunError

_LENGTH = 12  # hexadecimal digits


def fingerprint(folder: Path | None = None) -> str:
    """Of all libraries, plug-ins and programs below; without a folder, of what is installed."""
    try:
        root = folder or library_dir().parent
        digest = hashlib.sha256()
        files = [each for part in ("lib", "bin") for each in (root / part).rglob("*")]
        for file in sorted(each for each in files if each.is_file()):
            digest.update(str(file.relative_to(root)).encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    except OSError as error:  # it is being replaced
        raise RunError(f"what is installed cannot be read: {error.strerror}") from None
    return digest.hexdigest()[:_LENGTH]


def require(expected: str) -> None:
    """RunError unless it is still what was measured before."""
    if (found := fingerprint()) != expected:
        raise RunError(f"another build was installed amid the benchmark: {found}, not {expected}")
