"""Stand-ins of files that the trace tells little of, or lies about."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import pytest
from h5py import h5a
from harness.run import run
from harness.stack import CLEAN
from layers.trace.replay.inputs import make_input, read_all_kinds, recorded_without, stand_in
from layers.trace.test_damage import segment_of

from headrace.errors import FileError
from headrace.trace.model.segments import FACTS, segments

if TYPE_CHECKING:
    from layers.trace.replay.conftest import Recorded


def read_by_places() -> None:
    with h5py.File("x.h5", "r+") as file:
        assert h5a.open(file.id, index=0).shape == ()
        assert file["elsewhere"][3] == 0
        del file["never looked at"]
        assert file["plain"][5:10].size == 5


def test_what_too_little_is_known_of_is_named_and_left_out(layer: Recorded) -> None:
    make_input(layer.folder / "x.h5")
    with h5py.File(layer.folder / "x.h5", "r+") as file:
        there = [(str(layer.folder / "raw"), 0, 80)]
        file.create_dataset("elsewhere", (10,), "i8", external=there)
    (layer.folder / "raw").write_bytes(bytes(80))
    layer.record(read_by_places)
    (layer.folder / "x.h5").unlink()
    (layer.folder / "raw").unlink()
    made = stand_in(layer)
    assert made.datasets == 1
    assert [each.split(" ")[0] for each in made.unknown] == ["/#0@?", "/never", "/elsewhere"]
    assert made.words.startswith("x.h5 is not there: a stand-in with 1 dataset was made of what")
    assert "/elsewhere (its elements are in other files)" in made.words
    assert layer.replayed().likeness.calls["dataset_read"] == -1
    assert not (layer.folder / "raw").exists()


@pytest.mark.parametrize("name", ["../../x.h5", "/nowhere/../x.h5", "..", "/", "x\\u0000.h5"])
def test_no_name_in_a_trace_leads_out_of_the_replays_folder(layer: Recorded, name: str) -> None:
    recorded_without(layer, read_all_kinds)
    (file,) = (layer.folder / "traced").iterdir()
    altered = b""
    for each in segments(file.read_bytes()):
        contents = each.contents
        if each.table == FACTS:
            contents = contents.replace(b'"x.h5"', f'"{name}"'.encode())
            contents = contents.replace(b'"/plain"', b'"/../../plain"')
        altered += segment_of(each.table, each.rows, contents)
    file.write_bytes(altered)
    before = set(layer.folder.parent.iterdir())
    native = layer.replayed()
    (made,) = native.files.values()
    assert Path(made).resolve().parent == layer.folder / "under-native"
    assert native.likeness.requests > 0
    assert set(layer.folder.parent.iterdir()) == before


def test_an_older_trace_says_what_is_missing(layer: Recorded) -> None:
    recorded_without(layer, read_all_kinds)
    (file,) = (layer.folder / "traced").iterdir()
    file.write_bytes(
        b"".join(
            segment_of(each.table, each.rows, each.contents.replace(b'"opened":', b'"unknown":'))
            for each in segments(file.read_bytes())
        )
    )
    with pytest.raises(FileError, match="which is not there; say where"):
        layer.replayed()


def test_the_command_says_what_it_made(layer: Recorded) -> None:
    recorded_without(layer, read_all_kinds)
    headrace = Path(sys.executable).with_name("headrace")
    options = ["--inputs", ".", "--stack", "native", "--repeats", "1", "--out", "done"]
    done = run(
        [headrace, "bench", "trace", "traced", *options],
        env={**CLEAN, "HDF5_PLUGIN_PATH": str(layer.plugins)}, cwd=layer.folder, limit=60,
    )  # fmt: skip
    assert done.status == 0, done.text
    words = "x.h5 is not there: a stand-in with 8 datasets was made of what the trace knows"
    assert f"note: {words}\n" in done.text
    results = json.loads((layer.folder / "done" / "replay.json").read_text())
    assert results["native"]["stand_ins"] == [words]
