"""No operation has become dearer than bench/cost/reference.json says, in instructions."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from harness.prefix import Hdf5

from headrace.plugins import load_catalogue

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.cost import command, page, profile, reference, stacks
from bench.cost.count import Cell, Counts
from bench.cost.judge import Verdict, judge
from bench.cost.reference import Reference

TOOLS = "the same tools"
NATIVE = Cell({"HDF5": 1000}, {"H5Dwrite": 1000}, {})
LAYER = Cell({"HDF5": 1000, "Headrace": 500}, {"hold_back": 500}, {"hold_back": 900})


@pytest.mark.parametrize("stack", stacks.NAMES)
def test_no_operation_is_dearer(hdf5: Hdf5, stack: str) -> None:
    dearer, text = command.verdict(stacks.Hdf5(hdf5.name), stack)
    assert not dearer, text


def test_every_layer_is_counted() -> None:
    # HDF5's own, and one that keeps files itself: its calls are not HDF5's and a bit more.
    left_out = {"pass_through", "object"}
    assert set(stacks.LAYERS) == set(load_catalogue(os.environ).layers) - left_out


def test_tables_are_those_of_the_reference() -> None:
    assert page.tables(reference.load()) in page.FILE.read_text(encoding="utf-8")


def verdict(now: Cell, tools: str = TOOLS, native: Cell = NATIVE) -> Verdict:
    known = {"native": Counts(TOOLS, {"row": NATIVE}), "a": Counts(TOOLS, {"row": LAYER})}
    counted = Counts(tools, {"row": now})
    return judge(
        "1.14.5", "a", counted, Counts(tools, {"row": native}), Reference({"1.14.5": known})
    )


def made(hdf5: int, headrace: int) -> Cell:
    total = {"hold_back": headrace, "H5Dwrite": hdf5}
    return Cell({"HDF5": hdf5, "Headrace": headrace}, total, {"hold_back": 400 + headrace})


def test_a_function_that_takes_more_is_named() -> None:
    assert verdict(made(1000, 535)).dearer == {
        "row": "1500 -> 1535 instructions (+2.3%)\n"
        "    code of Headrace: 500 -> 535\n"
        "    with what it calls, hold_back: 900 -> 935\n"
        "    beyond native, by itself, hold_back: 500 -> 535"
    }
    assert verdict(made(1000, 525)) == Verdict({}, {})


def test_a_function_that_was_too_small_to_be_kept_is_named() -> None:
    now = Cell({"HDF5": 1000, "Headrace": 600}, {"hold_back": 500, "look_up": 100}, LAYER.within)
    assert "by itself, look_up: at most 15 -> 100" in verdict(now).dearer["row"]


def test_what_has_become_cheaper_is_told_and_no_failure() -> None:
    found = verdict(made(1000, 400))
    assert found == Verdict({}, {"row": "1500 -> 1400 instructions (-6.7%)"})


def test_of_other_tools_the_ratio_to_native_counts() -> None:
    native = Cell({"HDF5": 2000}, {}, {})
    assert verdict(made(2000, 1200), "others", native) == Verdict({}, {})
    assert verdict(made(2000, 1400), "others", native).dearer


def test_an_operation_without_a_reference_is_an_error() -> None:
    known = Reference({"1.14.5": {"native": Counts(TOOLS, {"row": NATIVE})}})
    counted = Counts(TOOLS, {"row": LAYER})
    assert "not in the reference" in judge("1.14.5", "new", counted, counted, known).dearer["row"]


def test_a_reference_is_read_as_it_was_written(tmp_path: Path) -> None:
    counts = {"native": Counts(TOOLS, {"row": NATIVE}), "a": Counts(TOOLS, {"row": LAYER})}
    reduced = {name: reference.reduced(each, counts["native"]) for name, each in counts.items()}
    reference.save(Reference({"1.14.5": reduced}), tmp_path / "reference.json")
    assert reference.load(tmp_path / "reference.json") == Reference({"1.14.5": reduced})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("H5B_find'2", "H5B_find"),
        ("headrace::async::(anonymous namespace)::make_plan(long, bool)", "async::make_plan"),
        (
            "headrace::Edge<headrace::vol::Traits<headrace::async::Connector>, "
            "(headrace::vol::Callback)23, &headrace::vol::x, int (*)(void*)>::call(void*)",
            "async: dataset_write",
        ),
        ("void a::g<a::b<int, char>, long, c<d> >::h<int, int>(int)", "a::g<a::b<int>>::h<int>"),
        ("headrace::f(int)::{lambda(char)#1}::operator()(char) const", "f (lambda)"),
    ],
)
def test_functions_are_named_for_people(given: str, expected: str) -> None:
    assert profile.short(given) == expected
