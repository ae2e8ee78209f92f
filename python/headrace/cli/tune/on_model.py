"""`headrace tune --on PRESET`: settings for a file system that is only modelled."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

from rich.table import Table

from headrace.cli.output import console, note
from headrace.trace.model.reader import read
from headrace.tune import modelled, written
from headrace.tune.modelled import Played
from headrace.units import seconds

_SHOWN = 10  # of the fastest; the defaults come last


def search_on_model(trace: Path, preset: str, ranks: int, output: Path) -> None:
    """Plays the requests under all layouts and writes the best; `ranks` 0: as many as recorded."""
    opened = read(trace)
    ranks = ranks or len(opened.seats)
    with tempfile.TemporaryDirectory() as room:
        model = modelled.Model(opened, Path(room) / "ledgers", preset, ranks)
        played = list(model.all())
        found, best = modelled.best_of(model, played)
    _tell_played(played, preset, ranks)
    note(modelled.ERROR)
    alone = min((each for each in played if not each.together), key=lambda each: each.seconds)
    if alone.seconds < best.seconds:
        note(f"ranks that make their transfers each by itself would take {seconds(alone.seconds)}: "
             "that is the program's to change")  # fmt: skip
    if not found.candidate:
        note("nothing is faster than the file system's defaults: nothing is written")
        return
    process = opened.processes[0].about
    command = [str(each) for each in process.get("command") or []]
    hdf5 = str(process.get("hdf5", ""))
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    about = written.About(command, preset, hdf5, date, baseline="the file system's defaults")
    written.write(output, found, about, {})
    console().print(f"written: {output}: {written.gain_of(found.gain)} as with the defaults, "
                    f"{best.rate / best.available:.2f} of what all servers move",
                    soft_wrap=True, markup=False, highlight=False)  # fmt: skip


def _tell_played(played: list[Played], preset: str, ranks: int) -> None:
    table = Table(box=None, pad_edge=False, title=f"{preset}, {ranks} ranks")
    for heading in ("targets", "stripe", "transfers", "time", "of all servers' rate"):
        table.add_column(heading, justify="right")
    ordered = sorted(played, key=lambda each: each.seconds)
    for each in [*ordered[:_SHOWN], played[0]]:
        table.add_row(
            str(each.layout.targets), f"{each.layout.stripe >> 20} MiB",
            "as made" if each.together else "each alone",
            seconds(each.seconds), f"{each.rate / each.available:.3f}",
        )  # fmt: skip
    console().print(table)
