"""`headrace` that is never done with a report; it leaves a mark when it makes one."""

import time
from pathlib import Path
from typing import Any

from headrace.bench import report
from headrace.cli import app


def _render(*_: Any, **__: Any) -> Any:
    Path("rendering").touch()
    time.sleep(60)


report.render = _render
app(prog_name="headrace")
