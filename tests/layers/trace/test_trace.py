"""What is recorded of a program, against what is known of it and what others count."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from harness.layer import NATIVE_BELOW
from layers.trace.conftest import Traced

import headrace.trace
from headrace.trace import Trace

pytestmark = pytest.mark.sanitized

ROWS, COLUMNS = 50, 1000


def write_and_read_rows() -> None:
    with h5py.File("x.h5", "w") as f:
        group = f.create_group("group")
        d = group.create_dataset("rows", (ROWS, COLUMNS), "f8", chunks=(1, COLUMNS))
        d.attrs["unit"] = np.arange(3)
        for i in range(ROWS):
            d[i] = np.arange(COLUMNS) + i
    with h5py.File("x.h5") as f:
        for i in range(0, ROWS, 2):
            f["group/rows"][i, 10:20]


def called(trace: Trace, name: str) -> list[dict[str, Any]]:
    return [each for each in trace.calls.to_pylist() if each["call"] == name]


def test_calls_tell_what_a_program_moves(layer: Traced) -> None:
    layer.python(write_and_read_rows)
    trace = layer.read()
    (process,) = trace.processes
    assert process.damage == ""
    written, read = called(trace, "dataset_write"), called(trace, "dataset_read")
    assert {each["path"] for each in (*written, *read)} == {"/group/rows"}
    assert [each["bytes"] for each in written] == [8 * COLUMNS] * ROWS
    assert [each["bytes"] for each in read] == [80] * (ROWS // 2)
    assert [each["file_start"] for each in written] == [i * COLUMNS for i in range(ROWS)]
    assert [each["file_start"] for each in read] == [i * COLUMNS + 10 for i in range(0, ROWS, 2)]
    (shape,) = {each["file_shape"] for each in read}
    told = process.shapes[shape]
    assert (told["kind"], told["block"], told["dims"]) == ("hyperslab", [1, 10], [ROWS, COLUMNS])
    (attribute,) = called(trace, "attr_write")
    assert (attribute["path"], attribute["attribute"]) == ("/group/rows", "unit")
    assert attribute["bytes"] == 24
    assert not any(each["failed"] for each in written)
    for layout in process.datasets.values():
        assert layout["chunk"] == [1, COLUMNS]
        assert layout["type"]["size"] == 8
    assert {each["name"] for each in process.files.values()} == {"x.h5"}


def test_requests_are_those_that_the_model_layer_counts(layer: Traced) -> None:
    below = f"under_vol=7202;under_info={{summary=model.json;{NATIVE_BELOW}}}"
    Traced(layer.folder, below=below).python(write_and_read_rows)
    counted: Counter[str] = Counter()
    for line in (layer.folder / "model.json").read_text().splitlines():
        told = json.loads(line)
        for kind in ("read", "write"):
            counted[f"{kind} requests"] += told[f"{kind}s"]["requests"]
            counted[f"{kind} bytes"] += told[f"{kind}s"]["bytes"]
        counted["flushes"] += told["flushes"]
    requests = layer.read().requests.to_pylist()
    found: Counter[str] = Counter()
    for each in requests:
        if each["request"] in ("read", "write"):
            found[f"{each['request']} requests"] += 1
            found[f"{each['request']} bytes"] += each["length"]
        found["flushes"] += each["request"] == "flush"
    assert found == counted
    numbers = {each["number"] for each in layer.read().calls.to_pylist()}
    assert {each["call"] for each in requests} <= numbers, "each was made in a recorded call"


def leave_a_file_open() -> None:
    f = h5py.File("x.h5", "w")
    f["x"] = np.arange(1000)
    f.create_dataset("chunked", data=np.arange(1000), chunks=True, compression="gzip")


def test_what_hdf5_closes_at_exit_is_recorded(layer: Traced) -> None:
    layer.python(leave_a_file_open)
    trace = layer.read()
    requests = [each for each in trace.requests.to_pylist() if each["request"] == "write"]
    end = max(each["offset"] + each["length"] for each in requests)
    assert end == (layer.folder / "x.h5").stat().st_size


def iterate_and_dereference() -> None:
    with h5py.File("x.h5", "w") as f:
        for i in range(5):
            f[f"deep/group{i}/x"] = i
        f["ref"] = f["deep/group1/x"].ref
        f["other"] = h5py.SoftLink("/deep/group2/x")
    with h5py.File("x.h5") as f:
        f.visititems(print)
        f["deep"].visit(print)
        f[f["ref"][()]][()]
        f["other"][()]
        deep = f["deep"]
        deep.id.links.iterate(print)


def test_objects_have_the_names_that_they_were_found_by(layer: Traced) -> None:
    layer.python(iterate_and_dereference)
    trace = layer.read()
    closed = {each["path"] for each in called(trace, "dataset_close")}
    assert {path for path in closed if not path.startswith("#")} == {
        "/ref", "/other", *(f"/deep/group{i}/x" for i in range(5)),
    }  # fmt: skip
    reads = [each["path"] for each in called(trace, "dataset_read")]
    assert reads[0] == "/ref"
    assert reads[1].startswith("#"), "a reference leads to a token"
    assert reads[2] == "/other"
    opened = {each["path"] for each in called(trace, "object_open")}
    assert {f"/deep/group{i}/x" for i in range(5)} <= opened


def ask_for_files_and_groups() -> None:
    with h5py.File("x.h5", "w") as f:
        f["g/x"] = np.arange(10)
        d = f["g/x"]
        again = h5py.File(f.id.reopen())
        print(len(again), d.file.name, len(d.file), len(d.parent))
        print(len(h5py.File(h5py.h5i.get_file_id(d.id))))
        print(h5py.h5o.get_info(again.id).num_attrs, d.file["g"].name, h5py.h5i.get_name(d.id))
        again["g"].visititems(lambda name, each: print(name, each.file.id.valid, len(each.attrs)))


def test_objects_that_no_call_opened_are_taken_as_they_are(layer: Traced) -> None:
    native = layer.plain(ask_for_files_and_groups)
    assert layer.python(ask_for_files_and_groups).out.decode().strip() == native


def fork_and_leave() -> None:
    with h5py.File("parent.h5", "w") as f:
        f["x"] = np.arange(10)
    inherited = h5py.File("parent.h5", "r")
    if (child := os.fork()) == 0:
        inherited["x"][()]
        with h5py.File("child.h5", "w") as f:
            f["x"] = np.arange(20)
        os._exit(0)
    os.waitpid(child, 0)
    inherited["x"][2:4]


def test_a_forked_process_has_a_trace_of_its_own(layer: Traced) -> None:
    layer.python(fork_and_leave)
    trace = layer.read()
    parent, child = sorted(trace.processes, key=lambda each: "forked_from" in each.about)
    assert child.about["forked_from"] == parent.source.name
    by_process = {0: Counter[str](), 1: Counter[str]()}
    for each in trace.calls.to_pylist():
        if each["call"] in ("dataset_read", "dataset_write"):
            by_process[each["process"]][f"{each['file']}:{each['bytes']}"] += 1
    mine = {each.source: by_process[n] for n, each in enumerate(trace.processes)}
    assert mine[parent.source] == {"parent.h5:80": 1, "parent.h5:16": 1}
    assert mine[child.source] == {"parent.h5:80": 1, "child.h5:160": 1}


def fork_with_staged_writes() -> None:
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("x", (1 << 20,), "f8")
        for i in range(20):
            d[i * 1000 : i * 1000 + 500] = i
            if (child := os.fork()) == 0:
                os._exit(0)
            os.waitpid(child, 0)
    with h5py.File("x.h5") as f:
        print(f["x"][19499])


def test_forks_while_a_layer_above_holds_writes(layer: Traced) -> None:
    below = f"under_vol=7210;under_info={{output=traced;{NATIVE_BELOW}}}"
    above = Traced(layer.folder, name="async", usual="seat=both;", below=below)
    assert above.python(fork_with_staged_writes).out.decode() == "19.0\n"
    assert len(layer.read().requests) > 0


def fork_without_hdf5() -> None:
    with h5py.File("x.h5", "w") as f:
        f["x"] = 1
    if (child := os.fork()) == 0:
        time.sleep(1.5)
        os._exit(0)
    os.waitpid(child, 0)


def test_a_child_that_uses_no_hdf5_leaves_no_file(layer: Traced) -> None:
    layer.python(fork_without_hdf5)
    assert len(list(layer.output.iterdir())) == 1


def read_in_threads() -> None:
    with h5py.File("x.h5", "w") as f:
        f["x"] = np.arange(1000)
        threads = [threading.Thread(target=lambda: f["x"][:10]) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()


def test_threads_are_told_apart(layer: Traced) -> None:
    layer.python(read_in_threads)
    trace = layer.read()
    threads = {each["thread"] for each in called(trace, "dataset_read")}
    assert len(threads) == 4
    assert not threads & {each["thread"] for each in called(trace, "file_create")}


@pytest.mark.parametrize("below", [7206, 7208], ids=["async", "log"])
def test_layers_below_change_requests_only(below: int, layer: Traced) -> None:
    layer.python(write_and_read_rows)
    alone = layer.read()
    for each in layer.output.iterdir():
        each.unlink()
    under = f"under_vol={below};under_info={{{NATIVE_BELOW}}}"
    Traced(layer.folder, below=under).python(write_and_read_rows)
    above = layer.read()
    kept = ("call", "path", "bytes", "file_start", "memory_start", "level", "failed")
    assert above.calls.select(kept).to_pylist() == alone.calls.select(kept).to_pylist()


def test_several_traces_in_a_stack_are_kept_apart(layer: Traced) -> None:
    lowest = f"under_vol=7210;under_info={{output=traced;{NATIVE_BELOW}}}"
    below = f"under_vol=7206;under_info={{{lowest}}}"
    Traced(layer.folder, below=below).python(write_and_read_rows)
    (process,) = layer.read().processes
    calls = layer.read().calls.to_pylist()
    upper = [each for each in calls if each["level"] == 0]
    written = [each["bytes"] for each in upper if each["call"] == "dataset_write"]
    assert sum(written) == 8 * ROWS * COLUMNS
    assert {each["level"] for each in calls} == {0, 1}
    assert {each["level"] for each in process.storages.values()} == {0, 1}
    numbers = {each["number"] for each in upper}
    assert all(each["parent"] in numbers for each in calls if each["level"] == 1 and each["parent"])


def test_anonymous_traces_have_no_names(layer: Traced) -> None:
    layer.python(write_and_read_rows, "output=traced;anonymous=true;")
    (process,) = layer.read().processes
    facts = str(
        (process.objects, process.files, process.storages, process.names, process.about["command"])
    )
    assert not any(word in facts for word in ("/group", "rows'", "x.h5", "python", "unit"))
    assert len({each["path"] for each in called(layer.read(), "dataset_write")}) == 1


def sip_hash(key: bytes, text: bytes) -> str:
    """SipHash-2-4 as its authors describe it."""
    k = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    words = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    v = [word ^ k[i % 2] for i, word in enumerate(words)]

    def turned(value: int, bits: int) -> int:
        return (value << bits | value >> (64 - bits)) % 2**64

    def half(a: int, b: int, c: int, d: int, bits: tuple[int, int]) -> None:
        v[a], v[c] = (v[a] + v[b]) % 2**64, (v[c] + v[d]) % 2**64
        v[b], v[d] = turned(v[b], bits[0]) ^ v[a], turned(v[d], bits[1]) ^ v[c]
        v[a] = turned(v[a], 32)

    def rounds(count: int) -> None:
        for _ in range(count):
            half(0, 1, 2, 3, (13, 16))
            half(2, 1, 0, 3, (17, 21))

    padded = text + bytes(-(len(text) + 1) % 8) + bytes([len(text) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little").hex()


def test_hashes_of_names_are_those_of_the_key(layer: Traced) -> None:
    assert sip_hash(bytes(range(16)), bytes(range(15))) == "e545be4961ca29a1", "the authors' own"
    layer.python(write_and_read_rows, "output=traced;anonymous=true;")
    key = (layer.output / "names.key").read_bytes()
    (path,) = {each["path"] for each in called(layer.read(), "dataset_write")}
    assert path == f"/{sip_hash(key, b'group')}/{sip_hash(key, b'rows')}"


def spawn_and_fork() -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    with h5py.File("x.h5", "w") as f:
        f["group/rows"] = 1
    reads = "import h5py; h5py.File('x.h5')['group/rows'][()]"
    subprocess.run([sys.executable, "-c", reads], check=True)
    if (child := os.fork()) == 0:
        with h5py.File("x.h5") as f:
            f["group/rows"][()]
        os._exit(0)
    os.waitpid(child, 0)


def test_names_are_the_same_in_all_processes_of_a_folder(layer: Traced) -> None:
    told = []
    for folder in ("one", "one", "other"):
        layer.python(spawn_and_fork, f"output={folder};anonymous=true;")
        processes = headrace.trace.open(layer.folder / folder).processes
        told.append({
            (process.files[each["file"]]["name"], each["path"])
            for process in processes
            for each in process.objects.values()
            if each["kind"] == "dataset"
        })  # fmt: skip
    assert len(processes) == 3
    ((first,), again, (other,)) = told
    assert again == {first}
    assert not set("/".join(first).split("/")) & set("/".join(other).split("/")) - {""}
    key = layer.folder / "one/names.key"
    assert (len(key.read_bytes()), key.stat().st_mode & 0o777) == (16, 0o600)


def test_a_key_that_is_never_written_ends_the_recording(layer: Traced) -> None:
    """As where it cannot be read, too: names that are not hashed are never told."""
    layer.output.mkdir()
    (layer.output / "names.key").write_bytes(b"short")
    layer.python(write_and_read_rows, "output=traced;anonymous=true;", HEADRACE_LOG_LEVEL="warning")
    assert "names.key" in layer.log
    assert not list(layer.output.glob("*.trace"))


def test_nobody_but_the_user_may_read_it(layer: Traced) -> None:
    layer.python(write_and_read_rows)
    (file,) = layer.output.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_folder_of_the_trace_is_that_of_the_start(layer: Traced) -> None:
    (layer.folder / "elsewhere").mkdir()
    layer.python("f = h5py.File('x.h5', 'w'); os.chdir('elsewhere'); f['x'] = range(9); f.close()")
    assert len(list(layer.output.iterdir())) == 1
    assert not list((layer.folder / "elsewhere").iterdir())


def capability_flags() -> None:
    import ctypes  # noqa: PLC0415

    maps = Path("/proc/self/maps").read_text().splitlines()
    library = ctypes.CDLL(next(line.split()[-1] for line in maps if "libhdf5-" in line))
    flags = ctypes.c_uint64()
    with h5py.File("x.h5", "w") as f:
        plist = f.id.get_access_plist()
        assert library.H5Pget_vol_cap_flags(ctypes.c_int64(plist.id), ctypes.byref(flags)) >= 0
    print(flags.value > 0)


def test_capabilities_are_answered(layer: Traced) -> None:
    assert layer.python(capability_flags).out.decode().strip() == "True"
