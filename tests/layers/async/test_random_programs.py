"""Random programs see the same bytes and errors, and leave the same files, as under native HDF5.

HEADRACE_RANDOM_PROGRAMS=N runs that many under each stack; `python -m random_programs` has more to
choose from.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from harness.build import PLUGINS
from harness.corpus import SOURCES, compile_preload
from harness.run import run
from harness.seed import SEED
from random_programs.compare import Arena, DifferenceError, Stack
from random_programs.run import drive
from random_programs.stacks import did, native, stack, took_part

LIAR = SOURCES.parent / "random_programs/liar.c"
COUNT = os.environ.get("HEADRACE_RANDOM_PROGRAMS")
# What a stack must have done, too.
WORK = {
    "behind": [("vfd", "written_behind_bytes")],
    "behind_small": [("vfd", "written_behind_bytes")],
    "async": [("vol", "requests_merged"), ("vol", "chunks_encoded")],
    "async_small": [("vol", "chunks_encoded")],
    "filters": [("vol", "chunks_encoded"), ("vol", "chunk_cache_hits")],
    "filters_small": [("vol", "chunks_encoded")],
    "filters_bare": [("vol", "chunks_encoded")],
    "log": [("vol", "writes_logged")],
    "log_later": [("vol", "writes_logged")],
    "tune_small": [("vol", "chunk_caches_enlarged")],
}
# The stacks of a group run side by side and share the native run; each group has its own programs.
GROUPS = [
    (["null", "trace"], 300),
    (["behind", "behind_small"], 900),
    (["async", "async_small"], 1100),
    (["filters", "filters_small", "filters_bare"], 600),
    (["log", "log_later"], 700),
    (["tune", "tune_small"], 600),
]
DAILY = 15  # the part that each day has


def group(names: list[str], count: int, *marks: pytest.MarkDecorator) -> ParameterSet:
    """Workers share the groups."""
    name = "-".join([*names, str(count)])
    return pytest.param(names, count, id=name, marks=[pytest.mark.xdist_group(name), *marks])


@pytest.mark.timeout(7200)  # each program has a limit of its own
@pytest.mark.parametrize(
    ("names", "count"),
    [
        *(group(names, count // DAILY) for names, count in GROUPS),
        *(group(names, count, pytest.mark.long) for names, count in GROUPS),
    ],
)
def test_random_programs(names: list[str], count: int, tmp_path: Path) -> None:
    plain = native(tmp_path)
    stacks = [stack(name, PLUGINS, tmp_path, plain) for name in names]
    arena = Arena(plain, stacks, tmp_path)
    with arena:
        drive(arena, int(COUNT or count), SEED + count, 8)
    for one in stacks:
        assert took_part(one) > 0.6 * arena.programs, one.name
        done = {work: did(one, seat, work) for seat, work in WORK.get(one.name, ())}
        if arena.programs >= 500:  # of few some may have no use for a cache
            assert all(times > 0.03 * arena.programs for times in done.values()), (one.name, done)
        elif arena.programs >= 60:
            assert not done or any(done.values()), one.name
    assert len(arena.native_lost) <= 2 + 0.01 * arena.programs
    assert arena.failed < 0.4 * arena.executed, "most statements must work"
    print(f"seed {SEED + count}: {arena.summary()}")


@pytest.mark.parametrize("lie", ["change", "lose"])
def test_lies_of_the_disk_are_found(lie: str, tmp_path: Path) -> None:
    """The proof that the test above can fail, and that what it reports is short."""
    plain = native(tmp_path)
    liar = compile_preload(tmp_path, LIAR)
    environment = plain | {"LD_PRELOAD": f"{plain['LD_PRELOAD']}:{liar}", "LIE": lie}
    arena = Arena(plain, [Stack("liar", environment, exact=False, seats=())], tmp_path)
    with arena, pytest.raises(DifferenceError):
        drive(arena, 1000, 5, 4)
    assert len(arena.found[-1].statements) <= 4
    script = [sys.executable, str(tmp_path / "shrunk.py")]
    honest, lied = (run(script, env=env, cwd=tmp_path) for env in (plain, environment))
    assert honest.status == lied.status == 0, lied.text
