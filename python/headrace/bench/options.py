"""What a run was asked for."""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace.bench import privacy

kernels: Final = (
    "iotest", "vpic", "bdcats", "hacc", "e3sm", "amrex", "cgns", "sw4", "ior", "ml", "metadata",
    "h5py", "files",
)  # fmt: skip
peers_kernel: Final = "peers"
# Passed on to headrace-bench, and known here as well: such samples have no read side.
no_read: Final = "--no-read"


@dataclass(frozen=True, slots=True)
class Options:
    """One run. `kernels` may hold "peers"; `arguments` go to headrace-bench after the kernel."""

    kernels: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    # As given, see headrace.bench.stacks.
    stacks: tuple[str, ...] = ("native",)
    ranks: tuple[int, ...] = (1,)
    repeats: int = 3
    warmup: int = 1
    only: str = ""
    quick: bool = False
    sync: str = "none"
    drop_caches: bool = False
    baseline: bool = True
    ledger: bool = True
    config: Path | None = None
    hdf5: Path | None = None
    mpiexec: tuple[str, ...] = ()
    program: Path | None = None
    # Where the benchmarks write.
    data: Path = Path()

    def public(self) -> dict[str, Any]:
        """For results that are published: of paths only the last part."""
        values = json.loads(json.dumps(dataclasses.asdict(self), default=str))
        for name in ("hdf5", "program", "data", "config"):
            if values[name] is not None:
                values[name] = privacy.last_part(values[name])
        values["mpiexec"] = privacy.launcher(values["mpiexec"])
        values["arguments"] = [privacy.word(each) for each in values["arguments"]]
        values["stacks"] = [privacy.stack(each) for each in values["stacks"]]
        return dict(values)

    def fingerprint(self) -> str:
        """Equal for runs that measure the same: of files that are named the content counts."""
        values = dataclasses.asdict(self)
        # Asking for more repeats than there were is a way to go on.
        for name in ("repeats", "data"):
            del values[name]
        values["files"] = [_digest(Path(each)) for each in (*self.arguments, self.config or "")]
        return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    except (OSError, ValueError):
        return ""
