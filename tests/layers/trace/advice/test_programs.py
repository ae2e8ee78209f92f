"""Each rule speaks of the programs that it is for, and not of those that come near.

What comes near: programs in which the advice was followed; datasets that grow, or are made anew
under their name; several files with one name of a dataset; whole chunks, and one element of each;
what another process writes or reads meanwhile; what formats above HDF5 prescribe.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.build import ROOT
from harness.layer import NATIVE_BELOW
from layers.trace.conftest import Traced

from headrace.trace.analysis.advice import Advice, advise, evidence
from headrace.trace.analysis.summary import uses
from headrace.trace.model.reader import Trace

sys.path.insert(0, str(ROOT))

from bench.advice.programs import OVER_MPI, PROGRAMS, Program, text

RULES = Path(evidence.__file__).parent
OF_SEVERAL = {"file_per_rank", "shared_file"}  # test_ranks.py
FORKED = Path(__file__).with_name("forked.py")


@dataclass(frozen=True)
class Job:
    """One program to run: the first is what the rule is for, and it must be silent of others."""

    program: Program
    source: str
    place: int
    folder: Path

    @property
    def speaks(self) -> bool:
        return self.place == 0

    @property
    def least(self) -> float:
        """A small program gains little; where advice was followed a little may be left to gain."""
        return evidence.LEAST if self.place == 1 else 1e-5


def jobs_of(programs: list[Program], folder: Path) -> list[Job]:
    jobs = []
    for program in programs:
        for place, source in enumerate((program.original, *program.silent)):
            mine = folder / f"{program.name}-{place}"
            mine.mkdir()
            jobs.append(Job(program, source, place, mine))
    return jobs


def make(programs: list[Program], jobs: list[Job], layer: Traced) -> None:
    """What programs read: natively, once for all that read it."""
    made = {each.name: layer.folder / f"{each.name}-made" for each in programs if each.make}
    for folder in made.values():
        folder.mkdir()
    listed = [(str(made[e.name]), text(e.make, e.small)) for e in programs if e.make]
    forked(layer, listed, native=True)
    for job in jobs:
        if job.program.name in made:
            shutil.copytree(made[job.program.name], job.folder, dirs_exist_ok=True)


def forked(layer: Traced, jobs: list[tuple[str, str]], *, native: bool = False) -> list[int]:
    """The processes of programs that have all succeeded."""
    listed = layer.folder / "jobs.json"
    listed.write_text(json.dumps(jobs))
    words: list[str | Path] = [sys.executable, FORKED, listed]
    done = layer.command(words, None if native else f"output={layer.output};", limit=300)
    assert done.status == 0, done.text
    return [int(line) for line in done.out.split()]


def told(trace: Trace, process: int) -> list[Advice]:
    """Of one program, and of the processes that it has started."""
    mine = [e for e in trace.processes if process in (e.about["pid"], e.about.get("parent"))]
    one = Trace(trace.path, mine)
    return advise(one, uses(one))


def wrong(job: Job, found: list[Advice]) -> str:
    """What the rule says though it should not, or does not say; empty where all is well."""
    program = job.program
    advice = next((each for each in found if each.rule == program.rule), None)
    assert [each.gain for each in found] == sorted((each.gain for each in found), reverse=True)
    if not job.speaks:
        return f"{program.name} speaks of{job.source}: {advice}" if advice else ""
    if advice is None:
        return f"{program.name} is silent of{job.source}: {[each.rule for each in found]}"
    whole = all((advice.evidence, advice.change, advice.code, advice.estimate, advice.risk))
    said = program.says in f"{advice.change}: {advice.code}"
    unsaid = not program.not_said or program.not_said not in str(advice)
    return "" if whole and said and unsaid else f"{program.name} says: {advice}"


@pytest.mark.parametrize("storage", sorted({each.storage for each in PROGRAMS}))
def test_rules_speak_where_they_should_and_nowhere_else(
    storage: str, layer: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    if storage:
        below = f"under_vol=7202;under_info={{{storage}{NATIVE_BELOW}}}"
        layer = Traced(layer.folder, below=below)
    programs = [each for each in PROGRAMS if each.storage == storage]
    jobs = jobs_of(programs, layer.folder)
    make(programs, jobs, layer)
    listed = [(str(each.folder), text(each.source, each.program.small)) for each in jobs]
    processes = forked(layer, listed)
    trace = layer.read()
    found = []
    for job, process in zip(jobs, processes, strict=True):
        with monkeypatch.context() as patch:
            patch.setattr(evidence, "LEAST", job.least)
            found.append(wrong(job, told(trace, process)))
    assert not any(found), "\n".join(filter(None, found))


def test_each_rule_has_a_program() -> None:
    sources = "".join(each.read_text() for each in RULES.glob("*.py"))
    rules = set(re.findall(r'Advice\(\s*"(\w+)"', sources))
    assert rules == {each.rule for each in (*PROGRAMS, *OVER_MPI)} | OF_SEVERAL


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
    (chosen,) = [each for each in PROGRAMS if each.name == program]
    layer.plain(text(chosen.make, chosen.small))
    layer.python(text(chosen.original, chosen.small), "level=profile;output=traced;")
    trace = layer.read()
    assert {each.rule for each in advise(trace, uses(trace))} <= {"files_again", "opened_again"}
