"""What the layer `trace` has recorded: tables of calls, of requests to the storage, and of objects.

    import headrace.trace

    trace = headrace.trace.open("analysis.hrtrace")
    trace.calls.to_pandas().groupby("path")["seconds"].sum()

Tables are Arrow's (`pip install headrace[trace]` brings pyarrow); docs/formats/trace.md says what
their columns mean.
"""

from headrace.trace.model.process import Process
from headrace.trace.model.reader import Trace
from headrace.trace.model.reader import read as open  # noqa: A004

__all__ = ["Process", "Trace", "open"]
