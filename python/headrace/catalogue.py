"""What is installed: the layers, the plug-in files of their seats, and the settings."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from headrace.errors import PluginError
from headrace.table import Setting, Table


class Seat(NamedTuple):
    """One HDF5 class: the name and value HDF5 knows it by; no file when HDF5 has it built in."""

    name: str
    value: int
    file: Path | None = None


class LayerInfo(NamedTuple):
    """A layer and the seats it can take."""

    name: str
    summary: str
    vol: Seat | None = None
    vfd: Seat | None = None
    vfd_mpi: Seat | None = None
    # Whether it may stand in a stack twice: it keeps nothing of a file.
    repeats: bool = False

    def seats(self) -> tuple[str, ...]:
        """The seats as a user names them."""
        return tuple(
            name
            for name, there in (("vol", self.vol), ("vfd", self.vfd or self.vfd_mpi))
            if there is not None
        )


PASS_THROUGH = LayerInfo(
    name="pass_through",
    summary="HDF5's own pass-through connector, part of libhdf5; takes no options.",
    vol=Seat("pass_through", 1),
    repeats=True,
)


class Catalogue(NamedTuple):
    """All layers by name, all settings, and what was wrong with plug-ins that were left out."""

    version: str
    layers: Mapping[str, LayerInfo]
    settings: Table
    problems: tuple[str, ...] = ()


def from_description(text: str, directory: Path) -> Catalogue:
    """Reads what headrace_describe() returned; its files lie in `directory`."""
    try:
        described = json.loads(text)
        layers = [_layer(entry, directory) for entry in described["layers"]]
        settings = [Setting.from_json(row) for row in described["settings"]]
        version = str(described["version"])
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PluginError(f"the description is malformed: {error!r}") from error
    return Catalogue(version, {layer.name: layer for layer in layers}, Table(settings))


def merge(parts: Iterable[Catalogue], problems: Iterable[str] = ()) -> Catalogue:
    """One catalogue of several; of equal names the first counts, as in HDF5's plug-in path."""
    version = ""
    layers: dict[str, LayerInfo] = {}
    rows: list[Setting] = []
    for part in parts:
        version = version or part.version
        for layer in part.layers.values():
            layers.setdefault(layer.name, layer)
        rows.extend(part.settings)
    layers.setdefault(PASS_THROUGH.name, PASS_THROUGH)
    return Catalogue(version, layers, Table(rows), tuple(problems))


def _layer(entry: dict[str, Any], directory: Path) -> LayerInfo:
    return LayerInfo(
        name=str(entry["name"]),
        summary=str(entry.get("summary", "")),
        vol=_seat(entry.get("vol"), directory),
        vfd=_seat(entry.get("vfd"), directory),
        vfd_mpi=_seat(entry.get("vfd_mpi"), directory),
        repeats=bool(entry.get("repeats")),
    )


def _seat(entry: dict[str, Any] | None, directory: Path) -> Seat | None:
    if entry is None:
        return None
    return Seat(str(entry["name"]), int(entry["value"]), directory / str(entry["file"]))
