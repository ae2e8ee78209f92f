"""`headrace object`: what it tells of stores and files, and what it refuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from harness.build import PLUGINS, sanitized
from harness.layer import Layer
from harness.run import Result, run
from harness.stack import CLEAN

HEADRACE = Path(sys.executable).with_name("headrace")
TOOL = PLUGINS.parents[1] / "bin/headrace-object"
MADE = """
with h5py.File('x.h5', 'w') as f:
    f['g/d'] = np.zeros((4, 100_000), 'u1')
    c = f.create_dataset('c', (4, 100_000), 'u1', chunks=(1, 100_000), maxshape=(None, None))
    c[...] = 7
    f.create_dataset('words', (3,), h5py.string_dtype())[:] = ['some', 'words', 'here']
    f['soft'] = h5py.SoftLink('/g/d')
    f['out'] = h5py.ExternalLink('o.h5', '/d')
"""
READ = "with h5py.File('{}', 'r') as f: print(f['g/d'][...].sum(), f['words'][1].decode())"


def ask(layer: Layer, *words: str) -> Result:
    return run([HEADRACE, "object", *words], env=CLEAN, cwd=layer.folder)


# What the command asks, in less time.
def tool(layer: Layer, *words: str) -> Result:
    return run([TOOL, *words], env=sanitized(CLEAN), cwd=layer.folder)


def told(layer: Layer, *words: str, status: int = 0) -> list[dict[str, Any]]:
    done = tool(layer, *words)
    assert done.status == status, done.text
    return [json.loads(line) for line in done.out.splitlines()]


def refused(layer: Layer, *words: str, because: str) -> None:
    done = tool(layer, *words)
    assert done.status == 2, done.text
    assert because in done.text, done.text


@pytest.fixture
def made(object_layer: Layer) -> Layer:
    object_layer.python(MADE)
    return object_layer


def container_of(layer: Layer, stub: str = "x.h5") -> str:
    return (layer.folder / stub).read_bytes().split(b"container=")[1][:16].decode()


def data_files(layer: Layer) -> list[Path]:
    files = (layer.folder / "store/files").rglob("*")
    return [one for one in files if one.is_file() and one.name != "lock"]


def test_it_lists_stores_and_files(made: Layer) -> None:
    (line,) = told(made, "ls", "store")
    assert line["container"] == container_of(made)
    assert (line["stub"], line["there"]) == (str(made.folder / "x.h5"), True)
    assert line["bytes"] > 800_000
    links = {line["path"]: line for line in told(made, "ls", "x.h5")}
    assert sorted(links) == ["/", "/c", "/g", "/g/d", "/out", "/soft", "/words"]
    assert links["/c"]["dims"] == [4, 100_000]
    assert links["/out"]["file"] == "o.h5"
    text = ask(made, "ls", "x.h5").text
    assert "4/inf x 100000/inf  /c" in text
    assert "soft link" in text


def test_it_knows_where_a_moved_stub_is_once_that_was_opened(made: Layer) -> None:
    (made.folder / "x.h5").rename(made.folder / "y.h5")
    (line,) = told(made, "ls", "store")
    assert (line["stub"], line["there"]) == (str(made.folder / "x.h5"), False)
    (left,) = [one for one in told(made, "gc", "store") if "cleaned" in one]
    assert "stub is not where it was" in left["left_alone"]
    made.python("h5py.File('y.h5', 'r+').close()")
    (line,) = told(made, "ls", "store")
    assert (line["stub"], line["there"]) == (str(made.folder / "y.h5"), True)


def test_it_tells_what_a_file_and_its_objects_have(made: Layer) -> None:
    (line,) = told(made, "stat", "x.h5")
    assert (line["groups"], line["datasets"], line["links"], line["heaps"]) == (2, 3, 6, 1)
    assert (line["garbage"], line["damaged"]) == (0, False)
    made.python("with h5py.File('x.h5', 'r+') as f: f['c'].resize((2, 10)); f['c'].attrs['a'] = 1")
    (line,) = told(made, "stat", "x.h5", "/c")
    assert (line["kind"], line["dims"], line["epoch"]) == ("dataset", [2, 10], 1)
    assert [one["name"] for one in line["attributes"]] == ["a"]
    assert (line["chunks"], told(made, "gc", "x.h5")[0]["chunks"]) == (4, 2)  # rows cut off
    assert told(made, "stat", "x.h5", "/c")[0]["chunks"] == 2
    look = "with h5py.File('x.h5', 'r+') as f: d = f['c']; d.resize((4, 20)); print(d[...].sum())"
    assert made.python(look).out == b"140\n"
    refused(made, "stat", "x.h5", "/g/none", because="there is no none in /g")
    refused(made, "stat", "x.h5", "/out", because="leads out of the container")


def test_it_tells_what_is_damaged(made: Layer) -> None:
    assert "x.h5 is whole" in ask(made, "fsck", "--data", "x.h5").text
    path = data_files(made)[0]
    bytes_of = path.read_bytes()
    path.write_bytes(bytes_of[:5000] + b"?" + bytes_of[5001:])
    assert told(made, "fsck", "x.h5")[-1]["damage"] == 0
    finding, checked = told(made, "fsck", "--data", "x.h5", status=1)
    assert finding["object"] in ("/c", "/g/d")
    assert "damaged" in finding["cause"]
    assert checked["damage"] == 1
    for harm in (lambda: path.write_bytes(bytes_of[:-1]), path.unlink):
        harm()
        done = ask(made, "fsck", "store")
        assert done.status == 1
        assert f"{made.folder}/x.h5 is damaged" in done.text
        assert finding["object"] in done.text


def test_a_file_that_is_open_is_left_alone(made: Layer) -> None:
    for words in (["fsck", "x.h5"], ["gc", "x.h5"], ["rm", "x.h5"], ["gc", "store"]):
        command = [str(TOOL), *words]
        program = (
            "import subprocess\n"
            f"with h5py.File('x.h5', 'r'): sys.exit(subprocess.call({command!r}))"
        )
        done = made.start(program)
        assert done.status == (1 if words[1] == "store" else 2), done.text
        assert "which is open" in done.text
    assert made.python(READ.format("x.h5")).out == b"0 words\n"


def test_it_removes_files_and_copies_of_stubs(made: Layer) -> None:
    shutil.copy(made.folder / "x.h5", made.folder / "copy.h5")
    assert "container" in ask(made, "rm", "copy.h5").text
    assert made.python(READ.format("x.h5")).out == b"0 words\n"
    made.python("h5py.File('y.h5', 'w').close()", f"store={made.folder}/other;")
    refused(made, "rm", f"--store={made.folder}/other", "x.h5", because="is not in the store")
    assert ask(made, "rm", "x.h5").status == 0
    assert not (made.folder / "x.h5").exists()
    assert told(made, "ls", "store") == []
    assert data_files(made) == []


def test_a_container_is_removed_by_its_id_when_its_stub_is_gone(made: Layer) -> None:
    container = container_of(made)
    by_id = f"--id={container}"
    refused(made, "rm", by_id, "store", because="is the file")
    refused(made, "rm", "store", because="Name it by --id")
    (made.folder / "x.h5").unlink()
    done = ask(made, "rm", "store", "--id", container)
    assert done.status == 2
    assert "was not removed" in done.text
    (line,) = told(made, "ls", "store")
    assert (line["stub"], line["there"]) == (str(made.folder / "x.h5"), False)
    assert ask(made, "rm", "store", "--id", container, "--yes").status == 0
    assert told(made, "ls", "store") == []
    refused(made, "rm", by_id, "store", because="there is no container")


def test_a_lost_stub_is_made_again(made: Layer) -> None:
    container = container_of(made)
    refused(made, "link", "store", container, "y.h5", because="two names")
    (made.folder / "x.h5").unlink()
    assert tool(made, "link", "store", container, "y.h5").status == 0
    assert made.python(READ.format("y.h5")).out == b"0 words\n"
    made.python("with h5py.File('y.h5', 'r+') as f: f['new'] = 1")
    refused(made, "link", "store", container, "z.h5", because="y.h5")
    refused(made, "link", "store", "0123456789abcdef", "z.h5", because="no container")


def test_a_copy_is_not_cleaned_as_long_as_programs_may_have_the_first(made: Layer) -> None:
    shutil.copy(made.folder / "x.h5", made.folder / "copy.h5")
    refused(made, "gc", "copy.h5", because="is a copy of the stub")
    assert tool(made, "fsck", "copy.h5").status == 0
    (made.folder / "x.h5").unlink()
    refused(made, "gc", "copy.h5", because="open the copy for writing once")
    made.python("h5py.File('copy.h5', 'r+').close()")
    assert tool(made, "gc", "copy.h5").status == 0


def test_what_a_program_counts_references_to_is_not_garbage(object_layer: Layer) -> None:
    program = (
        "import ctypes\nlibrary = next(line.split()[-1] for line in open('/proc/self/maps') "
        "if '/libhdf5-' in line)\n"
        "raise_count = ctypes.CDLL(library).H5Oincr_refcount\n"
        "raise_count.argtypes = [ctypes.c_int64]\n"
        "with h5py.File('x.h5', 'w') as f:\n"
        "  d = f.create_dataset('d', data=np.arange(9))\n"
        "  f.create_dataset('r', data=d.ref, dtype=h5py.ref_dtype)\n"
        "  assert raise_count(d.id.id) == 0\n"
        "  del f['d']\n"
    )
    look = "with h5py.File('x.h5') as f: print(f[f['r'][()]][...].sum())"
    object_layer.python(program)
    assert object_layer.python(look).out == b"36\n"
    assert told(object_layer, "gc", "x.h5")[0]["chunks"] == 0
    assert object_layer.python(look).out == b"36\n"
    assert told(object_layer, "fsck", "x.h5")[-1]["garbage"] == 0


def test_a_file_is_copied_out_of_the_store_and_into_it(made: Layer) -> None:
    store = str(made.folder / "store")
    assert ask(made, "cp", "x.h5", "plain.h5").status == 0
    assert made.plain(READ.format("plain.h5")) == "0 words"
    assert ask(made, "cp", "plain.h5", "again.h5", f"--store={store}").status == 0
    assert made.python(READ.format("again.h5")).out.split() == [b"0", b"words"]
    assert told(made, "fsck", "again.h5")
    for words, because in (
        (("cp", "x.h5", "plain.h5"), "file exists"),
        (("cp", "plain.h5", "new.h5"), "--store says which store"),
        (("cp", "report", "new.h5", f"--store={store}"), "file signature not found"),
    ):
        done = ask(made, *words)
        assert done.status != 0
        assert because in done.text, done.text
    assert not (made.folder / "new.h5").exists()


def test_of_a_copy_that_fails_nothing_is_left(made: Layer) -> None:
    store = made.folder / "store"
    made.plain("""
with h5py.File('refused.h5', 'w') as f:
    f['fine'] = 1
    f.create_dataset('outside', (3,), 'i4', external='raw')
""")
    before = told(made, "ls", str(store))
    done = ask(made, "cp", "refused.h5", "new.h5", f"--store={store}")
    assert done.status != 0
    assert "external" in done.text, done.text
    assert not (made.folder / "new.h5").exists()
    assert told(made, "ls", str(store)) == before


@pytest.mark.parametrize("into_store", [False, True])
def test_a_killed_copy_has_not_the_name(made: Layer, into_store: bool) -> None:
    store = made.folder / "store"
    made.plain("with h5py.File('plain.h5', 'w') as f: f['d'] = 1")
    source = made.folder / ("plain.h5" if into_store else "x.h5")
    program = f"""
import os, signal
from pathlib import Path
from headrace import copying
copying._rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
folder = Path({str(made.folder)!r})
copying.copy_file(Path({str(source)!r}), folder / "n.h5", folder / "store",
                  to_container={into_store})
"""
    done = run([sys.executable, "-c", program], env=CLEAN, cwd=made.folder)
    assert done.status == -signal.SIGKILL, done.text
    assert not (made.folder / "n.h5").exists()
    options = [f"--store={store}"] if into_store else []
    assert ask(made, "cp", source.name, "n.h5", *options).status == 0
    assert len(list(made.folder.glob(".headrace-cp-*"))) == 1, "that of the killed one"
    if into_store:
        stubs = [line["stub"] for line in told(made, "ls", "store") if line["there"]]
        assert str(made.folder / "n.h5") in stubs


def test_a_pipe_is_no_file_to_be_copied(made: Layer) -> None:
    os.mkfifo(made.folder / "pipe")
    done = ask(made, "cp", "pipe", "new.h5")
    assert done.status == 2
    assert "is no regular file" in done.text


def test_a_symbolic_link_to_a_stub_is_not_removed(made: Layer) -> None:
    (made.folder / "link.h5").symlink_to("x.h5")
    refused(made, "rm", "link.h5", because="link.h5 is a symbolic link")
    assert made.python(READ.format("x.h5")).out == b"0 words\n"


def test_doctor_knows_stubs(made: Layer) -> None:
    def doctor(*words: str, status: int = 0, **environment: str) -> str:
        done = run(
            [HEADRACE, "doctor", "--file", *words], env={**CLEAN, **environment}, cwd=made.folder
        )
        assert done.status == status, done.text
        return done.text

    store = made.folder / "store"
    named = f"container {container_of(made)} in the store {store}"
    text = doctor("x.h5")
    assert named in text
    assert "its store has the container, with 2 groups, 3 datasets" in text
    assert f"--stack 'object(store={store})'" in text
    shown = json.loads(doctor("x.h5", "--json"))["container"]
    assert shown["id"] == container_of(made)
    stub = (made.folder / "x.h5").read_bytes()
    other = stub.replace(container_of(made).encode(), b"0" * 16)
    (made.folder / "y.h5").write_bytes(other)
    assert "is not in the store" in doctor("y.h5", status=1)
    shutil.copy(made.folder / "x.h5", made.folder / "z.h5")
    assert "copied stub" in doctor("z.h5")
    store.rename(made.folder / "elsewhere")
    assert "is no store" in doctor("x.h5", status=1)
    elsewhere = str(made.folder / "elsewhere")
    assert "its store has" in doctor("x.h5", HEADRACE_OBJECT_STORE=elsewhere)
