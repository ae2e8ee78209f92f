"""Each day random tests have another seed, said where pytest begins.

HEADRACE_RANDOM_SEED=S repeats those of another day.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

SEED = int(os.environ.get("HEADRACE_RANDOM_SEED") or f"{datetime.now(UTC):%Y%m%d}")
