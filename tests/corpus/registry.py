"""Collects the functions that each fill one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py

Filler = Callable[[h5py.File], None]


@dataclass(frozen=True)
class Recipe:
    name: str
    fill: Filler
    options: dict[str, Any]


RECIPES: list[Recipe] = []
WHOLE: list[Callable[[Path], None]] = []


def in_file(name: str, **options: Any) -> Callable[[Filler], Filler]:
    """The function fills the file `name`, created with h5py.File's options."""

    def register(fill: Filler) -> Filler:
        RECIPES.append(Recipe(name, fill, options))
        return fill

    return register


def in_each_format(stem: str) -> Callable[[Filler], Filler]:
    """One file for each bound of the format that HDF5 1.14's tools can still read."""

    def register(fill: Filler) -> Filler:
        for bound in ("earliest", "v108", "v110", "v112", "v114"):
            newest = "v108" if bound == "earliest" else bound
            RECIPES.append(Recipe(f"{stem}_{bound}.h5", fill, {"libver": (bound, newest)}))
        return fill

    return register


def by_itself(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """The function makes its files in the folder it gets."""
    WHOLE.append(make)
    return make


def generate(folder: Path) -> None:
    for recipe in RECIPES:
        with h5py.File(folder / recipe.name, "w", **recipe.options) as file:
            recipe.fill(file)
    for make in WHOLE:
        make(folder)
