"""What `pip install headrace` alone brings is enough for the summary and the advice."""

from __future__ import annotations

import sys
from pathlib import Path

from harness.build import ROOT
from launched import HEADRACE, Launcher

EXTRAS = ("pyarrow", "jinja2", "pandas", "duckdb", "darshan", "optuna", "tomlkit", "scipy")
TABLES = """
import headrace.trace
from headrace.errors import FileError
trace = headrace.trace.open("mistake.hrtrace")
try:
    trace.calls
except FileError as error:
    print(error)
"""


def test_the_summary_and_the_advice_need_no_extra(tmp_path: Path) -> None:
    for name in EXTRAS:
        (tmp_path / "hidden" / name).mkdir(parents=True)
        (tmp_path / "hidden" / name / "__init__.py").write_text(
            f'raise ModuleNotFoundError("hidden", name="{name}")'
        )
    program = ROOT / "demo/mistake.py"  # README shows what is said of it
    launcher = Launcher(tmp_path)
    hidden = {"PYTHONPATH": str(tmp_path / "hidden")}
    done = launcher(HEADRACE, "trace", "--", sys.executable, program, **hidden)
    told = done.err.decode()
    assert done.status == 0, told
    assert "/field: " in told
    assert "advice for /field (line" in told
    tables = launcher(sys.executable, "-c", TABLES, **hidden)
    assert "for tables, pyarrow is needed: pip install 'headrace[trace]'" in tables.text
