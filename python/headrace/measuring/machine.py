"""What the figures were measured on. Nothing here tells whose machine it is."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_UNKNOWN = "unknown"
# Of a mount, these matter to the figures; others can name servers and people.
_TELLING_OPTIONS = ("rw", "ro", "sync", "dirsync", "noatime", "relatime", "nobarrier", "barrier",
                    "data", "commit", "discard", "compress", "stripe", "vers", "rsize", "wsize",
                    "hard", "soft", "cache", "flock", "volatile", "metacopy", "size")  # fmt: skip


def load() -> list[float]:
    """Programs that were running or waiting, over the last 1, 5 and 15 minutes."""
    return [round(each, 2) for each in os.getloadavg()]


def describe(folder: Path) -> dict[str, Any]:
    """Processor, memory, system, and the storage below `folder`, which must exist."""
    return {
        "processor": _first("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "virtual": "hypervisor" in _first("/proc/cpuinfo", "flags").split(),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "system": _system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        **storage(folder),
    }


def sources(root: Path) -> dict[str, str]:
    """The compiler, and the revision of the checkout at `root`."""
    return {
        "compiler": _output("c++", "--version").partition("\n")[0],
        "revision": _output("git", "-C", str(root), "describe", "--always", "--dirty"),
    }


def storage(folder: Path) -> dict[str, Any]:
    """File system, its options and free space (bytes), and the device where it can be seen."""
    kind, options = _mount(folder)
    stat = os.statvfs(folder)
    return {
        "file_system": kind,
        "mount_options": ",".join(options),
        "free_bytes": stat.f_bavail * stat.f_frsize,
        **_device(folder.stat().st_dev),
    }


def _first(path: str, key: str) -> str:
    """The value of the first "key : value" line of a file below /proc."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _UNKNOWN
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return _UNKNOWN


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError:
        return _UNKNOWN
    return done.stdout.strip() if done.returncode == 0 else _UNKNOWN


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", _UNKNOWN)
    except OSError:
        return _UNKNOWN


def _mount(folder: Path) -> tuple[str, list[str]]:
    """Type and telling options of the innermost mount that holds the folder."""
    inside = folder.resolve()
    best, kind, options = -1, _UNKNOWN, [""]
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return _UNKNOWN, []
    for line in lines:
        left, _, right = line.partition(" - ")
        point = Path(left.split()[4].encode().decode("unicode_escape"))
        # Of equal mount points the last one covers the others.
        if inside.is_relative_to(point) and len(point.parts) >= best:
            kind, _, more = right.split(maxsplit=2)
            best = len(point.parts)
            options = f"{left.split()[5]},{more}".split(",")
    telling = (each for each in options if each.partition("=")[0] in _TELLING_OPTIONS)
    return kind, list(dict.fromkeys(telling))


def _device(number: int) -> dict[str, Any]:
    """What /sys tells of a block device; nothing for network and memory file systems."""
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not device.exists():
        return {}
    # A partition's disk is the folder above.
    disk = device.resolve() if (device / "queue").exists() else device.resolve().parent
    facts: dict[str, Any] = {
        "device": "".join(c for c in disk.name if not c.isdigit()) or disk.name
    }
    rotational = _content(disk / "queue/rotational")
    if rotational is not None:
        facts["rotational"] = rotational == "1"
    model = _content(disk / "device/model")
    return facts | ({"device_model": model} if model else {})


def _content(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None
