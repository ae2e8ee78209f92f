"""Transfers of ranks that depend on each other's order, where nothing but a flush would ensure it.

trace = headrace.trace.open("sim.hrtrace")
for verdict in verdicts(find(trace)):
    print(verdict.text)
"""

from headrace.trace.analysis.hazards.hazards import RAW, WAR, WAW, Hazard, Hazards, find
from headrace.trace.analysis.hazards.verdicts import Verdict, in_words, sentence, verdicts

__all__ = [
    "RAW",
    "WAR",
    "WAW",
    "Hazard",
    "Hazards",
    "Verdict",
    "find",
    "in_words",
    "sentence",
    "verdicts",
]
