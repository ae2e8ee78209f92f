"""The part of --help that depends on what is installed."""

import os
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from headrace.catalogue import Catalogue
from headrace.errors import HeadraceError
from headrace.plugins import load_catalogue
from headrace.table import Setting


class LayerListing(TyperCommand):
    """A command whose help ends with the layers and their options."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The usual help, then the listing."""
        super().format_help(ctx, formatter)
        console = Console()
        try:
            console.print(listing(load_catalogue(os.environ)))
        except HeadraceError as error:
            console.print(f"Layers: {error}", style="red", markup=False)


def listing(catalogue: Catalogue) -> Group:
    """The layers for a SPEC with their seats and options."""
    layers = Table("Layer", "Seats", "What it is", title="Layers", title_justify="left")
    for layer in sorted(catalogue.layers.values(), key=lambda layer: layer.name):
        layers.add_row(Text(layer.name, "bold"), ", ".join(layer.seats()), Text(layer.summary))
    parts: list[RenderableType] = [layers]
    if options := [row for row in catalogue.settings if row.layer]:
        parts += [Text("\nOptions of layers", "italic"), settings_blocks(options)]
    return Group(*parts, *(Text(f"left out: {text}", "yellow") for text in catalogue.problems))


def settings_blocks(rows: list[Setting]) -> Group:
    """Settings, a block each: no width of a terminal breaks a name or a word."""
    blocks: list[RenderableType] = []
    for row in rows:
        option = f"{row.layer}({row.option})" if row.layer else row.option
        value = f"{value_text(row)}; default: {row.default or 'unset'}"
        below = Text.assemble((value, "cyan"), "\n", row.meaning)
        blocks += [Text.assemble((option, "bold"), f"  {row.env}"), Padding(below, (0, 0, 0, 4))]
    return Group(*blocks)


def value_text(row: Setting) -> str:
    """What a value looks like, in a few words."""
    if row.type == "choice":
        return " | ".join(row.choices)
    return row.type + (f" ({row.unit})" if row.unit else "")
