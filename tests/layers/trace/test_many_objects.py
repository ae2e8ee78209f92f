"""What is known of a file with long names takes no room from other files."""

from __future__ import annotations

import h5py
from layers.trace.conftest import Traced


def beside_long_names() -> None:
    """The last of the long names is more than is kept of all files."""
    with h5py.File("long.h5", "w", libver="latest") as long, h5py.File("short.h5", "w") as short:
        for i in range(70):
            long.create_group(f"{i:060000}")
        for i in range(20):
            short.create_group(f"b{i}")
            short.require_group("a")


def test_objects_of_another_file_keep_their_ids(layer: Traced) -> None:
    layer.python(beside_long_names)
    (process,) = layer.read().processes
    paths = [each["path"] for each in process.objects.values()]
    assert sum(len(each) > 60_000 for each in paths) == 70
    assert paths.count("/a") == 1
