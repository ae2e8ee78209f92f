"""Traces in the formats of other tools; each module's `write(trace, path)` is one of them."""
