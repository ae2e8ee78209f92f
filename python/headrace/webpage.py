"""What the HTML pages of reports have in common. Needs jinja2, which is not always installed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import jinja2
from markupsafe import Markup

_SHEET: Final = Path(__file__).with_name("webpage.css")


def template(path: Path) -> jinja2.Template:
    """Of a page: what is put in is escaped, and what is missing is an error."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(path.read_text(encoding="utf-8"))


def style(*own: Path) -> Markup:
    """The sheet of all pages, and then a page's own."""
    sheets = [path.read_text(encoding="utf-8") for path in (_SHEET, *own)]
    return Markup("".join(sheets))  # noqa: S704, they are this package's own
