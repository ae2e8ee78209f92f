"""Each rule speaks of the program that it is for, and not of one that comes near."""

from __future__ import annotations

import shutil
import sys

import pytest
from harness.build import ROOT
from harness.layer import NATIVE_BELOW
from tracing.conftest import Traced

from headrace.trace.advice import Advice, advise, evidence
from headrace.trace.summary import uses

sys.path.insert(0, str(ROOT))

from bench.advice.programs import PROGRAMS, Program, text


def told(layer: Traced, program: Program, source: str) -> dict[str, Advice]:
    """By rules: what is said of the dearest of each."""
    shutil.rmtree(layer.output, ignore_errors=True)
    if program.make:
        layer.plain(text(program.make, program.small))
    layer.python(text(source, program.small))
    trace = layer.read()
    found = advise(trace, uses(trace))
    assert [each.gain for each in found] == sorted((each.gain for each in found), reverse=True)
    return {each.rule: each for each in reversed(found)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.rule)
def test_a_rule_speaks_where_it_should(
    program: Program, layer: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    if program.storage:
        below = f"under_vol=7202;under_info={{{program.storage}{NATIVE_BELOW}}}"
        layer = Traced(layer.folder, below=below)
    with monkeypatch.context() as patch:
        patch.setattr(evidence, "LEAST", 1e-5)  # a small program gains little on a fast machine
        advice = told(layer, program, program.original)[program.rule]
    assert all((advice.evidence, advice.change, advice.code, advice.estimate, advice.risk))
    assert program.rule not in told(layer, program, program.near or program.followed)


IN_ORDER = """
with h5py.File("x.h5", "w") as f:
    f["d"] = np.arange(1e6)
with h5py.File("x.h5") as f:
    f["d"][()]
"""
ALIKE = """
with h5py.File("x.h5", "w", rdcc_nbytes=1000) as f:
    for name in "uvw":
        f.create_dataset(name, (2000, 100), "f8", chunks=(2000, 100), compression="gzip")
    for name in "uvw":
        d = f[name]
        for i in range(20):
            d[i] = i
"""


def test_a_program_in_order_gets_no_advice(layer: Traced) -> None:
    layer.python(text(IN_ORDER, 0))
    trace = layer.read()
    assert advise(trace, uses(trace)) == []


def test_datasets_alike_are_one_piece_with_the_line_of_the_program(
    layer: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "LEAST", 1e-5)
    source = text(ALIKE, 0)
    (layer.folder / "alike.py").write_text(source)
    layer.command([sys.executable, "alike.py"])
    trace = layer.read()
    (found,) = [e for e in advise(trace, uses(trace)) if e.rule == "rewritten_in_parts"]
    assert found.subject in {f"/{name} and 2 more" for name in "uvw"}
    line = source.splitlines().index("            d[i] = i") + 1
    assert found.place == f"line {line} of alike.py"
    (first,) = advise(trace, uses(trace), most=1)
    assert first.place in str(first)


@pytest.mark.parametrize("program", ["cache_too_small", "read_again"])
def test_sums_alone_do_not_mislead(program: str, layer: Traced) -> None:
    (chosen,) = [each for each in PROGRAMS if each.rule == program]
    layer.plain(text(chosen.make, chosen.small))
    layer.python(text(chosen.original, chosen.small), "level=profile;output=traced;")
    trace = layer.read()
    assert {each.rule for each in advise(trace, uses(trace))} <= {"files_again", "opened_again"}
