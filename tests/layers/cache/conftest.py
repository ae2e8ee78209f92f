"""What tests of this folder run their programs under."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from layers.cache.node import Cache


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    """Files that have changed just now are cached, too."""
    shared = Path(tempfile.mkdtemp(prefix="headrace-test-", dir="/dev/shm"))
    made = Cache(tmp_path, "cache", usual="memory=64MiB;settle=0;", shared=shared)
    yield made
    for process in made.started:
        process.kill()
        with process:  # closes its pipes
            process.wait()
    shutil.rmtree(shared)
