"""Instructions of operations under each layer, beside the reference; see README.md in this folder.

python bench/cost/run.py [--write]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.cost.command import main

if __name__ == "__main__":
    sys.exit(main())
