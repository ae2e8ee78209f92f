"""What `headrace tune --on` says of kernels on modelled Lustre, beside Lustre's defaults.

python bench/tune/lustre.py [--output FOLDER]

Two ranks of each kernel are recorded while they write; the model plays them as many
(docs/guide/model.md), with the file dealt out in every way that `headrace tune --on` tries.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.common import session
from bench.tune import page
from bench.tune.recorded import Recording, record

from headrace.errors import HeadraceError
from headrace.trace.model.reader import read
from headrace.tune.modelled import Model, best_of

PRESETS = ("lustre-4", "lustre-48", "lustre-160")
RECORDED = 2  # ranks
RANKS = 4096
FEWER = {"e3sm": 256}  # whose requests are so many that the model would take hours
# As many ranks as the published run of VPIC had, and the calls that it made.
HERO = "vpic/contiguous-collective", "lustre-160", 300_000

KERNELS = (
    Recording("hacc", "arrays-collective", ("--particles", "256Ki")),
    Recording("hacc", "arrays-independent", ("--particles", "256Ki")),
    Recording("vpic", "contiguous-collective", ("--particles", "1Mi", "--timesteps", "1")),
    Recording("vpic", "contiguous-independent", ("--particles", "1Mi", "--timesteps", "1")),
    Recording("vpic", "compound-collective", ("--particles", "256Ki", "--timesteps", "1")),
    Recording("cgns", "multi-collective"),
    Recording("cgns", "single-independent"),
    Recording("amrex", "multi-default", ("--domain", "64")),
    Recording("sw4", "timeseries", ("--nx", "32", "--ny", "32", "--nz", "16")),
    Recording("sw4", "checkpoint", ("--nx", "32", "--ny", "32", "--nz", "16")),
    Recording("e3sm", "f-canonical-collective"),
    Recording("e3sm", "g-canonical-independent"),
)


@dataclass(frozen=True)
class Found:
    """What is best for a kernel on a preset, beside the defaults.

    `rate`, `default_rate`: parts of that at which all servers of the preset move bytes. `alone`:
    how many times as long transfers take that each rank makes by itself, the file laid out so.
    """

    kernel: str
    preset: str
    ranks: int
    settings: dict[str, float]  # the share of each in the gain
    gain: float
    seconds: float
    rate: float
    default_rate: float
    alone: float


def found_for(name: str, trace: Path, preset: str, ranks: int, room: Path) -> Found:
    """Raises HeadraceError."""
    model = Model(read(trace), room, preset, ranks)
    played = [model.play(layout) for layout in model.layouts()]
    best, layout = best_of(model, played)
    defaults = played[0]
    alone = model.play(layout.layout, together=False).seconds
    return Found(
        name, preset, ranks,
        {str(setting): share.median for setting, share in sorted(best.shares.items())},
        best.gain.median, layout.seconds, layout.rate / layout.available,
        defaults.rate / defaults.available, alone / layout.seconds,
    )  # fmt: skip


def measured(chosen: Sequence[Recording], parent: Path) -> Iterator[Found]:
    """Raises HeadraceError."""
    for one in chosen:
        with tempfile.TemporaryDirectory(prefix="bench-lustre-", dir=parent) as name:
            room = Path(name)
            trace = record(one, room, RECORDED)
            hero = [HERO[1:]] if one.name == HERO[0] else []
            usual = FEWER.get(one.kernel, RANKS)
            for preset, ranks in [*((each, usual) for each in PRESETS), *hero]:
                yield found_for(one.name, trace, preset, ranks, room / f"{preset}-{ranks}")


def save(found: Sequence[Found], folder: Path, parent: Path) -> None:
    """What has been measured so far: the whole takes long."""
    whole = {"machine": session.describe(parent), "found": [asdict(each) for each in found]}
    session.write_results(folder, whole, page.lustre(found))


def before(folder: Path, chosen: Sequence[Recording]) -> list[Found]:
    """What stands there of kernels that are not measured now."""
    file = folder / "results.json"
    if not file.exists():
        return []
    names = {one.name for one in chosen}
    known = json.loads(file.read_text(encoding="utf-8"))["found"]
    return [Found(**each) for each in known if each["kernel"] not in names]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="folder of the page and all figures; of "
                        "other kernels what is there stays")  # fmt: skip
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    given = parser.parse_args()
    parent = session.ROOT / "build"
    console = session.console()
    chosen = [one for one in KERNELS if given.only in one.name]
    found = [] if given.output is None else before(given.output, chosen)
    try:
        for each in measured(chosen, parent):
            found.append(each)
            if given.output is not None:
                save(found, given.output, parent)
            console.print(f"{each.kernel} {each.preset} {each.ranks}: {each.gain:.3g} times, "
                          f"{each.rate:.3f} of the rate, {' '.join(each.settings)}",
                          soft_wrap=True)  # fmt: skip
    except HeadraceError as error:
        sys.exit(f"not measured: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
