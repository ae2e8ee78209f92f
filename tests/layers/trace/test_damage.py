"""Traces that were cut off, altered or made up: read in part, or errors that say where."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np
import pyarrow as pa
import pytest
from harness.seed import LONG, SEED
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from layers.trace.conftest import Traced

import headrace.trace
from headrace.errors import FileError
from headrace.trace import Process
from headrace.trace.model.segments import DamagedError, Segment, columns, segments
from headrace.trace.views import report, terminal

Test = TypeVar("Test", bound=Callable[..., None])


def fuzzed(each_day: int) -> Callable[[Test], Test]:
    """So many examples, ten times as many with LONG=1."""

    def decorate(test: Test) -> Test:
        limits = settings(
            max_examples=each_day * (10 if LONG else 1),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        return seed(SEED)(limits(test))

    return decorate


def segment_of(table: int, rows: int, contents: bytes) -> bytes:
    """With a checksum that is right, whatever is in it."""
    stored = bytes(pa.compress(contents, codec="zstd", asbytes=True))
    checked = struct.pack("<IIII", table, rows, len(contents), len(stored)) + stored
    return b"HRTS" + struct.pack("<I", zlib.crc32(checked)) + checked


def packed(values: list[int]) -> bytes:
    """A column as docs/formats/trace.md has it."""
    out = bytearray()
    before = 0
    for value in values:
        difference = (value - before + 2**63) % 2**64 - 2**63
        folded = 2 * difference if difference >= 0 else -2 * difference - 1
        while folded >= 0x80:
            out.append(folded & 0x7F | 0x80)
            folded >>= 7
        out.append(folded)
        before = value
    return bytes(out)


def table_of(rows: list[list[int]]) -> bytes:
    parts = [packed(column) for column in rows]
    return struct.pack(f"<{len(parts)}I", *map(len, parts)) + b"".join(parts)


def write_some() -> None:
    with h5py.File("x.h5", "w") as f:
        for i in range(12):
            f[f"d{i}"] = np.arange(i + 1)
        f.create_dataset("c", (1000, 100), "f8", chunks=(10, 100), compression=1)[::7, 3:] = 1
    with h5py.File("x.h5") as f:
        print(sum(int(f[f"d{i}"][i]) for i in range(12)), f["c"][[1, 5, 80]].sum())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace of several segments."""
    layer = Traced(tmp_path_factory.mktemp("whole"))
    layer.python(write_some)
    (file,) = layer.output.iterdir()
    return file


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Process | None]:
    """Reads all that there is in a file; nothing where that is an error."""

    def read(data: bytes) -> Process | None:
        path = tmp_path / "vm.1.trace"
        path.write_bytes(data)
        try:
            trace = headrace.trace.open(path)
        except FileError as error:
            refusal = str(error)
        else:
            refusal = ""
        if refusal:
            assert str(path) in refusal
            return None
        assert len(trace.calls) == len(trace.processes[0].calls["number"])
        assert len(trace.requests) == len(trace.processes[0].requests["call"])
        assert list(terminal.lines(trace))
        return trace.processes[0]

    return read


Read = Callable[[bytes], Process | None]


@contextmanager
def refused_at(place: str) -> Iterator[None]:
    """The block succeeds, or raises the error for damage, which tells the place."""
    damage = ""
    try:
        yield
    except DamagedError as error:
        damage = str(error)
    assert not damage or place in damage


def parts_of(whole: Path) -> list[bytes]:
    """Its segments as they are stored."""
    data = whole.read_bytes()
    begins = [each.at for each in segments(data)]
    return [data[a:b] for a, b in zip(begins, [*begins[1:], len(data)], strict=True)]


def test_a_trace_that_is_cut_off_is_read_to_there(whole: Path, read: Read) -> None:
    data, first = whole.read_bytes(), len(parts_of(whole)[0])
    complete = read(data)
    assert complete is not None
    assert complete.damage == ""
    for kept in range(len(data) - 1, 0, -max(len(data) // 60, 1)):
        process = read(data[:kept])
        if process is None:
            assert kept < first
            continue
        assert "ends amid" in process.damage or process.damage == ""
        for name, values in process.calls.items():
            np.testing.assert_array_equal(values, complete.calls[name][: len(values)])


def test_altered_bytes_are_told_with_their_place(whole: Path, read: Read) -> None:
    draw = random.Random(SEED)  # noqa: S311
    data, first = whole.read_bytes(), len(parts_of(whole)[0])
    for _ in range(1000 if LONG else 100):
        damaged = bytearray(data)
        at = draw.randrange(first, len(damaged))
        damaged[at] ^= 1 << draw.randrange(8)
        process = read(bytes(damaged))
        assert process is not None
        assert "at byte" in process.damage


def test_bytes_put_in_and_left_out_are_damage(whole: Path, read: Read) -> None:
    draw = random.Random(SEED)  # noqa: S311
    data = whole.read_bytes()
    for _ in range(2000 if LONG else 200):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(damaged))
            damaged[at : at + draw.choice((0, 1, 4))] = draw.randbytes(draw.choice((0, 1, 4)))
        process = read(bytes(damaged))
        assert process is None or process.damage or bytes(damaged) == data


def test_a_file_whose_beginning_is_lost_is_named_beside_readable_ones(
    whole: Path, tmp_path: Path
) -> None:
    data = whole.read_bytes()
    (tmp_path / "vm.1.trace").write_bytes(data)
    (tmp_path / "vm.2.trace").write_bytes(b"HRTX" + data[4:])
    trace = headrace.trace.open(tmp_path)
    assert [each.source.name for each in trace.processes] == ["vm.1.trace"]
    (told,) = trace.unreadable
    assert told.startswith(f"{tmp_path / 'vm.2.trace'}: ")
    assert "there is no segment at byte 0" in told
    assert any(line.startswith(told) for line in terminal.lines(trace))
    page = report.render(trace)
    assert "A part of the trace is missing." in page
    assert "vm.2.trace" in page
    assert "there is no segment at byte 0" in page
    (tmp_path / "vm.1.trace").unlink()
    with pytest.raises(FileError, match="no segment at byte 0"):
        headrace.trace.open(tmp_path)


@fuzzed(100)
@given(st.lists(st.integers(0, 50), max_size=12))
def test_segments_that_are_lost_twice_there_or_swapped(
    whole: Path, read: Read, numbers: list[int]
) -> None:
    parts = parts_of(whole)
    chosen = [number % len(parts) for number in numbers]
    process = read(b"".join(parts[i] for i in chosen))
    if process is None:
        assert chosen[:1] != [0], "what begins as it should is a trace"
    elif chosen.count(0) > 1:
        assert "twice" in process.damage


@fuzzed(300)
@given(st.binary(max_size=200), st.sampled_from([b"", b"HRTS", segment_of(0, 0, b"{}")]))
def test_any_bytes_are_segments_or_damaged(rest: bytes, first: bytes) -> None:
    with refused_at("at byte"):
        assert all(each.at >= 0 for each in segments(first + rest))


@fuzzed(300)
@given(st.integers(0, 30), st.integers(0, 4), st.binary(max_size=80))
def test_any_contents_are_columns_or_damaged(rows: int, width: int, contents: bytes) -> None:
    with refused_at("at byte 24"):
        found = columns(Segment(1, rows, contents, 24), width)
        assert [len(each) for each in found] == [rows] * width


@fuzzed(200)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.integers(-(2**63), 2**63 - 1), min_size=width, max_size=width),
            min_size=1, max_size=20,
        )
    )
)  # fmt: skip
def test_columns_are_what_was_put_into_them(rows: list[list[int]]) -> None:
    by_column = [list(each) for each in zip(*rows, strict=True)]
    found = columns(Segment(1, len(rows), table_of(by_column), 0), len(by_column))
    assert [each.tolist() for each in found] == by_column


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner,
                                                                max_size=3),
    max_leaves=6,
)  # fmt: skip


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all keys and elements within."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value[:4])
    for key, each in inner:
        yield (*here, key)
        yield from places(each, (*here, key))


@fuzzed(300)
@given(st.tuples(*[st.integers(0, 999)] * 3), st.none() | st.tuples(JSON))
def test_facts_without_keys_or_with_other_values(
    whole: Path, read: Read, where: tuple[int, int, int], put: tuple[Any] | None
) -> None:
    kept = list(segments(whole.read_bytes()))
    told = [json.loads(line) for each in kept if each.table == 0
            for line in filter(None, each.contents.split(b"\n"))]  # fmt: skip
    kinds = sorted({next(iter(fact)) for fact in told})
    kind = kinds[where[0] % len(kinds)]
    alike = [fact for fact in told if next(iter(fact)) == kind]
    fact = alike[where[1] % len(alike)]
    found = list(places(fact))
    *above, last = found[where[2] % len(found)]
    owner = fact
    for key in above:
        owner = owner[key]
    if put is None:
        del owner[last]
    else:
        owner[last] = put[0]
    lines = "\n".join(json.dumps(each) for each in told).encode()
    tables = [segment_of(each.table, each.rows, each.contents) for each in kept if each.table]
    process = read(segment_of(0, 0, lines) + b"".join(tables))
    if process is not None and process.damage:
        assert "of a fact `" in process.damage or "no JSON object" in process.damage


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"[1]", "no JSON object"),
        (b"\xff", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"object": 5, "file": 1, "kind": "group"}', "`path` of a fact `object`"),
        (b'{"object": true, "file": 1, "kind": "group", "path": "/"}', "`object`"),
        (b'{"line": 5, "source": "a.py"}', "`source` of a fact `line`"),
        (b'{"shape": 5, "kind": "all", "dims": [3], "elements": 3, "block": []}', "`block`"),
        (b'{"process": {"pid": 1, "time": 2, "monotonic": 3}}', "two processes"),
    ],
)
def test_a_fact_that_is_wrong_is_told(line: bytes, told: str, whole: Path, read: Read) -> None:
    process = read(whole.read_bytes() + segment_of(0, 0, line))
    assert process is not None
    assert told in process.damage


def test_facts_that_are_new_are_passed_over(whole: Path, read: Read) -> None:
    process = read(
        whole.read_bytes()
        + segment_of(0, 0, b'{"novelty": 1, "object": "x"}')
        + segment_of(9, 3, b"?")
    )
    assert process is not None
    assert process.damage == ""


def test_a_newer_format_is_refused(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "vm.1.trace"
    path.write_bytes(segment_of(0, 0, b'{"format": 2}') + whole.read_bytes())
    with pytest.raises(FileError, match=r"vm\.1\.trace: a newer Headrace"):
        headrace.trace.open(path)


def test_a_thousand_generations_of_forks_are_read(whole: Path, tmp_path: Path) -> None:
    """Each knows what its ancestors told, and a circle of parents ends nothing."""
    told = next(segments(whole.read_bytes())).contents.split(b"\n")
    about = json.loads(told[1])["process"]
    for i in range(1000):
        parent = {"forked_from": f"vm.{(i - 1) % 1000}.trace", "known_ids": 10_000 + i}
        lines = [told[0], json.dumps({"process": {**about, "pid": i, **parent}}).encode()]
        lines.append(json.dumps({"name": 10_000 + i, "is": f"of {i}"}).encode())
        (tmp_path / f"vm.{i}.trace").write_bytes(segment_of(0, 0, b"\n".join(lines)))
    processes = headrace.trace.open(tmp_path).processes
    assert len(processes) == 1000
    known = {each.about["pid"]: each.names for each in processes}
    assert len(known[999]) > 900
