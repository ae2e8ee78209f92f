"""Lists of stacks, and the environment of each."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.bench import stacks
from headrace.catalogue import Catalogue
from headrace.errors import HeadraceError, SpecError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("native", ["native"]),
        ("native,async", ["native", "async"]),
        (" native , trace + null ", ["native", "trace + null"]),
        ("trace+async(threads=4,budget=1MiB),null", ["trace+async(threads=4,budget=1MiB)", "null"]),
        ('trace(file="a,b+c)"),null', ['trace(file="a,b+c)")', "null"]),
        ("null,native,null", ["null", "native"]),
        (r"trace(file='a\',b'),null", [r"trace(file='a\',b')", "null"]),
    ],
)
def test_lists_of_stacks(text: str, names: list[str]) -> None:
    assert list(stacks.names(text)) == names


@pytest.mark.parametrize("text", ["", ",", "native,", "null++trace", "+null", "null, ,trace"])
def test_a_stack_without_a_name(text: str) -> None:
    with pytest.raises(SpecError):
        stacks.names(text)


def test_layers_are_joined_by_plus_outside_of_options() -> None:
    found = stacks.specification('trace(file="a+b")+null(seat=vol)')
    assert found == 'trace(file="a+b"),null(seat=vol)'
    assert stacks.specification("native") is None


@given(st.lists(st.sampled_from(["null", "a(b=1,c=2)", "x+y", "t(f='u,+')"]), min_size=1))
def test_what_is_joined_comes_apart_again(parts: list[str]) -> None:
    assert stacks.split(",".join(parts), ",") == parts


@given(st.text())
def test_no_text_breaks_the_splitting(text: str) -> None:
    assert len(stacks.split(text, ",")) <= text.count(",") + 1


def test_native_removes_what_a_stack_is_made_of() -> None:
    environ = {
        "HDF5_VOL_CONNECTOR": "headrace_null ",
        "HDF5_DRIVER": "x",
        "HDF5_DRIVER_CONFIG": "y",
        "HEADRACE_LOG_LEVEL": "info",
        "HDF5_PLUGIN_PATH": "/filters",
        "HOME": "/home/someone",
    }
    kept = stacks.BenchStack("native").environment(environ)
    assert kept == {"HDF5_PLUGIN_PATH": "/filters", "HOME": "/home/someone"}


def test_a_stack_that_does_not_exist(catalogue: Catalogue) -> None:
    with pytest.raises(HeadraceError, match="did you mean null"):
        stacks.resolve("nul", None, {}, catalogue)


def test_without_the_layer_that_counts_there_are_no_ledgers(catalogue: Catalogue) -> None:
    # The made-up `model` has neither of the options.
    assert not stacks.can_count(catalogue)


def test_our_own_report_would_be_timed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADRACE_REPORT", str(tmp_path / "report"))
    with pytest.raises(HeadraceError, match="HEADRACE_REPORT"):
        stacks.inherited()
