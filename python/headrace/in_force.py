"""The options of layers that the environment gives HDF5: `stack` backwards."""

from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from headrace.catalogue import Catalogue


def options_in(environ: Mapping[str, str], catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """By layer, its options in canonical text; of a layer that is there twice, the upper one's."""
    found: dict[str, dict[str, str]] = {}
    for layer, options in (*_connectors(environ, catalogue), *_drivers(environ, catalogue)):
        found.setdefault(layer, options)
    return found


def _connectors(
    environ: Mapping[str, str], catalogue: Catalogue
) -> Iterator[tuple[str, dict[str, str]]]:
    seats = {layer.name: layer.vol for layer in catalogue.layers.values() if layer.vol}
    names = {seat.name: layer for layer, seat in seats.items()}
    values = {str(seat.value): layer for layer, seat in seats.items()}
    name, _, info = environ.get("HDF5_VOL_CONNECTOR", "").partition(" ")
    layer = names.get(name)
    while layer is not None:
        fields = _fields(info)
        info = fields.pop("under_info", "")
        below = fields.pop("under_vol", "").lstrip("0")
        yield layer, _texts(fields)
        layer = values.get(below)


def _drivers(
    environ: Mapping[str, str], catalogue: Catalogue
) -> Iterator[tuple[str, dict[str, str]]]:
    names = {
        seat.name: layer.name
        for layer in catalogue.layers.values()
        for seat in (layer.vfd, layer.vfd_mpi)
        if seat
    }
    layer = names.get(environ.get("HDF5_DRIVER", ""))
    config = environ.get("HDF5_DRIVER_CONFIG", "")
    while layer is not None:
        fields = _fields(config)
        config = fields.pop("under_config", "")
        below = fields.pop("under", "")
        yield layer, _texts(fields)
        layer = names.get(below)


def _fields(text: str) -> dict[str, str]:
    """Of `a=b;c={d=e;f}` those outside of braces, which are left out."""
    found, start, depth = {}, 0, 0
    for at, char in enumerate(text + ";"):
        depth += (char == "{") - (char == "}")
        if char == ";" and depth == 0:
            name, _, value = text[start:at].partition("=")
            found[name] = value[1:-1] if value.startswith("{") else value
            start = at + 1
    return found


def _texts(fields: Mapping[str, str]) -> dict[str, str]:
    return {name: unquote(text, errors="surrogateescape") for name, text in fields.items() if name}
