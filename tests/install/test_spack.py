"""The Spack recipe asks for what pyproject.toml and CMake's files ask for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

RECIPE = "packaging/spack/package.py"


@pytest.fixture(scope="module")
def asked(root: Path) -> dict[str, str]:
    """Lower bounds of the recipe by package."""
    found = re.findall(r'depends_on\("([\w-]+)(?:@([\d.]+):)?', (root / RECIPE).read_text())
    return dict(found)


def test_of_python(root: Path, asked: dict[str, str]) -> None:
    made = tomllib.loads((root / "pyproject.toml").read_text())
    needed = [*made["build-system"]["requires"], *made["project"]["dependencies"]]
    for requirement in needed:
        name, bound = requirement.partition(";")[0].split(">=")
        assert asked[f"py-{name.replace('.', '-')}"] == bound
    assert made["project"]["requires-python"] == ">=" + asked["python"]
    assert made["tool"]["scikit-build"]["cmake"]["version"] == ">=" + asked["cmake"]


def test_of_cmake(root: Path, asked: dict[str, str]) -> None:
    lists = [root / "CMakeLists.txt", *(root / "src").rglob("CMakeLists.txt")]
    texts = [file.read_text() for file in lists]
    texts += [file.read_text() for file in (root / "cmake").glob("*.cmake")]
    text = "".join(texts)
    assert f"cmake_minimum_required(VERSION {asked['cmake']})" in text
    bounds = dict(re.findall(r"(?<=[ (])(?:lib)?(\w+)>=([\d.]+)", text))
    assert bounds.keys() == {"deflate", "lmdb", "lz4", "zstd", "tomlplusplus"}
    for name, bound in bounds.items():
        assert asked["libdeflate" if name == "deflate" else name] == bound
    assert asked["hdf5"] == "1.14"
    assert asked.keys() >= {"asio", "cli11", "inih", "ninja", "pkgconfig"}
