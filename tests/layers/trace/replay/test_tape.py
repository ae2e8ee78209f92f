"""Calls on a tape are made in order, with what earlier ones have returned."""

from __future__ import annotations

import ctypes

import pytest

from headrace.trace.replay.hdf5.tape import Tape, now

LIBC = ctypes.CDLL(None)


def address(function: str) -> int:
    return ctypes.cast(getattr(LIBC, function), ctypes.c_void_p).value or 0


def test_a_call_takes_what_an_earlier_one_has_returned() -> None:
    tape = Tape()
    length = tape.add(address("strlen"), [b"four"], is_long=True)
    room = ctypes.create_string_buffer(16)
    copied = tape.add(address("strncpy"), [room, b"abcdefgh", length], is_long=True)
    negative = tape.add(address("abs"), [ctypes.c_int(-7)], is_long=False)
    assert room.value == b"", "it is called before the tape is played"
    tape.play()
    assert (now(length), room.value, now(negative)) == (4, b"abcd", 7)
    assert now(copied) == ctypes.addressof(room)
    again = tape.add(address("labs"), [length], is_long=True)
    tape.play()
    assert now(again) == 4


def test_a_result_of_32_bits_keeps_its_sign() -> None:
    tape = Tape()
    found = tape.add(address("strcmp"), [b"a", b"b"], is_long=False)
    tape.play()
    assert now(found) < 0


@pytest.mark.parametrize("calls", [4096, 10_000])
def test_a_full_tape_is_played(calls: int) -> None:
    tape = Tape()
    last = tape.add(address("labs"), [1], is_long=True)
    for number in range(calls):
        last = tape.add(address("labs"), [last if number % 3 else number], is_long=True)
    tape.play()
    assert now(last) == (calls - 1) // 3 * 3


def test_calls_are_made_before_they_hold_too_much() -> None:
    tape, room = Tape(), ctypes.create_string_buffer(8)
    tape.add(address("strcpy"), [room, b"here"], is_long=True)
    tape.holds(1 << 30)
    tape.add(address("strlen"), [room], is_long=True)
    assert room.value == b"here"
