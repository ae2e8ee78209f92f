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

STACKS = {
    "alone": (["object"], 60),
    "below": (["async_object", "cache_object", "trace_object"], 20),
}


@pytest.mark.timeout(7200)  # each program has a limit of its own
@pytest.mark.parametrize("where", STACKS)
def test_random_programs(tmp_path: Path, where: str) -> None:
    names, daily = STACKS[where]
    plain = native(tmp_path)
    layers = [stack(name, PLUGINS, tmp_path, plain) for name in names]
    arena = Arena(plain, layers, tmp_path)
    with arena:
        drive(arena, 10_000 if LONG else daily, SEED, 8)
    assert (tmp_path / "store").is_dir()
    for layer in layers:
        assert took_part(layer) > 0.6 * arena.programs
    assert arena.copied > arena.programs / 2
    assert arena.failed < 0.4 * arena.executed, "most statements must work"
    print(f"seed {SEED}: {arena.summary()}")
