#!/usr/bin/env python3
"""Fetch HDF5 1.14.5, Zstd or LMDB from Debian 13 on an older Debian, without touching apt's state.

    debian13.py source DEST    HDF5's library, tools and test sources, unpacked into DEST
    debian13.py headers DEST   its serial development headers, unpacked into DEST
    debian13.py zstd DEST      Zstd's headers and static library, as DEST/include and DEST/lib
    debian13.py lmdb DEST      LMDB's source, unpacked into DEST

The package source is the machine's own with another suite, the lists and the cache are private to
this call, and no package is installed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SUITE = "trixie"
SHA256 = {
    "hdf5": "71cdb04c151ef4e8a7f88907adfc4f3b75afd44e96fbd55775e1c9d7c4e7c112",
    "lmdb": "d35d4f6f46313d62fd342c9dcbf574432919ce5e802d2b6cbe2ebd549821e5c4",
}


def stanzas(apt: Path) -> list[dict[str, str]]:
    """All package sources of this machine, one-line entries turned into the deb822 form."""
    found: list[dict[str, str]] = []
    for file in sorted((apt / "sources.list.d").glob("*.sources")):
        for block in re.split(r"\n\s*\n", file.read_text()):
            lines = [line for line in block.splitlines() if not line.startswith("#")]
            fields = re.findall(r"^([\w-]+):\s*(.*)$", "\n".join(lines), re.M)
            found.append({key.lower(): value.strip() for key, value in fields})
    one_line = re.compile(r"^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)$", re.M)
    lists = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]
    for file in (file for file in lists if file.exists()):
        for options, uri, suite, components in one_line.findall(file.read_text()):
            stanza = {"uris": uri, "suites": suite, "components": components}
            signed = re.search(r"signed-by=(\S+)", options, re.I)
            found.append(stanza | ({"signed-by": signed.group(1)} if signed else {}))
    return found


def private_source(apt: Path) -> str:
    """The machine's main Debian archive, for the suite we want."""
    codename = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.M)
    for stanza in stanzas(apt):
        # The security archive names its suites codename-security: only the main one has ours.
        if codename and codename.group(1) in stanza.get("suites", "").split():
            signed = f"Signed-By: {stanza['signed-by']}\n" if "signed-by" in stanza else ""
            return (
                f"Types: deb deb-src\nURIs: {stanza['uris']}\nSuites: {SUITE}\n"
                f"Components: main\n{signed}"
            )
    raise SystemExit("debian13: no main Debian archive among this machine's apt sources")


def run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True)


def apt_get(state: Path, *arguments: str) -> None:
    options = {
        "Dir::Etc::sourcelist": state / "debian13.sources",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state / "cache",
        "Acquire::Languages": "none",
        "APT::Sandbox::User": "root",  # the unprivileged user of apt may not read our folder
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
    }
    flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    run(state, "apt-get", "-qq", *flags, *arguments)


def unpacked_source(state: Path, package: str) -> Path:
    apt_get(state, "source", "--download-only", "--tar-only", package)
    (archive,) = state.glob(f"{package}_*.orig.tar.gz")
    actual = hashlib.sha256(archive.read_bytes()).hexdigest()
    if actual != SHA256[package]:
        raise SystemExit(f"debian13: {archive.name} has SHA-256 {actual}, not {SHA256[package]}")
    (state / "unpacked").mkdir()
    run(state / "unpacked", "tar", "-xf", str(archive))
    (top,) = (state / "unpacked").iterdir()
    return top


def unpack_source(state: Path, staged: Path) -> None:
    unpacked_source(state, "hdf5").rename(staged)


def unpack_lmdb(state: Path, staged: Path) -> None:
    (unpacked_source(state, "lmdb") / "libraries/liblmdb").rename(staged)


def unpack_headers(state: Path, staged: Path) -> None:
    apt_get(state, "download", "libhdf5-dev")
    (package,) = state.glob("libhdf5-dev_*.deb")
    run(state, "dpkg-deb", "-x", str(package), "unpacked")
    (state / "unpacked/usr/include/hdf5/serial").rename(staged)


def unpack_zstd(state: Path, staged: Path) -> None:
    apt_get(state, "download", "libzstd-dev")
    (package,) = state.glob("libzstd-dev_*.deb")
    run(state, "dpkg-deb", "-x", str(package), "unpacked")
    (library,) = state.glob("unpacked/usr/lib/*/libzstd.a")
    staged.mkdir()
    (state / "unpacked/usr/include").rename(staged / "include")
    library.parent.rename(staged / "lib")


def main() -> None:
    actions = {
        "source": ("HDF5 1.14.5's source", unpack_source),
        "headers": ("HDF5 1.14.5's headers", unpack_headers),
        "zstd": ("Zstd", unpack_zstd),
        "lmdb": ("LMDB's source", unpack_lmdb),
    }
    if len(sys.argv) != 3 or sys.argv[1] not in actions:
        raise SystemExit(__doc__)
    destination = Path(sys.argv[2]).resolve()
    if destination.exists():
        return
    if not shutil.which("apt-get"):
        raise SystemExit("debian13: no apt-get on this machine")
    destination.parent.mkdir(parents=True, exist_ok=True)
    what, unpack = actions[sys.argv[1]]
    print(f"[setup] {what} from Debian 13 -> {destination}", flush=True)
    with tempfile.TemporaryDirectory(dir=destination.parent) as name:
        state = Path(name)
        (state / "lists/partial").mkdir(parents=True)
        (state / "cache/archives/partial").mkdir(parents=True)
        (state / "debian13.sources").write_text(private_source(Path("/etc/apt")))
        apt_get(state, "update")
        unpack(state, state / "ready")
        # A rename makes the destination appear complete or not at all.
        (state / "ready").rename(destination)


if __name__ == "__main__":
    main()
