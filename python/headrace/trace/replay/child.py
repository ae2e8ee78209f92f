"""python -m headrace.trace.replay.child: makes one replay in a process of its own.

Its argument is a JSON object: `trace`, `library`, `files` (names in the trace: those of the
replay), `compute`, and `kept` (a file of values and the names in it, or null). What was left
out is printed, as JSON.
"""

import json
import sys
from pathlib import Path

from headrace.trace.reader import read
from headrace.trace.replay.kept import KeptValues
from headrace.trace.replay.library import Library
from headrace.trace.replay.plan import plan
from headrace.trace.replay.player import Player


def main() -> None:
    """Plays what the command line says."""
    what = json.loads(sys.argv[1])
    library = Library(what["library"])
    kept = None
    if what["kept"] is not None:
        file, names = what["kept"]
        kept = KeptValues(library, file, {int(id_): name for id_, name in names.items()})
    player = Player(plan(read(Path(what["trace"]))), library, what["files"], kept)
    player.play(compute=what["compute"])
    sys.stdout.write(json.dumps(player.left_out) + "\n")


if __name__ == "__main__":
    main()
