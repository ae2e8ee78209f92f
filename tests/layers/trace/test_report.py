"""The HTML report of a trace: what it holds, whatever the trace does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import h5py
import numpy as np
import pytest
from harness.layer import NATIVE_BELOW, Layer
from harness.seed import SEED
from layers.trace.conftest import Traced
from layers.trace.test_trace import fork_and_leave, write_and_read_rows

import headrace.trace
from headrace import units
from headrace.errors import FileError
from headrace.trace import Process, Trace
from headrace.trace.analysis import grid as accesses
from headrace.trace.analysis import summary
from headrace.trace.model.facts import CALLS, REQUESTS
from headrace.trace.views import report, terminal
from headrace.trace.views.report import bins, tables
from headrace.trace.views.report.page import embedded
from headrace.trace.views.terminal import UNKNOWN_LINES

MOST_BYTES = 5 << 20
CHROMIUM = Path("/usr/bin/chromium")
CALLBACKS = ("dataset_open", "dataset_read", "dataset_write", "attr_read", "file_open")
VOID = {"meta", "link", "input", "br", "path", "rect"}


class Page(HTMLParser):
    """Elements by their names; fails where they are not closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def ids(self) -> set[str]:
        return {value for _, attrs in self.elements if (value := attrs.get("id"))}


def checked(text: str) -> Page:
    """A page that is whole, asks for nothing from elsewhere and has no handlers in attributes."""
    page = Page(text)
    assert len(text.encode()) < MOST_BYTES
    for tag, attrs in page.elements:
        assert not any(name.startswith("on") for name in attrs), attrs
        for name in ("src", "href"):
            assert (attrs.get(name) or "#").startswith(("#", "data:,")), attrs
        if (target := attrs.get("href") or "").startswith("#"):
            assert target[1:] in page.ids
        if tag == "svg":
            assert attrs.get("aria-label") or attrs.get("aria-hidden"), attrs
    scripts = [attrs for tag, attrs in page.elements if tag == "script"]
    assert len(scripts) == 2
    return page


def synthetic(calls: int, requests: int = 0, rank: int = -1, path: str = "/x") -> Process:
    """A process that has read and written single rows of a dataset here and there."""
    rng = np.random.default_rng(SEED)
    zero = np.zeros(calls, np.int64)
    process = Process(Path(f"vm.{rank}.trace"), callbacks=CALLBACKS)
    process.about = {"pid": 7 + rank, "host": "vm", "time": 10**18, "monotonic": 0, "command": []}
    process.files = {1: {"name": "x.h5", "level": 0, "parallel": rank >= 0, "call": 1}}
    process.storages = {2: {"name": "x.h5", "level": 0, "rank": rank, "ranks": -1, "call": 1}}
    process.objects = {
        i: {"file": 1, "kind": "dataset", "path": path + str(i)} for i in range(10, 1010)
    }
    process.datasets = {10: {"dims": [1000, 1000], "layout": "chunked", "chunk": [100, 100],
                             "type": {"class": "H5T_FLOAT", "size": 8}, "filters": []}}  # fmt: skip
    process.shapes = {3: {"kind": "hyperslab", "dims": [1000, 1000], "elements": 100,
                          "count": [1, 100], "stride": [1, 3], "block": [1, 1]}}  # fmt: skip
    process.lines = {4: {"source": "/a/b.py", "at": 7}}
    begin = np.arange(calls, dtype=np.int64) * 1000
    process.calls = dict.fromkeys(CALLS, zero) | {
        "number": np.arange(1, calls + 1, dtype=np.int64),
        "begin": begin,
        "duration": rng.integers(1, 1000, calls),
        "callback": rng.integers(0, 5, calls),
        "object": np.minimum(10 + rng.geometric(0.1, calls), 1009),
        "bytes": np.full(calls, 800, np.int64),
        "file_shape": zero + 3,
        "file_start": rng.integers(0, 1000, calls) * 1000 + rng.integers(0, 700, calls),
        "collective": rng.integers(0, 2, calls),
        "line": zero + 4,
        "count": zero + 1,
    }
    within = np.sort(rng.integers(1, max(calls, 1) + 1, requests))
    nothing = np.zeros(requests, np.int64)
    process.requests = dict.fromkeys(REQUESTS, nothing) | {
        "call": within,
        "begin": (within - 1) * 1000,
        "duration": rng.integers(1, 500, requests),
        "kind": rng.integers(0, 3, requests),
        "file": nothing + 2,
        "length": rng.integers(0, 1 << 20, requests),
        "count": nothing + 1,
    }
    return process


def test_a_report_tells_what_a_program_did(layer: Traced) -> None:
    layer.python(write_and_read_rows)
    page = checked(report.render(layer.read()))
    text = " ".join(page.texts)
    for part in ("/group/rows", "x.h5", "object_open", "attr_write", "chunk", "little-endian"):
        assert part in text
    assert {"dataset-1", "timeline", "objects", "metadata", "lines", "processes"} <= page.ids
    assert "The program waited for 1 file" in text


def test_processes_have_lanes_and_a_row_each(layer: Traced) -> None:
    layer.python(fork_and_leave)
    trace = layer.read()
    text = report.render(trace)
    checked(text)
    for each in trace.processes:
        assert f"process {each.about['pid']}" in text
    assert "waited longest" in text


def test_an_anonymous_trace_is_reported(layer: Traced) -> None:
    layer.python(write_and_read_rows, "output=traced;anonymous=true;")
    text = report.render(layer.read())
    checked(text)
    assert "x.h5" not in text
    assert "/group/rows" not in text


def hostile_names() -> None:
    with h5py.File("x.h5", "w") as f:
        names = (
            "</script><script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "{{ 7*7 }}",
        )
        for name in (*names, "ünïcode \u202e\U0001f600", "&amp;'`${1}", "line\nfeed", "x" * 5000):
            d = f.create_dataset(name.replace("/", "\u2215"), (2000,), "f8")
            d[...] = 1.0
            d.attrs["<b>"] = 1
        g = f.create_group("</script>")
        g["<i>"] = np.arange(1000.0)
        g["<i>"][::2]


def test_pieces_of_a_file_are_named(tmp_path: Path, layer: Traced) -> None:
    """The layer `stripe` above has the trace below it see each subfile."""
    program = "with h5py.File('x.h5', 'w') as f: f['d'] = np.arange(100000)"
    layer.python(program)
    assert "Files at the storage" not in report.render(layer.read())
    folder = tmp_path / "pieces"
    folder.mkdir()
    below = f"under_vol=7210;under_info={{seat=both;output={folder}/t;{NATIVE_BELOW}}}"
    above = Layer(folder, "stripe", ("vol", "vfd"), "files=3;size=64KiB;", below=below)
    above.python(program)
    shown = " ".join(Page(report.render(headrace.trace.open(folder / "t"))).texts)
    assert "Files at the storage" in shown
    for number in (1, 2, 3):
        assert re.search(rf"x\.h5\.subfile_\d+_{number}_of_3", shown), number


def test_hostile_names_are_only_text(layer: Traced) -> None:
    layer.python(hostile_names)
    text = report.render(layer.read())
    page = checked(text)
    assert not {"img", "b", "i"} & {tag for tag, _ in page.elements if tag != "i"}
    assert "alert(1)" in " ".join(page.texts)
    assert "{{ 7*7 }}" in text
    assert text.count("</script") == 2


def test_json_ends_no_element() -> None:
    assert "<" not in embedded({"</script>": ["<!--", "]]>", "&"]})


def test_a_damaged_trace_says_so(layer: Traced) -> None:
    layer.python(write_and_read_rows)
    (file,) = layer.output.iterdir()
    file.write_bytes(file.read_bytes()[:-7])
    trace = layer.read()
    assert trace.processes[0].damage
    assert "A part of the trace is missing" in " ".join(checked(report.render(trace)).texts)


@pytest.mark.parametrize(("calls", "requests"), [(0, 0), (5, 0), (1, 1)])
def test_traces_with_next_to_nothing(calls: int, requests: int) -> None:
    checked(report.render(Trace(Path("t"), [synthetic(calls, requests)])))


def test_a_trace_without_facts() -> None:
    process = synthetic(50, 20)
    for facts in (process.datasets, process.shapes, process.objects, process.lines):
        facts.clear()
    checked(report.render(Trace(Path("t"), [process])))


def test_numbers_beyond_all_measure() -> None:
    process = synthetic(50, 20)
    huge = [2**64 - 1] * 2
    process.datasets[10] |= {"dims": huge, "chunk": huge}
    process.shapes[3] |= {"dims": huge, "count": huge, "stride": huge, "block": huge}
    process.calls["file_start"][::2] = -1
    process.calls["object"][:] = 10
    checked(report.render(Trace(Path("t"), [process])))


def test_many_processes_are_a_map_of_heat() -> None:
    processes = [synthetic(200, 100, rank) for rank in range(100)]
    text = report.render(Trace(Path("t"), processes))
    checked(text)
    assert 'class="strip heat"' in text
    assert "rank 99" in text


@pytest.mark.long
def test_a_million_calls_make_a_small_page() -> None:
    trace = Trace(Path("t"), [synthetic(1_000_000, 1_000_000, path="/data/")])
    text = report.render(trace)
    checked(text)


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    trace = Trace(Path("t"), [synthetic(5, 5)])
    report.write(trace, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == report.render(trace)
    (tmp_path / "folder").mkdir()
    for path, cause in (
        (tmp_path / "none/r.html", "No such file"),
        (tmp_path / "folder", "folder"),
    ):
        with pytest.raises(FileError, match=cause):
            report.write(trace, path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "r.html"]


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_grids_equal_counting_elements(rank: int) -> None:
    rng = np.random.default_rng(SEED + rank)
    for _ in range(12):
        most = {1: 1500, 2: 150, 3: 30, 4: 12}[rank]
        dims = tuple(int(each) for each in rng.integers(1, most, rank))
        counted = np.zeros(dims)
        facts, shapes, starts = {}, [], []
        for id_ in range(1, 8):
            told = random_shape(rng, dims)
            facts[id_] = told | {"dims": list(dims)}
            for _ in range(4):
                start = random_start(rng, told, dims)
                shapes.append(id_)
                starts.append(int(np.ravel_multi_index(start, dims)))
                counted[np.ix_(*selected(told, start, dims))] += 1
        found = accesses.grid(facts, np.array(shapes), np.array(starts), dims)
        assert found is not None
        np.testing.assert_allclose(found.often, averaged(counted, found.axes), atol=1e-9)


def random_shape(rng: np.random.Generator, dims: tuple[int, ...]) -> dict[str, object]:
    if rng.random() < 0.1:
        return {"kind": "all"}
    block = [int(rng.integers(1, max(d // 3, 1) + 1)) for d in dims]
    stride = [b + int(rng.integers(0, 4)) for b in block]
    count = [
        int(rng.integers(1, (d - b) // s + 2)) for d, b, s in zip(dims, block, stride, strict=True)
    ]
    return {"kind": "hyperslab", "count": count, "stride": stride, "block": block}


def random_start(
    rng: np.random.Generator, told: dict[str, object], dims: tuple[int, ...]
) -> tuple[int, ...]:
    if told["kind"] == "all":
        return (0,) * len(dims)
    sides = zip(dims, told["count"], told["stride"], told["block"], strict=True)  # type: ignore[call-overload]
    return tuple(int(rng.integers(0, d - ((c - 1) * s + b) + 1)) for d, c, s, b in sides)


def selected(
    told: dict[str, object], start: tuple[int, ...], dims: tuple[int, ...]
) -> list[list[int]]:
    """Indices along each dimension, one by one."""
    if told["kind"] == "all":
        return [list(range(d)) for d in dims]
    sides = zip(start, told["count"], told["stride"], told["block"], strict=True)  # type: ignore[call-overload]
    return [[at + i * s + j for i in range(c) for j in range(b)] for at, c, s, b in sides]


def averaged(counted: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    others = tuple(axis for axis in range(counted.ndim) if axis not in axes)
    plane: np.ndarray = counted.mean(axis=others)
    for axis, length in enumerate(plane.shape):
        at = accesses.edges(length, accesses.LINE if plane.ndim == 1 else accesses.SIDE)
        parts = [plane.take(range(a, b), axis).mean(axis, keepdims=True)
                 for a, b in pairwise(at)]  # fmt: skip
        plane = np.concatenate(parts, axis)
    return plane


def test_unions_are_drawn_as_their_box() -> None:
    facts = {1: {"kind": "union", "dims": [10, 10], "elements": 2, "block": [2, 5]}}
    found = accesses.grid(facts, np.array([1]), np.array([12]), (10, 10))
    assert found is not None
    assert found.boxed == 1
    assert found.often[1:3, 2:7].all()
    assert found.often.sum() == 10


def test_bins_keep_amounts() -> None:
    rng = np.random.default_rng(SEED)
    begin = rng.random(500) * 50
    end = np.minimum(begin + rng.exponential(3, 500), 50)
    amount = rng.random(500)
    found = bins.spread(begin, end, amount, 50)
    assert found.sum() == pytest.approx(amount.sum())
    expected = np.zeros(50)
    for a, b, each in zip(begin, end, amount, strict=True):
        overlaps = np.clip(np.minimum(b, np.arange(1, 51)) - np.maximum(a, np.arange(50)), 0, None)
        expected += each * overlaps / overlaps.sum()
    np.testing.assert_allclose(found, expected, atol=1e-9)


def in_browser(page: Path, folder: Path, *options: str) -> str:
    """The document after its scripts ran; there must be no errors."""
    assert CHROMIUM.exists(), "there is no browser: `make setup-test` installs one"
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={folder}", "--enable-logging=stderr", "--virtual-time-budget=2000",
         *options, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
        env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


def test_a_browser_runs_the_page(layer: Traced, tmp_path: Path) -> None:
    layer.python(hostile_names)
    report.write(layer.read(), tmp_path / "r.html")
    # Clicks on all that can be clicked, which any error would be told of.
    text = (tmp_path / "r.html").read_text()
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    clicks = """<script>
      for (const each of document.querySelectorAll("button, input")) each.click();
      const strip = document.querySelector("svg.strip");
      for (const key of ["ArrowRight", "+", "End", "-", "ArrowLeft", "Home"])
        strip.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
    </script></body>"""
    (tmp_path / "clicked.html").write_text(policy.sub("", text).replace("</body>", clicks))
    folder = tmp_path / "profile"
    plain = in_browser(tmp_path / "r.html", folder)
    assert 'class="live"' in plain, "the policy lets the page's own script run"
    assert plain.count('<button type="button">') > 10
    clicked = in_browser(tmp_path / "clicked.html", folder)
    assert 'aria-sort="ascending"' in clicked or 'aria-sort="descending"' in clicked
    assert re.search(r'<p class="told"[^>]*>process \d+ at ', clicked)
    shutil.rmtree(folder, ignore_errors=True)


WIDTHS = """<script>
  const wider = (each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0;
  const parts = [...document.querySelectorAll("div, figure, table")].filter(wider);
  const page = document.documentElement;
  document.title = [innerWidth, page.scrollWidth - page.clientWidth,
                    ...parts.map((each) => each.className || each.tagName)].join();
</script></body>"""


@pytest.mark.parametrize("ranks", [1, 3, 20])
def test_a_narrow_window_cuts_nothing_off(ranks: int, tmp_path: Path) -> None:
    """Of one process, of some, and of more than there are lanes."""
    processes = [synthetic(300, 300, rank, path="/a" * 40) for rank in range(ranks)]
    text = report.render(Trace(Path("a_trace_with_a_long_name.hrtrace"), processes))
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    (tmp_path / "r.html").write_text(policy.sub("", text).replace("</body>", WIDTHS))
    shown = in_browser(tmp_path / "r.html", tmp_path / "profile", "--window-size=520,900")
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title
    assert title[1] == "520,0", "neither the page nor a part of it is wider than the window"
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)


def of(callbacks: dict[str, tuple[int, int]]) -> Trace:
    """A call of each callback, with its operation, which took these milliseconds."""
    process = synthetic(len(callbacks))
    process.callbacks = tuple(callbacks)
    process.calls |= {
        "callback": np.arange(len(callbacks)),
        "operation": np.array([operation for operation, _ in callbacks.values()]),
        "duration": np.array([each * 10**6 for _, each in callbacks.values()]),
        "begin": np.arange(len(callbacks)) * 10**9,
    }
    return Trace(Path("t"), [process])


def test_the_time_of_each_kind_of_call_is_named() -> None:
    """All of HDF5's callbacks: what is left over is told by its own names."""
    text = report.render(of({
        "dataset_read": (-1, 100), "dataset_write": (-1, 90), "file_close": (-1, 200),
        "dataset_close": (-1, 20), "file_specific": (0, 150), "dataset_specific": (1, 10),
        "group_specific": (2, 5), "object_specific": (4, 5), "datatype_specific": (0, 5),
        "file_open": (-1, 40), "group_create": (-1, 30), "datatype_commit": (-1, 1),
        "attr_write": (-1, 30), "link_get": (1, 20), "dataset_get": (3, 15),
        "file_optional": (7, 14), "object_copy": (-1, 8),
    }))  # fmt: skip
    page = checked(text)
    (told,) = (each for each in page.texts if each.startswith("Of that time went"))
    assert told == (
        "Of that time went: 30 % closing, 24 % flushing, 13 % reading datasets, "
        "12 % writing datasets, 5 % opening, 4 % creating, 4 % attributes, "
        "3 % everything else (file_optional, object_copy), 3 % links, 2 % questions about objects."
    )


def amplifications(process: Process) -> dict[str, str]:
    rows = tables.objects(summary.uses(Trace(Path("t"), [process])), {})
    return {row["name"]: row["numbers"][4]["text"] for row in rows}


def test_amplification_is_of_values_that_were_asked_for() -> None:
    """Not of the few bytes of attributes, of files and groups, nor of a dataset's metadata."""
    process = synthetic(4, 4)
    process.objects = {10: {"file": 1, "kind": "dataset", "path": "/d"},
                       11: {"file": 1, "kind": "file", "path": "/"},
                       12: {"file": 1, "kind": "group", "path": "/g"},
                       13: {"file": 1, "kind": "dataset", "path": "/tiny"}}  # fmt: skip
    process.calls |= {"object": np.array([10, 11, 12, 13]), "callback": np.array([1, 3, 3, 1]),
                      "bytes": np.array([1000, 4, 4, 8])}  # fmt: skip
    process.requests |= {"call": np.arange(1, 5), "kind": np.zeros(4, np.int64),
                         "type": np.array([3, 6, 6, 6]),
                         "length": np.array([6400, 160000, 160000, 4096])}  # fmt: skip
    told = {"/d": units.times(6.4), "/": units.DASH, "/g": units.DASH, "/tiny": units.times(0)}
    assert amplifications(process) == told


def test_the_legend_of_a_single_number_is_a_single_colour() -> None:
    process = synthetic(1, 1)
    process.calls["callback"][:] = 2
    process.calls["object"][:] = 10
    process.calls["file_start"][:] = 0
    process.shapes[3] |= {"kind": "all"}
    text = report.render(Trace(Path("t"), [process]))
    (scale,) = re.findall(r'<div class="scale"[^>]*>(.*?)</div>', text)
    assert re.findall("<i class", scale) == ["<i class"]
    assert re.sub("<[^>]*>", "", scale).strip() == "once"
    process = synthetic(500, 1)
    (scale, *_) = re.findall(
        r'<div class="scale"[^>]*>(.*?)</div>', report.render(Trace(Path("t"), [process]))
    )
    assert len(re.findall("<i class", scale)) == 8


def test_that_lines_are_not_known_is_said() -> None:
    """And how to have them; not where some are."""
    process = synthetic(20, 20)
    assert UNKNOWN_LINES not in list(terminal.lines(Trace(Path("t"), [process])))
    process.calls["line"][:] = 0
    trace = Trace(Path("t"), [process])
    assert UNKNOWN_LINES in list(terminal.lines(trace))
    assert "callers=true" in report.render(trace)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_summary_is_as_wide_as_the_terminal(width: int) -> None:
    process = synthetic(3000, 3000, path="/one/of/many/groups/")
    trace = Trace(Path("t"), [process])
    lines = list(terminal.wrapped(trace, width))
    assert all(len(each) <= width or " " not in each.strip() for each in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(terminal.lines(trace)).split())


def test_reports_of_folders_without_traces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no trace"):
        headrace.trace.open(tmp_path)
