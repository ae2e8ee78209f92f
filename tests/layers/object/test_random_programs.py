"""Random programs see in containers what they see in files, and another process reads the same.

`python -m random_programs --stack object` runs more of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.build import PLUGINS
from harness.seed import LONG, SEED
from random_programs.compare import Arena
from random_programs.run import drive
from random_programs.stacks import native, stack, took_part

PROGRAMS = 10_000 if LONG else 60


@pytest.mark.timeout(7200)  # each program has a limit of its own
def test_random_programs(tmp_path: Path) -> None:
    plain = native(tmp_path)
    layer = stack("object", PLUGINS, tmp_path, plain)
    arena = Arena(plain, [layer], tmp_path)
    with arena:
        drive(arena, PROGRAMS, SEED, 8)
    assert (tmp_path / "store").is_dir()
    assert took_part(layer) > 0.6 * arena.programs
    assert arena.copied > arena.programs / 2
    assert arena.failed < 0.4 * arena.executed, "most statements must work"
    print(f"seed {SEED}: {arena.summary()}")
