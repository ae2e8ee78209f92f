"""A parallel program under the layer `trace`."""

from __future__ import annotations

from pathlib import Path

from harness.build import PLUGINS, built
from harness.prefix import Hdf5
from harness.ranks import env_of, launch
from harness.run import run

import headrace.trace


def told_by(hdf5: Hdf5, folder: Path, ranks: int, options: str = "") -> headrace.trace.Trace:
    """Of the program mpi_told, which leaves in `folder` what HDF5 says of its transfers."""
    connector = f"headrace_trace output=traced;{options}under_vol=0;under_info={{}}"
    done = run(
        [*launch(hdf5, ranks), built(f"tests/layers/log/ranks/mpi_told_{hdf5.mpi}")],
        env=env_of(connector, PLUGINS, folder / "report"),
        cwd=folder,
        limit=120,
    )
    assert done.status == 0, done.text
    return headrace.trace.open(folder / "traced")
