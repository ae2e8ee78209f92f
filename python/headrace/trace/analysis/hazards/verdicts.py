"""Whether `mpi_staging` and `mpi_logs` suit a program, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headrace.trace.analysis.hazards.hazards import WAW
from headrace.units import count

if TYPE_CHECKING:
    from headrace.trace.analysis.hazards.hazards import Hazard, Hazards

STAGING: Final = "mpi_staging"
LOGS: Final = "mpi_logs"
# docs/guide/async.md and docs/guide/log.md: what other ranks may rely on.
_UNTIL: Final = {
    STAGING: "all ranks had returned from H5Fflush or H5Fclose",
    LOGS: "H5Fflush, H5Fclose or a collective H5Dread",
}
_DOES: Final = {"read": "reads", "write": "writes", "cut": "cuts off", "deletion": "deletes"}
_DID: Final = {"read": "read", "write": "wrote", "cut": "cut off", "deletion": "deleted"}


@dataclass(frozen=True)
class Verdict:
    """Of one setting; `safe` is None where the trace does not tell. `text` is a sentence or two."""

    setting: str
    safe: bool | None
    text: str


def verdicts(hazards: Hazards) -> tuple[Verdict, Verdict]:
    """Of the transfers in the trace: another run may have others."""
    return _verdict(hazards, STAGING), _verdict(hazards, LOGS)


def in_words(hazards: Hazards) -> list[str]:
    """All that is to be told; one sentence where both settings are alike."""
    staging, logs = verdicts(hazards)
    found = [staging.text, logs.text]
    if not any(each.mpi_staging or each.mpi_logs for each in hazards):
        # What is safe with the one, which waits for more, is so with the other.
        begin = f"{STAGING} is" if staging.safe else STAGING
        both = f"{STAGING} and {LOGS}{' are' if staging.safe else ''}"
        found = [staging.text.replace(begin, both, 1)]
    return [*found, *filter(None, [_of_attributes(hazards)])]


def _verdict(hazards: Hazards, setting: str) -> Verdict:
    """What is certain decides; then what may be; then what is not known."""
    harmful = [each for each in hazards if getattr(each, setting)]
    certain = [each for each in harmful if each.certain]
    if certain:
        worst = max(certain, key=lambda each: each.cases)
        return Verdict(setting, False, f"{setting} is not safe: {_why(worst, setting, certain)}")
    if harmful:
        worst = max(harmful, key=lambda each: each.cases)
        return Verdict(setting, None, f"{setting} may be unsafe: {_why(worst, setting, harmful)}")
    if gap := _gap(hazards):
        return Verdict(setting, None, f"{setting}: no hazard was found, but {gap}.")
    return Verdict(
        setting,
        True,
        f"{setting} is safe for what this run did: no rank reads or writes elements that another "
        f"rank has written before {_UNTIL[setting]}.",
    )


def _gap(hazards: Hazards) -> str:
    gaps = []
    if hazards.unknown:
        gaps.append(f"the elements of {count(hazards.unknown)} kinds of transfers are not known")
    if hazards.missing:
        gaps.append(f"the traces of {count(hazards.missing)} ranks are missing or cut off")
    return " and ".join(gaps)


def _why(worst: Hazard, setting: str, all_: list[Hazard]) -> str:
    cases = sum(each.cases for each in all_)
    more = f" There are {count(cases)} such cases." if cases > 1 else ""
    equal = (
        " It does no harm where both write the same values, which a trace does not hold."
        if worst.kind == WAW
        else ""
    )
    return f"{sentence(worst)}, before {_UNTIL[setting]}.{more}{equal}"


def sentence(hazard: Hazard) -> str:
    """Who does what after whom, without its end."""
    before, after = hazard.ranks
    second, _, first = hazard.kind.partition(" after ")
    maybe = "" if hazard.certain else "perhaps "
    while_ = "while" if hazard.together else "after"
    return (
        f"rank {after} {maybe}{_DOES[second]} {_what(hazard)} of {hazard.file}"
        f"{_by(hazard.lines[1])} {while_} rank {before} {_DID[first]} it{_by(hazard.lines[0])}"
    )


def _what(hazard: Hazard) -> str:
    if hazard.attribute:
        return f"the attribute {hazard.attribute} of {hazard.path}"
    return f"{hazard.path}[{hazard.elements}]"


def _of_attributes(hazards: Hazards) -> str:
    """A sentence or two about attributes that some ranks write; empty where all do together."""
    found = [each for each in hazards if each.attribute]
    if not found:
        return ""
    worst = max(found, key=lambda each: each.cases)
    cases = sum(each.cases for each in found)
    more = f" There are {count(cases)} such cases." if cases > 1 else ""
    return f"Not all ranks write an attribute, as HDF5 wants them to: {sentence(worst)}.{more}"


def _by(line: str) -> str:
    return f" ({line})" if line else ""
