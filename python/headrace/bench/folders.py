"""Folders of cases, told from those of others by a file in them, as headrace-bench does it."""

import shutil
from pathlib import Path
from typing import Final

from headrace.errors import HeadraceError

mark: Final = ".headrace-bench"


class FolderError(HeadraceError):
    """A folder that is in the way, or cannot be made."""


def is_ours(folder: Path) -> bool:
    """Whether a benchmark has made it, so that it may be removed."""
    return not folder.is_symlink() and (folder / mark).is_file()


def remove(folder: Path) -> None:
    """Removes it if it is there; FolderError when it is not ours."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not is_ours(folder):
        raise FolderError(f"{folder}: exists and was not made by headrace-bench; move it away")
    shutil.rmtree(folder)


def make(folder: Path) -> None:
    """Makes it anew, with the mark; FolderError when another's is in its place."""
    remove(folder)
    folder.mkdir()
    (folder / mark).touch()


def make_data(folder: Path) -> list[Path]:
    """Makes a folder and those above it; gives the ones that were not there, innermost first."""
    try:
        absent = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderError(f"{folder} cannot be made: {error.strerror}") from None
    return absent
