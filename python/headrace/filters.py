"""Filters as people read them."""

from typing import Final

# By number. tests/layers/trace/test_filter_names.py holds them to src/engine/codec/filters.def.
names: Final = {
    1: "deflate", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset",
    305: "LZO", 307: "bzip2", 32000: "LZF", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle",
    32013: "ZFP", 32015: "Zstandard", 32026: "Blosc2",
}  # fmt: skip
