"""`headrace settings`: the table of settings, on the terminal or as pages of documentation."""

import os
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli import pages
from headrace.cli.help import settings_blocks
from headrace.cli.output import console, reports_errors
from headrace.errors import SettingError, unknown
from headrace.plugins import load_catalogue

EXAMPLES = """
**Examples**

    headrace settings

    headrace settings log

    headrace settings --markdown docs/settings
"""

LayerArgument = Annotated[
    str | None, typer.Argument(help="Only the options of this layer.", show_default=False)
]
MarkdownOption = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write Markdown pages into DIR instead, one per layer."),
]


@reports_errors
def settings(layer: LayerArgument = None, markdown: MarkdownOption = None) -> None:
    """Show all settings: option of a layer, environment variable, type, default and meaning.

    An option in a stack beats a configuration file, which beats the environment, which beats the
    default. Unknown and malformed settings are errors, never ignored.
    """
    catalogue = load_catalogue(os.environ)
    if layer is not None and layer not in catalogue.layers:
        raise SettingError(unknown("layer", layer, catalogue.layers))
    if markdown is not None:
        for name, text in pages.pages(catalogue).items():
            markdown.mkdir(parents=True, exist_ok=True)
            (markdown / name).write_text(text, encoding="utf-8")
        return
    chosen = [row for row in catalogue.settings if layer is None or row.layer == layer]
    console().print(settings_blocks(chosen))
