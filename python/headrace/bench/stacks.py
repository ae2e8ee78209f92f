"""The stacks that are compared: `native,async,trace+async(threads=4)`."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headrace import spec as grammar
from headrace.bench import privacy
from headrace.catalogue import Catalogue
from headrace.errors import HeadraceError, SettingError, SpecError
from headrace.plan import Plan, connector_variable, driver_variables, prepare
from headrace.plugins import plugin_path, search_variable
from headrace.spec import Layer, Option

native: Final = "native"
ledger_layer: Final = "model"
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class BenchStack:
    """A stack by the name that tables show; no plan for native HDF5."""

    name: str
    plan: Plan | None = None
    # File drivers of which one must have handled the file, by the name of the layer.
    drivers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    # As --stack has it; the name is the same without folders.
    given: str = native

    @property
    def connector(self) -> str:
        """What HDF5 must name as the connector of a file."""
        connectors = self.plan.stack.connectors if self.plan else ()
        return connectors[0].name if connectors else native

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment of a program under this stack."""
        clean = without_stack(inherited)
        if self.plan is None:
            return clean
        settings = {k: v for k, v in inherited.items() if k.startswith("HEADRACE_")}
        return self.plan.apply(clean | settings)


def split(text: str, separator: str) -> list[str]:
    """The parts between separators that stand outside of brackets and quotes."""
    parts, start = [], 0
    for at in _outside(text):
        if text[at] == separator:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _outside(text: str) -> Iterator[int]:
    closing: list[str] = []
    quote = ""
    skipped = False
    for at, char in enumerate(text):
        if skipped:
            skipped = False
        elif quote:
            skipped = char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _OPENING:
            closing.append(_OPENING[char])
        elif closing:
            if char == closing[-1]:
                closing.pop()
        else:
            yield at


def names(text: str) -> tuple[str, ...]:
    """The stacks of a --stack list, each once; SpecError when one is empty."""
    found = split(text, ",")
    for name in found:
        if not name or not all(split(name, "+")):
            raise SpecError(text, "expected stacks such as native,trace+async(threads=4)")
    return tuple(dict.fromkeys(found))


def shown(given: Sequence[str]) -> dict[str, str]:
    """The stacks by the names that results have: without folders, and each another's."""
    by_name: dict[str, str] = {}
    for each in given:
        short = privacy.stack(each)
        alike = sum(1 for other in by_name.values() if privacy.stack(other) == short)
        by_name[f"{short} ({alike + 1})" if alike else short] = each
    return by_name


def specification(name: str) -> str | None:
    """What `headrace run --stack` calls the stack; None for native."""
    return None if name == native else ",".join(split(name, "+"))


def resolve(
    name: str, config: Path | None, environ: Mapping[str, str], catalogue: Catalogue
) -> BenchStack:
    """Checks a stack against what is installed; raises HeadraceError."""
    spec = specification(name)
    return (
        BenchStack(name, given=name)
        if spec is None
        else _planned(name, spec, config, environ, catalogue)
    )


def with_ledger(
    name: str, summary: Path, config: Path | None, environ: Mapping[str, str], catalogue: Catalogue
) -> BenchStack:
    """The stack above a layer that counts requests; HeadraceError where that is not installed."""
    options = (Option("mode", "count"), Option("summary", str(summary)))
    layer = grammar.compose([Layer(ledger_layer, options)])
    spec = specification(name)
    full = layer if spec is None else f"{spec},{layer}"
    return _planned(name, full, config, environ, catalogue)


def can_count(catalogue: Catalogue) -> bool:
    """Whether a layer for ledgers is installed."""
    options = catalogue.settings.of_layer(ledger_layer)
    return ledger_layer in catalogue.layers and {"mode", "summary"} <= options.keys()


def _planned(
    name: str, spec: str, config: Path | None, environ: Mapping[str, str], catalogue: Catalogue
) -> BenchStack:
    plan = prepare(spec, config, _settings_only(environ), catalogue)
    drivers = {
        layer.info.name: frozenset(
            seat.name for seat in (layer.info.vfd, layer.info.vfd_mpi) if seat
        )
        for layer in plan.stack.layers
        if layer.seat == "vfd"
    }
    return BenchStack(name, plan, drivers, name)


def _settings_only(environ: Mapping[str, str]) -> dict[str, str]:
    """Without a connector or driver of the caller's, which the stack replaces silently here."""
    foreign = (connector_variable, *driver_variables)
    return {name: text for name, text in environ.items() if name not in foreign}


def without_stack(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` for HDF5 alone: no connector, no driver, nothing of Headrace."""
    kept = {
        name: text
        for name, text in _settings_only(environ).items()
        if not name.startswith("HEADRACE_")
    }
    try:
        own = str(plugin_path())
    except HeadraceError:
        own = ""
    path = [each for each in kept.pop(search_variable, "").split(":") if each not in ("", own)]
    return kept | ({search_variable: ":".join(path)} if path else {})


def inherited() -> dict[str, str]:
    """The environment that children get, before a stack is applied."""
    environ = dict(os.environ)
    if environ.get("HEADRACE_REPORT"):
        raise SettingError("HEADRACE_REPORT is set: it would be timed too; unset it")
    return environ
