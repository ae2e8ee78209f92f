"""Measures the async stack beside native HDF5; see README.md in this folder.

python bench/async/run.py [--quick] [--output FOLDER]
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

if __name__ == "__main__":
    # `async` is a keyword, so no import statement can name this package.
    sys.exit(importlib.import_module("bench.async.command").main())
