"""Fixtures: a made-up catalogue, an installation with made-up plug-ins, and the real one."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support import DESCRIPTION, VFD_TYPE, VOL_TYPE, Compiler, Headrace, described, run_from

import headrace
from headrace import catalogue as catalogues
from headrace.catalogue import Catalogue
from headrace.errors import PluginError
from headrace.plugins import plugin_path


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """Made-up layers with one setting of each type; their files do not exist."""
    described = catalogues.from_description(json.dumps(DESCRIPTION), Path("/lib/plugins"))
    return catalogues.merge([described])


@pytest.fixture(scope="session")
def compiler() -> Compiler:
    return Compiler()


@pytest.fixture(scope="session")
def fake_site(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> Path:
    """A directory to import headrace from, complete with made-up plug-ins. Not to be changed."""
    site = tmp_path_factory.mktemp("site")
    source = Path(headrace.__path__[0])
    shutil.copytree(source, site / "headrace", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    library = site / "headrace/lib"
    compiler(library / "libheadrace_core.so", *described(DESCRIPTION))
    for layer in DESCRIPTION["layers"]:
        for seat in ("vol", "vfd", "vfd_mpi"):
            if seat in layer:
                kind = VOL_TYPE if seat == "vol" else VFD_TYPE
                compiler.plugin(library / "plugins" / layer[seat]["file"], kind)
    compiler.probe(library / "libheadrace_probe.so")
    return site


@pytest.fixture(scope="session")
def fake_hdf5(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> Path:
    """A library that passes for HDF5 2.0.0, thread-safe and not parallel."""
    return compiler.hdf5(tmp_path_factory.mktemp("hdf5") / "libhdf5-fake.so", "2.0.0")


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler, fake_hdf5: Path) -> Path:
    """A program that initialises that library, and then does what its first argument says."""
    link = [str(fake_hdf5), f"-Wl,-rpath,{fake_hdf5.parent}"]
    return compiler(tmp_path_factory.mktemp("program") / "program", "uses_hdf5.c", *link)


@pytest.fixture
def own_site(fake_site: Path, tmp_path: Path) -> Path:
    """The same to be changed."""
    return Path(shutil.copytree(fake_site, tmp_path / "own_site"))


@pytest.fixture
def fake_headrace(fake_site: Path) -> Headrace:
    """Runs `headrace ARGUMENTS` on made-up plug-ins."""

    def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[Any]:
        return run_from(fake_site, *arguments, **more)

    return run


@pytest.fixture
def installed_headrace() -> Headrace:
    """Runs `headrace ARGUMENTS` on the real plug-ins; fails, not skips, where there are none."""
    try:
        plugin_path()
    except PluginError as error:
        pytest.fail(f"this test needs the built plug-ins, run `make setup-test`: {error}")

    def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[Any]:
        return run_from(None, *arguments, **more)

    return run
