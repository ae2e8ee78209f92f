"""The part of --help that depends on what is installed."""

import os
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from headrace.catalogue import Catalogue
from headrace.errors import HeadraceError
from headrace.plugins import load_catalogue
from headrace.settings import Setting


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
    options = settings_table([row for row in catalogue.settings if row.layer])
    options.title = "Options of layers"
    parts = [layers, options] if options.row_count else [layers]
    return Group(*parts, *(Text(f"left out: {text}", "yellow") for text in catalogue.problems))


def settings_table(rows: list[Setting]) -> Table:
    """Settings, one row each."""
    table = Table(title_justify="left")
    # Names are of no use in part.
    table.add_column("Option", overflow="fold")
    table.add_column("Environment", no_wrap=True)
    for heading in ("Value", "Default", "Meaning"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(
            Text(f"{row.layer}({row.option})" if row.layer else row.option, "bold"),
            row.env,
            Text(value_text(row)),
            Text(row.default or "unset"),
            Text(row.meaning),
        )
    return table


def value_text(row: Setting) -> str:
    """What a value looks like, in a few words."""
    if row.type == "choice":
        return " | ".join(row.choices)
    return row.type + (f" ({row.unit})" if row.unit else "")
