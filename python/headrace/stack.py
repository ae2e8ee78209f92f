"""From a specification to the connector and driver strings that HDF5 reads.

A layer in seat "vol" or "both" joins the chain of VOL connectors; in seat "both" its connector
brings its own driver along. A layer in seat "vfd" joins the chain of file drivers. Both chains keep
the order of the specification, the application on top.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from headrace import spec as grammar
from headrace.catalogue import PASS_THROUGH, Catalogue, LayerInfo, Seat
from headrace.errors import HeadraceError, SettingError, SpecError, unknown
from headrace.table import Setting

# In place of a specification: no layers.
NATIVE: Final = "native"
_PLAIN: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:+-,@")
_VOL_TYPE: Final = 1
_VFD_TYPE: Final = 2

# Options of layers that stand in no specification: by layer, then by option, in canonical text.
LayerOptions = Mapping[str, Mapping[str, str]]


class ResolvedLayer(NamedTuple):
    """A layer that exists, its checked options in canonical text, and the seat it takes."""

    info: LayerInfo
    seat: str
    options: Mapping[str, str]


class Stack(NamedTuple):
    """A checked specification."""

    layers: tuple[ResolvedLayer, ...]

    @property
    def connectors(self) -> tuple[Seat, ...]:
        """The VOL connectors, from the application downwards."""
        return tuple(seat for _, seat in self._vol_chain())

    @property
    def drivers(self) -> tuple[Seat, ...]:
        """The file drivers of the driver chain, from the application downwards."""
        return tuple(seat for _, seat in self._vfd_chain())

    def vol_connector(self) -> str | None:
        """The value of HDF5_VOL_CONNECTOR; None when no layer takes a VOL seat."""
        chain = self._vol_chain()
        if not chain:
            return None
        value, info = 0, ""
        above = [None, *(seat for _, seat in chain)]
        for (layer, seat), reader in reversed(list(zip(chain, above, strict=False))):
            text = _vol_info(layer, value, info)
            if reader == PASS_THROUGH.vol:
                text = _for_pass_through(layer, value, info)
            value, info = seat.value, text
        return f"{chain[0][1].name} {info}"

    def driver(self) -> tuple[str, str] | None:
        """The values of HDF5_DRIVER and HDF5_DRIVER_CONFIG; None without a driver chain."""
        chain = self._vfd_chain()
        if not chain:
            return None
        name, config = ("sec2" if chain[-1][0].info.vfd else "mpio"), ""
        for layer, seat in reversed(chain):
            # That the layer takes this seat is what its place here says.
            options = {key: text for key, text in layer.options.items() if key != "seat"}
            config = _join(options, f"under={name};under_config={{{config}}}")
            name = seat.name
        return name, config

    def files(self) -> Iterator[tuple[Path, int]]:
        """Each plug-in file that HDF5 will open for this stack, with its H5PL type."""
        for layer in self.layers:
            info = layer.info
            if info.vol and layer.seat in ("vol", "both"):
                yield from _file(info.vol, _VOL_TYPE)
            for seat in (info.vfd, info.vfd_mpi):
                if seat and layer.seat in ("vfd", "both"):
                    yield from _file(seat, _VFD_TYPE)

    def _vol_chain(self) -> list[tuple[ResolvedLayer, Seat]]:
        return [
            (layer, layer.info.vol)
            for layer in self.layers
            if layer.seat in ("vol", "both") and layer.info.vol
        ]

    def _vfd_chain(self) -> list[tuple[ResolvedLayer, Seat]]:
        pairs = ((layer, layer.info.vfd or layer.info.vfd_mpi) for layer in self.layers)
        return [(layer, seat) for layer, seat in pairs if layer.seat == "vfd" and seat]


def logs_over_mpi(stack: Stack, environ: Mapping[str, str]) -> bool:
    """Whether the layer log was asked for logs of files that ranks open together."""
    of_log = [layer.options for layer in stack.layers if layer.info.name == "log"]
    given = environ.get("HEADRACE_LOG_MPI_LOGS", "none")
    return any(options.get("mpi_logs", given) != "none" for options in of_log)


def resolve(
    spec: str,
    catalogue: Catalogue,
    defaults: LayerOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> Stack:
    """Checks a specification against what is installed.

    Args:
        spec: The specification.
        catalogue: What is installed.
        defaults: Options for the layers, used where the specification gives none.
        environ: Where a layer's seat is looked up last; it holds checked HEADRACE_* values.
    """
    if spec.strip() == NATIVE:
        return Stack(())
    layers = grammar.parse(spec)
    resolved = tuple(
        _resolve_layer(spec, layer, catalogue, (defaults or {}).get(layer.name, {}), environ)
        for layer in layers
    )
    _require_once(spec, layers, catalogue)
    return Stack(resolved)


def _require_once(spec: str, layers: Sequence[grammar.Layer], catalogue: Catalogue) -> None:
    earlier: set[str] = set()
    for layer in layers:
        if layer.name in earlier and not catalogue.layers[layer.name].repeats:
            raise SpecError(
                spec,
                f"layer {layer.name} is in the stack already, and each would take what the other "
                "knows of a file for its own: name it once",
                layer.at,
                len(layer.name),
            )
        earlier.add(layer.name)


def _resolve_layer(
    spec: str,
    layer: grammar.Layer,
    catalogue: Catalogue,
    defaults: Mapping[str, str],
    environ: Mapping[str, str] | None,
) -> ResolvedLayer:
    info = catalogue.layers.get(layer.name)
    if info is None and layer.name == NATIVE:
        reason = "native stands alone: it is HDF5 without layers, which are always above it"
        raise SpecError(spec, reason, layer.at, len(layer.name))
    if info is None:
        reason = unknown("layer", layer.name, catalogue.layers)
        if catalogue.problems:
            reason += " Left out: " + "; ".join(catalogue.problems) + "."
        raise SpecError(spec, reason, layer.at, len(layer.name))
    rows = catalogue.settings.of_layer(layer.name)
    options = {**defaults}
    for option in layer.options:
        options[option.name] = _option_text(spec, layer, option, rows)
    return ResolvedLayer(info, _seat(info, options, rows, environ or {}), options)


def _option_text(
    spec: str, layer: grammar.Layer, option: grammar.Option, rows: Mapping[str, Setting]
) -> str:
    if option.name not in rows:
        reason = unknown(f"option of layer {layer.name}", option.name, rows)
        raise SpecError(spec, reason, option.name_at, len(option.name))
    try:
        return rows[option.name].to_text(option.value, f"{layer.name}({option.name})")
    except SettingError as error:
        raise SpecError(spec, str(error), option.value_at, option.value_length) from None


def _seat(
    info: LayerInfo,
    options: Mapping[str, str],
    rows: Mapping[str, Setting],
    environ: Mapping[str, str],
) -> str:
    seats = info.seats()
    if not seats:
        raise HeadraceError(f"layer {info.name} has neither a VOL connector nor a file driver")
    if len(seats) == 1:
        return seats[0]
    row = rows.get("seat")
    if row is None:
        return "both"
    return options.get("seat", environ.get(row.env, row.default))


def _vol_info(layer: ResolvedLayer, value: int | str, info: str) -> str:
    # HDF5's own pass_through reads exactly this order; ours read any.
    return _join(layer.options, f"under_vol={value};under_info={{{info}}}")


def _for_pass_through(layer: ResolvedLayer, value: int, info: str) -> str:
    """The same where HDF5's pass_through reads it and hands it on.

    It allocates a byte less than it writes, and leaves the one before undefined (1.14 to 2.2). Text
    that says no more than the defaults is left out, as it does no harm then. Elsewhere the layer
    below ignores the undefined byte, and a length is chosen at which the other one lands in what
    malloc() of glibc rounds up to: a multiple of 16, less 8.
    """
    if layer.info.vol != PASS_THROUGH.vol and not layer.options and value == 0:
        return ""
    text = _vol_info(layer, value, info)
    return _vol_info(layer, f"0{value}", info) if (len(text) + 1) % 16 == 8 else text


def _file(seat: Seat, kind: int) -> Iterator[tuple[Path, int]]:
    if seat.file is not None:
        yield seat.file, kind


def _join(options: Mapping[str, str], under: str) -> str:
    return ";".join([*(f"{key}={_encode(text)}" for key, text in options.items()), under])


def _encode(text: str) -> str:
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in os.fsencode(text))
