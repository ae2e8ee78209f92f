"""Measures what the layer object gains and costs; see README.md in this folder.

python bench/object/run.py [--output FOLDER]
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

if __name__ == "__main__":
    sys.exit(importlib.import_module("bench.object.command").main())
