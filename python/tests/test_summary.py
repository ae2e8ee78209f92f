"""What is said of the summaries of a program's processes."""

from typing import Any

import pytest

from headrace.doctor.summary import sentences


def _line(opened: int = 1, through: int = 1, /, **layers: Any) -> dict[str, Any]:
    told = {
        name.strip("_"): {"taken": taken, "left": left} for name, (taken, left) in layers.items()
    }
    return {"event": "summary", "opened": opened, "through": through, "layers": told}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [_line(0, 0)],
        [_line()],
        [_line(async_=(0, {}))],
        [_line(log=(1, {"left_for_rows": 99}))],
        [_line(0, 0), _line(log=(1, {}))],
        [_line(3, 0), _line(1, 1)],
        [{"event": "another"}],
    ],
)
def test_nothing_when_all_is_well(lines: list[dict[str, Any]]) -> None:
    assert list(sentences(lines)) == []


def test_most_of_what_was_written_counts() -> None:
    halves = [_line(async_=(1 << 20, {})), _line(async_=(0, {"left_for_mpi": 1 << 20}))]
    assert list(sentences(halves)) == []
    (text,) = sentences([*halves, _line(async_=(0, {"left_for_swmr": 1 << 22}))])
    assert text.startswith("the async layer wrote only 1.00 MiB of 6.00 MiB behind the program: ")
    assert text.endswith("SWMR")


def test_the_main_reason_counts_and_unknown_ones_are_told_as_they_are() -> None:
    (text,) = sentences([_line(log=(0, {"left_for_rows": 1, "left_for_new_things": 2}))])
    assert text == "the log layer logged none of 3 writes: new things"
    reasons = {"left_for_mpi": 2}
    assert list(sentences([_line(log=(0, reasons))], told=["left_for_mpi"])) == []


def test_what_was_given_is_not_asked_for() -> None:
    lines = [_line(log=(0, {"left_for_mpi": 2}))]
    (text,) = sentences(lines)
    assert "mpi_logs=rank" in text
    (text,) = sentences(lines, mpi_logs=True)
    assert "mpi_logs" not in text
    assert "installed without a module for the program's MPI; `pip install .`" in text


def test_files_are_counted_that_are_to_be_in_pieces_and_are_not() -> None:
    left = {"left_for_address": 2, "left_for_user_block": 1}
    (text,) = sentences([_line(stripe=(1, left))])
    assert text.startswith("the stripe layer left 3 of 4 files whole: the program asked where")
    (text,) = sentences([_line(stripe=(0, {"left_for_user_block": 1}))])
    assert text.endswith("1 of 1 files whole: programs write into user blocks past HDF5")
    assert list(sentences([_line(stripe=(3, left))])) == []


def test_filters_count_where_they_are_much_of_what_was_written() -> None:
    filters = (0, {"left_for_selection": 1000})
    much = _line(async_=(1000, {}), async_filters=filters)
    little = _line(async_=(1 << 20, {}), async_filters=filters)
    assert [text.split(":")[0] for text in sentences([much])] == [
        "the async layer compressed nothing"
    ]
    assert list(sentences([little])) == []


def test_each_library_that_refused_is_told_once() -> None:
    old = {"event": "refused", "hdf5": "/a/x/../h5py.libs/l.so", "version": "1.12.2", "why": "w"}
    part = {"event": "refused", "hdf5": "/b", "version": "1.14.5", "why": "/b does not export f"}
    first, second = sentences([old, part, old, part])
    assert first.startswith("/a/h5py.libs/l.so is HDF5 1.12.2, and Headrace needs 1.14 or newer")
    assert "pip install --upgrade h5py" in first
    assert second.startswith("/b does not export f: it runs natively")
