"""HDF5's command line tools on one file, and everything a user could see of it."""

from __future__ import annotations

import difflib
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.report import Report
from harness.run import run
from harness.stack import MPI_FOLDER, NATIVE, foreign_plugins, stack_env

IN, CHANGED, OUT = "{in}", "{changed}", "out.h5"

# Name -> command. `{changed}` is the file with some values, attributes and links altered.
CASES: dict[str, list[str]] = {
    "dump": ["h5dump", "-pBR", IN],
    "dump_headers": ["h5dump", "-H", "-A", "0", IN],
    "dump_contents": ["h5dump", "-n", "1", "-q", "creation_order", "-z", "descending", IN],
    "dump_xml": ["h5dump", "-x", IN],
    "dump_escaped": ["h5dump", "-e", "-r", "-y", "-w", "40", "-m", "%.3g", "-o", "raw.txt", IN],
    "list": ["h5ls", "-rv", IN],
    "list_data": ["h5ls", "-rvdaE", IN],
    "stat": ["h5stat", IN],
    "diff_self": ["h5diff", "-v", IN, IN],
    "diff_changed": ["h5diff", "-v", "-c", IN, CHANGED],
    "repack": ["h5repack", IN, OUT],
    "repack_contiguous": ["h5repack", "-v", "-l", "CONTI", "-f", "NONE", IN, OUT],
    "repack_filtered": ["h5repack", "-f", "SHUF", "-f", "GZIP=3", "-f", "FLET", "-m", "1", IN, OUT],
    "repack_latest": ["h5repack", "-L", "-S", "PAGE", "-P", "1", "-G", "4096", IN, OUT],
    "copy": ["h5copy", "-v", "-p", "-s", "/", "-d", "/all", "-i", IN, "-o", OUT],
    "copy_deep": ["h5copy", "-f", "allflags", "-s", "/", "-d", "all", "-i", IN, "-o", OUT],
}

# Name -> file, command: what needs an object's name, a driver or another file.
SPECIAL: dict[str, tuple[str, list[str]]] = {
    "binary": ("layouts_v110.h5", ["h5dump", "-d", "/2_late", "-b", "BE", "-o", "raw.bin", IN]),
    "subset": ("layouts_v110.h5", ["h5dump", "-d", "/2_late[1,1;2,2;3,2;1,1]", IN]),
    "family": ("family_%05d.h5", ["h5dump", "-f", "family", IN]),
    "family_found": ("family_%05d.h5", ["h5ls", "-rv", IN]),
    "split": ("split", ["h5dump", "-f", "split", IN]),
    "multi": ("multi", ["h5dump", "-f", "multi", IN]),
    "virtual_extent": ("virtual_numbered.h5", ["h5dump", "--vds-view-first-missing", IN]),
    "pair": ("types_compound_v110.h5", ["h5diff", "-v", IN, "types_compound_v114.h5"]),
    "pair_of_kinds": ("groups_v110.h5", ["h5diff", "-c", IN, "groups_earliest.h5"]),
    "copy_references": (
        "types_references_v112.h5",
        ["h5copy", "-v", "-f", "ref", "-s", "/regions", "-d", "/regions", "-i", IN, "-o", OUT],
    ),
    "copy_external": (
        "links_v110.h5",
        ["h5copy", "-v", "-f", "ext", "-s", "/", "-d", "/all", "-i", IN, "-o", OUT],
    ),
    "user_block": ("user_block_512.h5", ["h5repack", "-u", IN, "-b", "1024", IN, OUT]),
    "make_group": ("empty", ["h5mkgrp", "-vp", OUT, "/made/by/tool"]),
}


# What h5ls shows of drivers, and so cannot be equal where we are one. Objects are listed as file
# number:address; files are numbered as drivers open them, and a driver above another makes two of
# one, as HDF5's own splitter does. By HDF5_DRIVER alone our name is not hidden: `unknown driver`.
FILE_NUMBER = re.compile(rb"\b\d+(?=:\d)")
DRIVER_NAME = re.compile(rb"^(Opened .* with )(sec2|unknown)(?= driver\.$)", re.M)

# h5ls -a lists chunks with one coordinate more than there are (H5Dchunk.c, chunk_dump_index_cb),
# and a B-tree of version 2 leaves that one unset.
ODD_COORDINATE = re.compile(rb"^(\s+0x[0-9a-f]{8}\s+\d+\s+\d+ \[.*), \d+\]$", re.M)

AROUND = {
    # Sources named in a file are looked for beside it, wherever the tool is started.
    "HDF5_EXTFILE_PREFIX": "${ORIGIN}",
    "HDF5_VDS_PREFIX": "${ORIGIN}",
    # A tool that cannot open a file tries MPI too: without fabrics, that takes half as long.
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self",
}


@dataclass(frozen=True)
class Seen:
    """All that one command leaves: equal means that nobody could tell the runs apart."""

    status: int
    out: bytes
    err: bytes
    files: dict[str, bytes]

    def without_driver(self, *, named: bool) -> Seen:
        out = FILE_NUMBER.sub(b"*", self.out)
        return replace(self, out=DRIVER_NAME.sub(rb"\1*", out) if named else out)


@dataclass(frozen=True)
class ToolBox:
    programs: Path
    clock: Path  # preloaded: h5repack and h5copy stamp what they write with the time
    changed: Path
    empty: Path  # what h5copy copies into: without it, it tries all drivers, MPI's included
    # A stack names the directories of filters that others brought, and with more filters a tool
    # reads more data. What is compared is the connector, so native runs get the same ones.
    native_plugins: Mapping[str, str] = field(default_factory=foreign_plugins)

    def see(self, command: list[str], file: Path, spec: str) -> tuple[Seen, Report]:
        words = [{IN: str(file), CHANGED: str(self.changed / file.name)}.get(w, w) for w in command]
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as apart:
            report = Path(apart) / "report.jsonl"
            filters = self.native_plugins if spec == NATIVE else {}
            around = {**AROUND, MPI_FOLDER: apart, "LD_PRELOAD": str(self.clock)}
            env = stack_env(spec, report, **around, **filters)
            if words[0] == "h5copy":
                shutil.copyfile(self.empty, Path(name) / OUT)
            done = run([self.programs / words[0], *words[1:]], env=env, cwd=Path(name), limit=60)
            files = {path.name: path.read_bytes() for path in Path(name).iterdir()}
            out = ODD_COORDINATE.sub(rb"\1]", done.out)
            return Seen(done.status, out, done.err, files), Report(report)


def steady(text: bytes, natives: Sequence[bytes]) -> list[bytes]:
    """The lines of `text`, with those blanked that differ between the native runs.

    h5dump prints the address that a reference inside a variable-length value has in its memory.
    Such lines say nothing; all others must be equal.
    """
    lines, *native = (whole.split(b"\n") for whole in (text, *natives))
    if len({len(lines), *map(len, native)}) > 1:
        return lines
    together = zip(lines, *native, strict=True)
    return [line if len(set(same)) == 1 else b"(varies)" for line, *same in together]


def difference(natives: Sequence[Seen], other: Seen) -> str:
    """Empty, or the first lines of what differs from all of several native runs."""
    native = natives[0]
    told = [] if native.status == other.status else [f"status {native.status} -> {other.status}"]
    for name in ("out", "err"):
        texts: list[bytes] = [getattr(seen, name) for seen in natives]
        left, right = (
            b"\n".join(steady(text, texts)).decode(errors="replace").split("\n")
            for text in (texts[0], getattr(other, name))
        )
        told += list(difflib.unified_diff(left, right, "native", f"here ({name})", n=0))[:12]
    for name in sorted(native.files.keys() | other.files.keys()):
        first, second = native.files.get(name), other.files.get(name)
        if first != second:
            told.append(f"{name}: {where(first, second)}")
    return "\n    ".join(told)


def where(first: bytes | None, second: bytes | None) -> str:
    if first is None or second is None:
        return "written only " + ("here" if first is None else "natively")
    pairs = enumerate(zip(first, second, strict=False))
    at = next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))
    return f"differs from byte {at} on ({len(first)} and {len(second)} bytes)"
