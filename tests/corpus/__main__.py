"""Fill a folder: python -m corpus DEST."""

import os
import sys
from pathlib import Path

from corpus import containers, datatypes, links, storage  # noqa: F401  each registers its files
from corpus.registry import generate

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
os.chdir(folder)  # names of external and virtual sources are stored as given: keep them relative
generate(Path())
