"""Makes a file in place of one that a program has read: what the program has opened in it.

The argument is a JSON object: `sources`, the files of the trace; `name`, of the file in them;
`library`, the program's libhdf5; and `output`, the file to make. It prints a JSON object: how many
`datasets` it has made; what is `unknown`, why, by path; and `tokens`, what references of the
program's file are in this one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from headrace.trace.model.reader import read
from headrace.trace.replay.hdf5.library import Library
from headrace.trace.replay.plan import plan_of
from headrace.trace.replay.stand_ins.looked_at import looked_at
from headrace.trace.replay.stand_ins.making import Making


def main() -> None:
    """Makes what the command line says."""
    what = json.loads(sys.argv[1])
    plans = [plan_of(read(Path(each)).seats[0]) for each in what["sources"]]
    contents = looked_at(plans, what["name"])
    made = Making(Library(what["library"]), contents, what["output"])
    made.make()
    told = {"datasets": made.datasets, "unknown": contents.unknown, "tokens": made.tokens()}
    made.close()
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
