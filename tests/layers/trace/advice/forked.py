"""Runs programs, each in a folder and a process of its own that is forked: they are short.

python forked.py FILE: a list of [folder, text] as JSON. Prints the process of each as it ends.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import h5py  # noqa: F401  # importing it takes longer than most programs


def main(jobs: list[tuple[str, str]]) -> None:
    for folder, text in jobs:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            exec(compile(text, "program.py", "exec"), {"__name__": "__program__"})  # noqa: S102
            return  # and ends as a program does
        _, status = os.waitpid(child, 0)
        assert status == 0, f"{folder}: {status}\n{text}"
        print(child, flush=True)


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()))
