"""The stacks that random programs run under, and the proof that they were there."""

from __future__ import annotations

from pathlib import Path

from harness.build import sanitized
from harness.corpus import build_clock
from harness.report import Report
from harness.stack import CLEAN

from random_programs.compare import Stack

SEATS = {"both": ("vol", "vfd"), "vol": ("vol",)}
CONNECTORS = ("cache", "log", "object")  # layers that have no driver


def native(folder: Path) -> dict[str, str]:
    """The clock stands still: HDF5 writes the time into objects."""
    return {**CLEAN, "LD_PRELOAD": str(build_clock(folder))}


LAYOUT = "allow=layout"
# In place of RULES among the options: a file with them.
RULES = """
[[rules]]
file = "a*"
allow = "layout"
page = "4KiB"
compact = 100
[[rules]]
dataset = "/g/*"
deflate = 4
chunk = "5x4"
compact = 0
allow = "layout"
[[rules]]
file = "b.h5"
metadata_block = 4096
chunk_cache = false
"""
OBJECT = "under_vol=7218;under_info={store=store;under_vol=0;under_info={}}"
# Connector, options, and whether the files must be the same byte by byte.
STACKS: dict[str, tuple[str, str, bool]] = {
    "null": ("null", "seat=both", True),
    "null_vol": ("null", "seat=vol", True),
    "async": ("async", "seat=both", False),
    "async_small": (
        "async",
        "seat=both;budget=512KiB;flush_interval=0;chunk_cache=64KiB;threads=1",
        False,
    ),
    "behind": ("async", "seat=both;filters=false", True),
    "behind_small": (
        "async",
        "seat=both;filters=false;budget=512KiB;flush_interval=0;threads=1",
        True,
    ),
    "behind_eager": ("async", "seat=both;filters=false;flush_interval=1ms;budget=1MiB", True),
    "filters": ("async", "seat=vol", False),
    "filters_small": ("async", "seat=vol;chunk_cache=3000", False),
    "filters_bare": ("async", "seat=vol;chunk_cache=0;threads=2", False),
    "log": ("log", "", False),
    "log_later": ("log", "canonicalise=later", False),
    "cache": ("cache", "settle=0;memory=64MiB", False),
    "cache_async": (
        "cache",
        "settle=0;memory=64MiB;under_vol=7206;under_info={seat=both;under_vol=0;under_info={}}",
        False,
    ),
    "object": ("object", "store=store", False),
    "async_object": ("async", f"seat=vol;{OBJECT}", False),
    "cache_object": ("cache", f"settle=0;memory=64MiB;{OBJECT}", False),
    "trace_object": ("trace", f"seat=vol;{OBJECT}", False),
    "stripe": ("stripe", "files=3;size=1000", False),
    "async_stripe": (
        "async",
        "seat=both;under_vol=7214;under_info={files=3;size=1000;under_vol=0;under_info={}}",
        False,
    ),
    "trace": ("trace", "seat=both", True),
    "tune": ("tune", "seat=both", True),
    "tune_async": (
        "tune",
        "seat=both;under_vol=7206;under_info={seat=both;filters=false;under_vol=0;under_info={}}",
        True,
    ),
    "tune_buffers": (
        "tune",
        "seat=both;sieve=1KiB;conversion_buffer=100;metadata_block=64KiB;metadata_cache=1MiB;"
        "page_buffer=8KiB",
        False,
    ),
    "tune_aligned": (
        "tune",
        "seat=vol;alignment=512;sieve=1MiB;conversion_buffer=4MiB;page_buffer=1MiB",
        False,
    ),
    "tune_pages": ("tune", f"seat=vol;{LAYOUT};page=512;page_buffer=4KiB", False),
    "tune_newest": ("tune", f"seat=both;{LAYOUT};libver=latest;page=4KiB;page_buffer=64KiB", False),
    "tune_compact": ("tune", f"seat=both;{LAYOUT};compact=200;chunk=7;deflate=0", False),
    "tune_deflate": (
        "tune",
        f"seat=vol;{LAYOUT};chunk=3x5;deflate=1;assume_cache=1;memory=100KiB",
        False,
    ),
    "tune_rules": ("tune", "seat=both;rules=RULES", False),
    "tune_small": ("tune", "seat=both;assume_cache=1;memory=100KiB", False),
}


def stack(spec: str, plugins: Path, folder: Path, native: dict[str, str]) -> Stack:
    """One of the above, or LAYER:OPTIONS; `!` at the end demands the same bytes."""
    layer, options, exact = STACKS.get(spec, ("", "", False))
    name = spec
    if "RULES" in options:
        rules = folder / f"{name}.toml"
        rules.write_text(RULES)
        options = options.replace("RULES", str(rules))
    if not layer:
        layer, _, options = spec.removesuffix("!").partition(":")
        name, exact = "".join(c if c.isalnum() else "_" for c in spec), spec.endswith("!")
    below = "" if "under_vol" in options else "under_vol=0;under_info={}"
    info = f"headrace_{layer} " + ";".join(filter(None, [options, below]))
    environment = sanitized(
        native
        | {
            "HDF5_PLUGIN_PATH": str(plugins),
            "HDF5_VOL_CONNECTOR": info,
            "HEADRACE_REPORT": str(folder / f"{name}.report"),
            "HEADRACE_LOG_FILE": str(folder / f"{name}.log"),
            "HEADRACE_TRACE_OUTPUT": str(folder / f"{name}.hrtrace"),
        }
    )
    seat = options.partition("seat=")[2].partition(";")[0]
    usual = SEATS["vol" if layer in CONNECTORS else "both"]
    return Stack(
        name,
        environment,
        exact,
        SEATS.get(seat, usual),
        early="assume_cache" in options,
        reserves="metadata_block" in options,
        relaid=LAYOUT in options or "rules=" in options,
        pieces=layer == "stripe" or "under_vol=7214" in options,
        later="canonicalise=later" in options,
        contained=layer == "object" or "under_vol=7218" in options,
    )


def took_part(stack: Stack) -> int:
    """How many files were opened through each seat: HDF5 falls back to native in silence."""
    report = Report(Path(stack.environment["HEADRACE_REPORT"]))
    through = {"vol": ("file_create", "file_open"), "vfd": ("open",)}
    return min(sum(report.calls(seat)[call] for call in through[seat]) for seat in stack.seats)


def did(stack: Stack, seat: str, work: str) -> int:
    """A statistic of all its files."""
    report = Report(Path(stack.environment["HEADRACE_REPORT"]))
    told = report.select("statistics", seat=seat)
    return sum(one["values"].get(work, 0) for one in told)
