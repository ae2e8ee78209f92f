"""Measures what the layer `trace` costs; see README.md in this folder.

python bench/trace/run.py [--data FOLDER] [--output FOLDER]
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

if __name__ == "__main__":
    sys.exit(importlib.import_module("bench.trace.command").main())
