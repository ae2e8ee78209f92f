"""`headrace` that fails to make the page of a report."""

from typing import Any

from headrace.bench.report import page
from headrace.cli import app


def _render(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no figure")


page.render = _render
app(prog_name="headrace")
