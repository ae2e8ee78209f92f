"""A program that a rule of advice is for, and what it runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

PRELUDE: Final = "import time, h5py, numpy as np\nrng = np.random.default_rng(1)\n"
NATIVE: Final = "native"


@dataclass(frozen=True)
class Program:
    """`size` is for about a second, `small` for a test.

    `storage` is what both run on: the page cache of the disk, or options of the layer `model`.
    `layers` is the stack that the advice names, and `near` are programs that the rule must not
    speak of; where there are none, that is the one in which the advice was followed. Of several
    programs for a rule all but the first have a `variant`. `says` is in the advice, and `not_said`
    is not. With `kernel`, one of headrace-bench's and its words, programs are names of its cases,
    which run on two ranks.
    """

    rule: str
    size: int
    small: int
    original: str
    followed: str = ""
    make: str = ""
    near: str | Sequence[str] = ()
    storage: str = ""
    layers: str = NATIVE
    kernel: Sequence[str] = ()
    variant: str = ""
    says: str = ""
    not_said: str = ""

    @property
    def name(self) -> str:
        """Of the rule, and of the variant."""
        return "-".join(filter(None, (self.rule, self.variant)))

    @property
    def silent(self) -> Sequence[str]:
        """Programs that the rule must not speak of."""
        near = (self.near,) if isinstance(self.near, str) else self.near
        return near or (self.followed,)

    @property
    def after(self) -> str:
        """What runs when the advice was followed: where that is a layer, the same."""
        return self.followed or self.original


def text(program: str, size: int) -> str:
    """As `python -c` takes it."""
    return f"{PRELUDE}N = {size}\n{program}"


SLOW: Final = "mode=delay;preset=none;bandwidth={};latency={};stripe_size={};"
DISK_100: Final = SLOW.format("100000000", "10us", "1GiB")
DISK_5: Final = SLOW.format("5000000", "10us", "1GiB")
DISK_20: Final = SLOW.format("20000000", "10us", "1GiB")
FAR: Final = SLOW.format("1000000000", "300us", "1GiB")
STRIPED: Final = SLOW.format("1000000000", "5ms", "1MiB") + "servers=1;stripe_count=1;"
