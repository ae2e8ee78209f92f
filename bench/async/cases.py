"""What is measured, at which sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench.common.ways import NATIVE, Way

from headrace.bench.stacks import native

ASYNC = "async"
KERNEL = "kernel"  # the workload that is headrace-bench's
# 200 MB/s and 1 ms a request, however large: stripes longer than any request.
MODEL = "model(mode=delay,preset=none,bandwidth=200000000,latency=1ms,stripe_size=1GiB)"
MIB = 1 << 20
_THREADS_OF_BLOSC = "BLOSC_NTHREADS"


OURS = Way(ASYNC, ASYNC)
DISK = (NATIVE, OURS)
# What no layer below HDF5's own work on a call can save: writes that end in memory.
NO_IO = Way("native, core driver", environ={"HDF5_DRIVER": "core"})
# What HDF5 itself takes for a layer that does nothing.
PASS_THROUGH = Way(
    "HDF5's pass_through", environ={"HDF5_VOL_CONNECTOR": "pass_through under_vol=0;under_info={}"}
)
SLOW = (Way(native, MODEL), Way(ASYNC, f"{ASYNC}+{MODEL}"))


@dataclass(frozen=True)
class Case:
    """A workload with its parameters, and the ways that are compared in it."""

    kernel: str
    name: str
    workload: str
    parameters: dict[str, Any]
    sides: tuple[str, ...] = ("write",)
    ways: Sequence[Way] = DISK
    payload: int = 0  # bytes
    note: str = ""
    ranks: int = 1


@dataclass(frozen=True)
class Scale:
    """Sizes are in bytes. `loops` of work take as long as `seconds` of sleep."""

    sizes: tuple[int, ...] = (64 * MIB, 256 * MIB)
    chunk: int = MIB
    chunks: tuple[int, ...] = (MIB // 16, MIB // 4, MIB, 4 * MIB, 16 * MIB)
    levels: tuple[int, ...] = (1, 4, 9)
    shuffles: tuple[bool, ...] = (False, True)
    large_chunk: int = 16 * MIB
    fitting: int = 128 * MIB
    beyond: int = 512 * MIB
    rows: int = 128
    rows_written: int = 32
    step: int = 16 * MIB
    steps: int = 20
    computes: tuple[str, ...] = ("sleep", "work")
    seconds: float = 0.05
    slice: int = MIB
    slices: int = 128
    pause: float = 0.005
    loops: int = 1
    count: int = 100_000
    model_count: int = 10_000
    stride: int = 64
    layouts: tuple[str, ...] = ("contiguous", "chunked")
    groups: int = 10_000
    threads: tuple[int, ...] = (1, 2)
    cores: int = 2
    samples: int = 128
    batch: int = 32
    elements: int = 4_000_000
    parts: int = 10_000
    columns: int = 500
    column: int = 4096


QUICK = Scale(
    sizes=(MIB,), chunk=MIB // 4, chunks=(MIB // 4,), levels=(4,), shuffles=(False,),
    large_chunk=MIB // 4, fitting=MIB, beyond=MIB, rows=4, rows_written=2, step=MIB, steps=2,
    computes=("sleep",), seconds=0.01, slice=MIB // 4, slices=8, pause=0.001, count=200,
    layouts=("contiguous",), model_count=10, groups=20, threads=(1,), samples=8, batch=4,
    elements=40_000, parts=100, columns=10, column=64,
)  # fmt: skip


def cases(scale: Scale) -> list[Case]:
    """All of them, each under a name of its own in its kernel."""
    return [*fields(scale), *rows(scale), *phases(scale), *ahead(scale), *requests(scale),
            *small(scale), *metadata(scale), *selections(scale), *mixed(scale),
            *curves(scale)]  # fmt: skip


def fields(scale: Scale) -> Iterator[Case]:
    """A field in compressed chunks; at the smallest size with every filter and beside peers."""
    first, *others = scale.sizes
    peers = tuple(Way(name, peer=name) for name in ("zarr-python", "tensorstore"))
    threads = {_THREADS_OF_BLOSC: str(scale.cores)}
    threaded = Way(f"h5py, Blosc with {scale.cores} threads", environ=threads)
    for shuffle in scale.shuffles:
        for level in scale.levels:
            case = _field(scale, f"gzip-{level}", first, shuffle=shuffle)
            # Zarr 3 has no shuffle of its own before gzip.
            yield case if shuffle else replace(case, ways=(*DISK, *peers))
        yield _field(scale, "zstd-3", first, shuffle=shuffle)
        case = _field(scale, "blosc-5", first, shuffle=shuffle)
        yield replace(case, ways=(*DISK, threaded, *peers))
        for size in others:
            yield _field(scale, "gzip-4", size, shuffle=shuffle)


def _field(scale: Scale, coded: str, size: int, *, shuffle: bool) -> Case:
    given = {"bytes": size, "chunk": scale.chunk, "filter": coded, "shuffle": shuffle}
    name = f"{coded}{'-shuffle' if shuffle else ''}-{size // MIB}MiB"
    return Case("field", name, "field", given, ("write", "read"), DISK, size)


def rows(scale: Scale) -> Iterator[Case]:
    """Rows of chunks that are larger than HDF5's own cache."""
    given = {"chunk": scale.large_chunk, "rows": scale.rows, "level": 1}
    note = f"{scale.rows} rows are read; the more, the larger the ratio"
    for name, order, size in (
        ("in-order", "sequential", scale.fitting),
        ("random-fitting", "random", scale.fitting),
        ("random-beyond", "random", scale.beyond),
    ):
        more = {"order": order, "bytes": size}
        payload = scale.rows * 16384
        yield Case("rows", name, "rows", given | more, ("read",), DISK, payload, note)
    more = {"order": "sequential", "bytes": scale.fitting // 4, "rows": scale.rows_written}
    note = f"{scale.rows_written} rows are written"
    payload = scale.rows_written * 16384
    yield Case("rows", "written-in-order", "rows", given | more, ("write",), DISK, payload, note)


def phases(scale: Scale) -> Iterator[Case]:
    """Large uncompressed writes, a phase of computing after each."""
    for device, ways in (("disk", DISK), ("model", SLOW)):
        for compute in scale.computes:
            for call, shown in (("write", "write"), ("async", "lent")):
                given = {
                    "bytes": scale.step, "steps": scale.steps, "compute": compute, "call": call,
                    "seconds": scale.seconds, "loops": scale.loops,
                }  # fmt: skip
                name = f"{shown}-{compute}-{device}"
                payload = scale.step * scale.steps
                yield Case("phases", name, "phases", given, ("write",), ways, payload)


def ahead(scale: Scale) -> Iterator[Case]:
    """Reads of a part of a dataset each, a phase of computing after each."""
    given = {
        "bytes": scale.slice, "steps": scale.slices, "compute": "sleep", "seconds": scale.pause,
    }  # fmt: skip
    payload = scale.slice * scale.slices
    for device, ways in (("disk", DISK), ("model", SLOW)):
        for name, order, chunked, call in (
            ("contiguous", "sequential", False, "read"),
            ("gzip-4", "sequential", True, "read"),
            ("contiguous-random", "random", False, "read"),
            ("lent-contiguous-random", "random", False, "async"),
            ("lent-gzip-4-random", "random", True, "async"),
        ):
            more = {"order": order, "chunked": chunked, "call": call}
            yield Case("ahead", f"{name}-{device}", "ahead", given | more, ("read",), ways, payload)


def requests(scale: Scale) -> Iterator[Case]:
    """Blocks of 512 bytes by event sets."""
    for device, ways in (("disk", DISK), ("model", SLOW)):
        count = scale.model_count
        for side in ("write", "read"):
            given = {"count": count, "writes": side == "write"}
            name = f"{side}s-{device}"
            yield Case("requests", name, "requests", given, (side,), ways, 512 * count)


def small(scale: Scale) -> Iterator[Case]:
    """Eight bytes at a time or a few more, and datasets of eight bytes."""
    for device, ways, count in (
        ("disk", (*DISK, NO_IO), scale.count),
        ("model", SLOW, scale.model_count),
    ):
        less = f"{count} instead of {scale.count}: natively each can take a millisecond or more"
        note = less if count != scale.count else ""
        for name, given in _patterns(scale):
            whole = given | {"count": count, "extent": scale.count}
            named = f"{name}-{device}"
            payload = 8 * count * given["run"] * given["datasets"]
            yield Case("small", named, "small", whole, ("write",), ways, payload, note)
        given = {"count": count}
        named = f"tiny-datasets-{device}"
        yield Case("metadata", named, "tiny", given, ("write",), ways, 16 * count, note)


def _patterns(scale: Scale) -> Iterator[tuple[str, dict[str, Any]]]:
    common = {"single": False, "stride": 1, "layout": "contiguous", "datasets": 1, "run": 1}
    yield "permuted", common | {"pattern": "permuted"}
    by_turns = {"pattern": "strided", "stride": scale.stride, "datasets": 3}
    yield "by-turns", common | by_turns
    yield "runs-by-turns", common | by_turns | {"datasets": 2, "run": scale.stride // 4}
    for layout in scale.layouts:
        for single in (False, True):
            more = {"layout": layout, "single": single}
            name = f"{layout}-{'one-call' if single else 'calls'}"
            strided = {"pattern": "strided", "stride": scale.stride}
            yield f"strided-{name}", common | more | strided
            yield f"member-{name}", common | more | {"pattern": "member"}


def metadata(scale: Scale) -> Iterator[Case]:
    """Groups, attributes and links; and headrace-bench's kernel, which has no interpreter."""
    yield Case("metadata", "tree", "tree", {"count": scale.groups})
    quick = ["--quick"] if scale.groups < 100 else []
    words = {"words": [*quick, "metadata"]}
    yield Case("metadata", "kernel", KERNEL, words, ways=(*DISK, PASS_THROUGH))


def selections(scale: Scale) -> Iterator[Case]:
    """Reads and writes of what is no block."""
    given = {
        "samples": scale.samples, "batch": scale.batch, "elements": scale.elements,
        "parts": scale.parts, "calls": 5,
    }  # fmt: skip
    for layout in ("gzip", "chunked", "contiguous"):
        for pattern in ("lists", "lists-cold", "mask", "converted", "runs", "points",
                        "points-in-order", "steps"):  # fmt: skip
            more = {"layout": layout, "pattern": pattern}
            name = f"{pattern}-{layout}"
            yield Case("selections", name, "selections", given | more, ("read",))
        for pattern in ("lists", "runs", "points", "points-in-order", "steps"):
            more = {"layout": layout, "pattern": pattern}
            name = f"written-{pattern}-{layout}"
            yield Case("selections", name, "selections", given | more, ("write",))


def mixed(scale: Scale) -> Iterator[Case]:
    """Scattered writes with something else between."""
    ways = (*DISK, Way("log", "log"), Way("async,log", "async,log"))
    for between in (
        "nothing",
        "other-written",
        "other-read",
        "itself-read",
        "second-file",
        "links",
    ):
        given = {"between": between, "count": scale.columns, "rows": scale.column}
        payload = 8 * scale.columns * scale.column
        yield Case("mixed", between, "mixed", given, ("write",), ways, payload)


def curves(scale: Scale) -> Iterator[Case]:
    """Level 4 over threads and sizes of chunks; curves over sizes of data come from the fields."""
    size = scale.sizes[0]
    ours = [Way(f"{ASYNC}, {n} threads", f"{ASYNC}(threads={n})") for n in scale.threads]
    for shuffle in scale.shuffles:
        kind = "shuffle" if shuffle else "plain"
        base = _field(scale, "gzip-4", size, shuffle=shuffle)
        yield replace(base, kernel="curve-threads", name=kind, ways=(NATIVE, *ours))
        for chunk in scale.chunks:
            base = _field(replace(scale, chunk=chunk), "gzip-4", size, shuffle=shuffle)
            yield replace(base, kernel="curve-chunks", name=f"{kind}-{chunk // 1024}KiB")
