"""From specifications to connector and driver strings."""

from pathlib import Path

import pytest

from headrace.catalogue import Catalogue
from headrace.errors import SpecError
from headrace.stack import resolve


@pytest.mark.parametrize(
    ("spec", "connector", "driver"),
    [
        ("null", "headrace_null under_vol=0;under_info={}", None),
        (
            "trace,null",
            "headrace_trace under_vol=7200;under_info={under_vol=0;under_info={}}",
            None,
        ),
        (
            "null,null(seat=vol),null",
            "headrace_null under_vol=7200;under_info={seat=vol;under_vol=7200;"
            "under_info={under_vol=0;under_info={}}}",
            None,
        ),
        (
            "null,pass_through,trace",
            "headrace_null under_vol=1;under_info={under_vol=7210;under_info={}}",
            None,
        ),
        ("pass_through,null", "pass_through under_vol=7200;under_info={}", None),
        (
            "pass_through,pass_through",
            "pass_through under_vol=1;under_info={under_vol=0;under_info={}}",
            None,
        ),
        ("pass_through", "pass_through under_vol=0;under_info={}", None),
        ("null(seat=vfd)", None, ("headrace_null", "under=sec2;under_config={}")),
        (
            "model(delay=2us),trace,null(seat=vfd)",
            "headrace_trace under_vol=0;under_info={}",
            (
                "headrace_model",
                "delay=2000ns;under=headrace_null;under_config={under=sec2;under_config={}}",
            ),
        ),
        (
            'trace(label="a b;{}=%ü",budget=1K)',
            "headrace_trace label=a%20b%3B%7B%7D%3D%25%C3%BC;budget=1024;under_vol=0;under_info={}",
            None,
        ),
    ],
)
def test_strings(
    catalogue: Catalogue, spec: str, connector: str | None, driver: tuple[str, str] | None
) -> None:
    stack = resolve(spec, catalogue)
    assert stack.vol_connector() == connector
    assert stack.driver() == driver


def test_pass_through_is_never_given_a_length_at_which_it_damages_the_heap(
    catalogue: Catalogue,
) -> None:
    for length in range(32):
        label = "x" * length
        text = resolve(f'pass_through,trace(label="{label}")', catalogue).vol_connector()
        assert text is not None
        info = text.partition("under_info={")[2].removesuffix("}")
        assert info.startswith(f"label={label};under_vol=0")
        assert (len(info) + 1) % 16 != 8


def test_a_connector_string_has_a_single_blank(catalogue: Catalogue) -> None:
    text = resolve('trace(label="a b\tc\nd",file=" ")', catalogue).vol_connector()
    assert text is not None
    assert text.split()[1:] == [text.partition(" ")[2]]


def test_the_seat_comes_from_the_stack_then_the_file_then_the_environment(
    catalogue: Catalogue,
) -> None:
    environ = {"HEADRACE_NULL_SEAT": "vfd"}
    file = {"null": {"seat": "vol"}}
    assert resolve("null", catalogue).layers[0].seat == "both"
    assert resolve("null", catalogue, None, environ).layers[0].seat == "vfd"
    assert resolve("null", catalogue, file, environ).layers[0].seat == "vol"
    assert resolve("null(seat=both)", catalogue, file, environ).layers[0].seat == "both"


def test_files_of_a_stack(catalogue: Catalogue) -> None:
    def files(spec: str) -> list[tuple[str, int]]:
        return [(file.name, kind) for file, kind in resolve(spec, catalogue).files()]

    vfds = [("libheadrace_null_vfd.so", 2), ("libheadrace_null_vfd_mpi.so", 2)]
    assert files("null") == [("libheadrace_null.so", 1), *vfds]
    assert files("null(seat=vol)") == [("libheadrace_null.so", 1)]
    assert files("null(seat=vfd)") == vfds
    assert files("pass_through") == []
    assert next(resolve("trace", catalogue).files())[0] == Path("/lib/plugins/libheadrace_trace.so")


@pytest.mark.parametrize(
    ("spec", "start"),
    [
        ("async,async", 6),
        ("async,null,async", 11),
        ("async,trace,async(seat=vol)", 12),
        ("async(seat=vol),async(seat=vfd)", 16),
        ("trace,null,pass_through,trace", 24),
        ("model,null(seat=vfd),model", 21),
        ("null,null,trace,trace", 16),
    ],
)
def test_a_layer_stands_once_unless_it_keeps_nothing(
    catalogue: Catalogue, spec: str, start: int
) -> None:
    with pytest.raises(SpecError) as caught:
        resolve(spec, catalogue)
    assert caught.value.start == start
    assert "is in the stack already" in caught.value.reason


@pytest.mark.parametrize(
    ("spec", "start", "reason"),
    [
        ("trace,nul", 6, "unknown layer 'nul'; did you mean null? Existing: async, model, null"),
        ("null(sit=vol)", 5, "unknown option of layer null 'sit'"),
        ("pass_through(a=1)", 13, "There are none"),
        ("null(seat=top)", 10, "null(seat): 'top' is not one of vol, vfd, both"),
        ("trace(budget='1 K')", 13, "trace(budget): '1 K' is not a size"),
    ],
)
def test_what_does_not_exist_is_pointed_at(
    catalogue: Catalogue, spec: str, start: int, reason: str
) -> None:
    with pytest.raises(SpecError) as caught:
        resolve(spec, catalogue)
    assert caught.value.start == start
    assert reason in caught.value.reason
