"""Reading executable files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Compiler

from headrace.doctor.executable import Embedded, find_embedded, is_static


def test_static_and_dynamic_programs(tmp_path: Path, compiler: Compiler) -> None:
    assert is_static(compiler(tmp_path / "static", "nothing.c", "-static"))
    assert is_static(compiler(tmp_path / "pie", "nothing.c", "-static-pie"))
    assert not is_static(compiler(tmp_path / "dynamic", "nothing.c"))
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert not is_static(script)
    assert not is_static(tmp_path / "nothing")


def test_a_header_that_points_past_all_files(tmp_path: Path, header: bytes) -> None:
    file = tmp_path / "damaged"
    file.write_bytes(header[:32] + b"\xff" * 8 + header[40:])
    assert not is_static(file)


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> bytes:
    return compiler(tmp_path_factory.mktemp("elf") / "program", "nothing.c").read_bytes()[:200]


@given(st.data())
def test_damaged_headers_are_no_static_programs_and_no_crash(
    tmp_path_factory: pytest.TempPathFactory, header: bytes, data: st.DataObject
) -> None:
    damaged = bytearray(header)
    for index in data.draw(st.lists(st.integers(0, 63), max_size=8)):
        damaged[index] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.getbasetemp() / "damaged"
    file.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    assert is_static(file) in {True, False}


def test_hidden_hdf5_is_found_by_its_label(tmp_path: Path, compiler: Compiler) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    plain = compiler(tmp_path / "plain", "nothing.c")
    static = compiler.hdf5(tmp_path / "static", "1.12.3", "nothing.c", "-static")
    files = [empty, plain, static, tmp_path / "nothing", tmp_path]
    assert find_embedded(files) == [Embedded(static, "1.12.3")]
