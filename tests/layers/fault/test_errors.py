"""Errors, short transfers and delays reach the program as what they are."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.run import Command, Result, run
from harness.stack import CLEAN, NATIVE
from layers.fault.conftest import FaultLayer


def call(name: str, function: Callable[[], Any]) -> Any:
    """Says how it ended."""
    try:
        result = function()
    except (OSError, RuntimeError, KeyError) as error:
        print(name, type(error).__name__, getattr(error, "errno", None), error, flush=True)
        return None
    print(name, "ok", flush=True)
    return result


def read_again(file: h5py.File) -> int:
    file["a"].id.refresh()
    return int(file["a"][:].sum())


def make_two_files() -> None:
    """The datasets are too long for HDF5 to keep them until they are closed.

    It crashes when that fails, without us as with us (docs/decisions/0002).
    """
    for name in ("x.h5", "other.h5"):
        f = call("create", partial(h5py.File, name, "w", libver="latest"))
        if f is None:
            os._exit(0)
        call("write", partial(f.create_dataset, "a", data=np.arange(20000)))
        call("flush", f.flush)
        call("read", partial(read_again, f))
        call("write more", partial(f.create_dataset, "b", data=np.arange(20000)))
        call("close", f.close)


def lines(done: Result) -> list[str]:
    assert done.status == 0, done.text
    return done.out.decode().splitlines()


def failed(done: Result) -> list[str]:
    return [line for line in lines(done) if not line.endswith(" ok")]


def test_nothing_by_default(fault: FaultLayer) -> None:
    """The files are native HDF5's to the byte."""
    found = []
    for stack in ("fault", "fault(seat=vfd)", "fault(seat=vol)", NATIVE):
        assert failed(fault.start(make_two_files, stack)) == []
        found.append([(fault.folder / name).read_bytes() for name in ("x.h5", "other.h5")])
        assert len(found[-1][0]) > 320000
    assert found[0] == found[1] == found[2] == found[3]
    assert fault.journal == []


# What HDF5 does to the call of the program, and the operation that failed.
@pytest.mark.parametrize(
    ("options", "call"),
    [
        ({"op": "write", "type": "raw"}, "write"),
        ({"op": "write", "type": "raw", "first": 2}, "write more"),
        ({"op": "write", "type": "metadata"}, "create"),
        ({"op": "read", "type": "raw"}, "read"),
        ({"op": "flush"}, "create"),
        ({"op": "flush", "first": 3}, "flush"),
        ({"op": "truncate"}, "flush"),
        ({"op": "open", "first": 2}, "create"),
        ({"op": "close", "file": "other.h5"}, "close"),
    ],
)
@pytest.mark.parametrize("name", ["EIO", "ENOSPC"])
def test_the_record_tells_what_was_injected(
    fault: FaultLayer, options: dict[str, Any], call: str, name: str
) -> None:
    number = {"EIO": 5, "ENOSPC": 28}[name]
    first, *_ = failed(fault.start(make_two_files, kind="error", errno=name, **options))
    line = fault.journal[0]
    assert line["operation"] == options["op"]
    assert line["number"] == options.get("first", 1)
    assert line["fault"] == "error"
    assert line["errno"] == name
    file = line["file"]
    assert Path(file).name == options.get("file", "x.h5")
    what = options["op"]
    if "length" in line:
        what += f" of {line['length']} bytes at offset {line['offset']}"
    assert first.startswith(call + " ")
    text = f"(injected fault: {name} at matching operation {line['number']}, {what} of file {file}"
    assert text in first
    assert f"errno = {number}, error message = '{os.strerror(number)}'" in first
    if call in ("create", "write", "read"):
        assert f" {number} [Errno {number}]" in first, "h5py raises the errno"


def delete_a_file() -> None:
    """By H5Fdelete, which h5py has no function for."""
    (library,) = Path(h5py.__file__).parents[1].glob("h5py.libs/libhdf5-*")
    h5py.File("x.h5", "w").close()
    hdf5 = ctypes.CDLL(str(library))
    print(hdf5.H5Fdelete(b"x.h5", ctypes.c_int64(0)), flush=True)
    hdf5.H5Eprint2(ctypes.c_int64(0), None)


def test_delete(fault: FaultLayer) -> None:
    file = fault.folder / "x.h5"
    file.write_bytes(b"")
    done = fault.start(delete_a_file, kind="error", op="delete", errno="EACCES")
    assert lines(done) == ["-1"]
    assert "injected fault: EACCES at matching operation 1, delete of file" in done.text
    assert file.exists()
    assert [line["operation"] for line in fault.journal] == ["delete"]
    assert lines(fault.start(delete_a_file)) == ["0"]
    assert not file.exists()


def test_only_files_that_match(fault: FaultLayer) -> None:
    for pattern in ("o*.h5", f"{fault.folder}/oth??.h5", "*/oth??.h5"):
        options = {"op": "write", "type": "raw", "file": pattern}
        done = fault.start(make_two_files, kind="error", **options)
        assert [line.split()[0] for line in failed(done)][:1] == ["write"]
        assert lines(done)[:6] == [
            f"{n} ok" for n in ("create", "write", "flush", "read", "write more", "close")
        ]
        assert Path(fault.journal[-1]["file"]).name == "other.h5"


def test_short_write(fault: FaultLayer) -> None:
    """A part arrives, and the error says how much."""
    options: dict[str, Any] = {"type": "raw", "part": 25, "errno": "ENOSPC"}
    first, *_ = failed(fault.start(make_two_files, kind="short", file="x.h5", **options))
    assert "of which 40000 were transferred: errno = 28" in first
    (line,) = fault.journal
    assert (line["length"], line["transferred"]) == (160000, 40000)
    content = (fault.folder / "x.h5").read_bytes()[line["offset"] :]
    whole = b"".join(number.to_bytes(8, "little") for number in range(20000))
    assert content[:40000] == whole[:40000]
    assert content[40000:160000].strip(b"\0") == b""


def test_an_error_transfers_nothing(fault: FaultLayer) -> None:
    failed(fault.start(make_two_files, kind="error", type="raw", file="x.h5"))
    (line,) = fault.journal
    content = (fault.folder / "x.h5").read_bytes()[line["offset"] :][: line["length"]]
    assert content.strip(b"\0") == b""


def read_what_is_written() -> None:
    h5py.File("x.h5", "w").create_dataset("a", data=np.arange(20000)).file.close()
    with h5py.File("x.h5") as f:
        got = np.full(20000, -1)
        try:
            f["a"].read_direct(got)
        except OSError as error:
            print(error.errno, (got[:10000] == range(10000)).all(), (got[10000:] == -1).all())


def test_short_read(fault: FaultLayer) -> None:
    done = fault.start(read_what_is_written, kind="short", op="read", type="raw")
    assert lines(done) == ["5 True True"]
    assert fault.journal[0]["transferred"] == 80000


def time_a_flush_of_chunks() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("a", (10,), "i8", chunks=(1,))
        begin = time.monotonic()
        d[...] = np.arange(10)
        f.flush()
    print(time.monotonic() - begin)


def test_delay(fault: FaultLayer) -> None:
    begin = time.monotonic()
    done = fault.start(time_a_flush_of_chunks, kind="delay", delay="50ms", count=6, type="raw")
    assert float(lines(done)[0]) >= 0.3
    assert time.monotonic() - begin < 20
    assert [line["delay"] for line in fault.journal] == [50_000_000] * 6


def flush_each_element() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("a", (200,), "i8", chunks=(1,))
        for i in range(200):
            d[i] = i
            f.flush()


def test_chance_is_the_seeds(fault: FaultLayer) -> None:
    """The same faults for the same seed, in another run of the program."""
    found = []
    for seed in (1, 1, 2):
        before = len(fault.journal)
        options: dict[str, Any] = {
            "type": "raw",
            "probability": 100000,
            "count": 0,
            "seed": seed,
            "delay": 0,
        }
        lines(fault.start(flush_each_element, kind="delay", **options))
        found.append([line["number"] for line in fault.journal[before:]])
    assert found[0] == found[1] != found[2]
    assert 5 < len(found[0]) < 40


def go_on_when_one_write_fails() -> None:
    with h5py.File("x.h5", "w") as f:
        f["before"] = np.arange(20000)
        try:
            f["lost"] = np.arange(50000)
        except OSError as error:
            print(error.errno)
        f["after"] = np.arange(200)


def test_a_full_disk_is_survived(fault: FaultLayer) -> None:
    """A program that frees what did not fit goes on, and its file is whole."""
    options: dict[str, Any] = {"kind": "error", "errno": "ENOSPC", "type": "raw", "first": 2}
    assert lines(fault.start(go_on_when_one_write_fails, **options)) == ["28"]
    assert fault.value("f['before'][:].sum(), f['after'][:].sum()") == "199990000 19900"
    assert len(fault.journal) == 1


@pytest.mark.parametrize("op", ["write", "flush", "truncate", "close", "any"])
@pytest.mark.parametrize("first", [1, 2, 4, 7])
def test_no_fault_crashes_the_program(fault: FaultLayer, op: str, first: int) -> None:
    """All operations fail from some moment on, to the end of the process."""
    done = fault.start(make_two_files, kind="error", op=op, first=first, count=0)
    assert done.status == 0, done.text


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "terror"}, "HEADRACE_FAULT_KIND: 'terror' is not one of none|error|short"),
        ({"first": "0"}, "setting first of layer fault: 0 is not from 1"),
        ({"probability": "1000001"}, "setting probability of layer fault"),
        ({"part": "100"}, "setting part of layer fault: 100 is not from 0 to 99"),
        ({"rank": "-1"}, "setting rank of layer fault: '-1' is neither a rank nor all"),
        ({"kind": "short", "op": "flush"}, "op=flush transfers nothing"),
        ({"op": "open", "type": "raw"}, "op=open transfers nothing"),
    ],
)
def test_nonsense_fails_the_open(fault: FaultLayer, options: dict[str, Any], named: str) -> None:
    done = fault.start("import h5py; h5py.File('x.h5', 'w')", **options)
    assert done.status == 1, done.text
    assert named in done.text


def test_options_in_a_stack(tmp_path: Path) -> None:
    """As a user gives them."""
    spec = "fault(kind=error,op=write,type=raw,errno=EDQUOT,file='x*.h5')"
    text = "import h5py\nwith h5py.File('x1.h5', 'w') as f: f['a'] = [7] * 99999"
    headrace = Path(sys.executable).with_name("headrace")
    command: Command = [headrace, "run", "--stack", spec, "--", sys.executable, "-c", text]
    done = run(command, env=CLEAN, cwd=tmp_path)
    assert done.status == 1, done.text
    assert "OSError: [Errno 122]" in done.text
    assert "injected fault: EDQUOT" in done.text


def test_settings_in_python(tmp_path: Path) -> None:
    program = Path(__file__).with_name("enabled.py")
    done = run([sys.executable, program], env=CLEAN, cwd=tmp_path)
    assert done.out == b"5\n", done.text
