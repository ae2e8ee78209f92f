"""python -m headrace.trace.replay.child: one process of a replay, of one or of several ranks.

Its argument is a JSON object: `sources` (of each rank the files of the trace whose calls it
makes), `together` (whether ranks open files together), `library`, `files` (names in the trace:
those of the replay), `tokens` (what references in stand-ins are, by those names), `compute`, and
`kept` (a file of values and the names in it, or null). It prints a line of JSON: `rank`, `pid`, and
what was left out.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from headrace.trace.model.reader import read
from headrace.trace.replay import fewer
from headrace.trace.replay.hdf5.library import Library
from headrace.trace.replay.hdf5.mpi import Mpi
from headrace.trace.replay.kept import KeptValues
from headrace.trace.replay.plan import plan_of
from headrace.trace.replay.player import Player
from headrace.trace.replay.stand_ins.inputs import with_tokens


def main() -> None:
    """Plays what the command line says."""
    what = json.loads(sys.argv[1])
    library = Library(what["library"], for_ranks=what["together"])
    mpi = Mpi(library, sum(map(len, what["sources"]))) if what["together"] else None
    rank = 0 if mpi is None else mpi.rank
    try:
        left_out = _play(what, rank, library, mpi)
    except Exception as error:
        if mpi is None:
            raise
        sys.stderr.write(f"rank {rank}: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
        mpi.abort()
        raise
    told = json.dumps({"rank": rank, "pid": os.getpid(), "left_out": left_out})
    sys.stdout.write(told + "\n")
    sys.stdout.flush()
    if mpi is not None:
        mpi.end()


def _play(what: Any, rank: int, library: Library, mpi: Mpi | None) -> dict[str, int]:
    kept = None
    if what["kept"] is not None:
        file, names = what["kept"]
        kept = KeptValues(library, file, {int(id_): name for id_, name in names.items()})
    plans = [
        with_tokens(plan_of(read(Path(each)).seats[0]), what["tokens"])
        for each in what["sources"][rank]
    ]
    players = [Player(each, library, what["files"], kept, mpi) for each in plans]
    if mpi is not None and len(what["sources"][0]) > 1:
        with library.taped():
            fewer.play(players, plans, len(what["sources"][0]))
    else:
        for player in players:
            player.play(compute=what["compute"])
    return dict(sum((each.left_out for each in players), Counter[str]()))


if __name__ == "__main__":
    main()
