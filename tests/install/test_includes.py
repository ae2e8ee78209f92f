"""What `make lint` says of a project that includes what its table does not allow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from install.commands import ROOT

TABLE = """
checked = ["src"]
search = ["src"]
[rooms]
"src/low" = []
"src/high" = ["src/low"]
"""


def lint(root: Path, table: str, low: str = "") -> str:
    """What it complains of; `low` is in the lower of two rooms."""
    for name, text in {
        "scripts/lint/includes.toml": table,
        "src/high/high.hpp": '#include "low/low.hpp"\n',
        "src/low/low.hpp": "#include <high/high.hpp>\n",
        "src/low/low.cpp": f'#include "low.hpp"\n{low}',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    words: list[str | Path] = [sys.executable, ROOT / "scripts/lint/includes.py", root]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if done.stderr else 0)
    return done.stderr.strip()


UP = '#include "high/high.hpp"\n'


def test_what_the_rows_allow_passes(tmp_path: Path) -> None:
    assert lint(tmp_path, TABLE) == ""


@pytest.mark.parametrize(
    ("table", "low", "complaint"),
    [
        (TABLE, UP, "src/low/low.cpp:2: src/low may not include src/high (src/high/high.hpp)"),
        (TABLE, '#include "hdf5.h"\n', "hdf5.h"),
        (TABLE.replace('"src/low" = []\n', ""), "", "is in no room"),
        (TABLE.replace("[]", '["src/high"]'), "", "the rows make a circle"),
        (TABLE.replace("[]", '["src/hihg"]'), "", "src/hihg, which is no room"),
        (TABLE + '"src/gone" = []', "", "the room src/gone has no files"),
    ],
    ids=["up", "foreign", "outside", "circle", "unknown", "empty"],
)
def test_complains(tmp_path: Path, table: str, low: str, complaint: str) -> None:
    assert complaint in lint(tmp_path, table, low)
