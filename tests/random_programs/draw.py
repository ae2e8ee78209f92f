"""Hypothesis' strategy for programs. It shrinks to fewer operations with simpler choices."""

from __future__ import annotations

from hypothesis import strategies as st

from random_programs.registry import OPERATIONS
from random_programs.translate import Program

# Drawn often enough that programs can shrink below the least length of a list.
KINDS = ["nothing", *(name for name, (weight, _) in OPERATIONS.items() for _ in range(weight))]
OPERATION = st.tuples(st.sampled_from(KINDS), st.binary(min_size=14, max_size=20).map(bytes.hex))


def programs(length: int = 14) -> st.SearchStrategy[Program]:
    """Lists of up to about twice the given number of operations."""
    return st.lists(OPERATION, min_size=length, max_size=2 * length)
