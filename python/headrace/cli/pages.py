"""The settings as pages of documentation."""

from headrace.catalogue import Catalogue, LayerInfo
from headrace.table import Setting

_INTRODUCTION = """# Settings

This folder is generated from the table that the plug-ins carry: `headrace settings --markdown
docs/settings` writes it, and `headrace settings` shows the same on a terminal.

A setting of a layer can be given in a stack, `layer(option=value)`, in a configuration file below
`[layers.layer]`, or by its environment variable; the first of these that is given counts. Settings
of no layer go below `[settings]` in a configuration file or into the environment. In Python the
names below are keyword arguments of `headrace.enable()` and attributes of `headrace.settings`.

A name that starts with `HEADRACE_` and is none of these, or a value that is malformed, is an error.

| type | values |
|---|---|
| choice | one of the words listed |
| boolean | `true`, `false`, `1`, `0` |
| integer | a whole number |
| size | bytes, or with a suffix: `K` `KiB` `M` `MiB` `G` `GiB` `T` `TiB`, all powers of 1024 |
| duration | nanoseconds, or with a suffix: `ns` `us` `ms` `s` |
| path, string | any text |

"""


def pages(catalogue: Catalogue) -> dict[str, str]:
    """The text of each page by file name: README.md and one per layer that has options."""
    layers = sorted(catalogue.layers.values(), key=lambda layer: layer.name)
    own = {layer.name: _rows(catalogue, layer.name) for layer in layers}
    listing = ["## Layers", "", "| layer | seats | what it is |", "|---|---|---|"]
    for layer in layers:
        label = f"[{layer.name}]({layer.name}.md)" if own[layer.name] else layer.name
        listing.append(f"| {label} | {', '.join(layer.seats())} | {_cell(layer.summary)} |")
    front = _INTRODUCTION + "## Settings of no layer\n\n" + _table(_rows(catalogue, ""))
    result = {"README.md": front + "\n" + "\n".join(listing) + "\n"}
    for layer in layers:
        if own[layer.name]:
            result[f"{layer.name}.md"] = _layer_page(layer, own[layer.name])
    return result


def _layer_page(layer: LayerInfo, rows: list[Setting]) -> str:
    seats = " and ".join(layer.seats())
    return f"# {layer.name}\n\n{layer.summary}\n\nSeats: {seats}.\n\n{_table(rows)}"


def _rows(catalogue: Catalogue, layer: str) -> list[Setting]:
    return [row for row in catalogue.settings if row.layer == layer]


def _table(rows: list[Setting]) -> str:
    head = "| option | environment | Python | type | default | meaning |"
    lines = [head, "|---|---|---|---|---|---|"]
    for row in rows:
        kind = "choice: " + ", ".join(row.choices) if row.type == "choice" else row.type
        unit = f", {row.unit}" if row.unit else ""
        default = f"`{row.default}`" if row.default else "unset"
        lines.append(
            f"| `{row.option}` | `{row.env}` | `{row.python}` | {_cell(kind + unit)} "
            f"| {_cell(default)} | {_cell(row.meaning)} |"
        )
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
