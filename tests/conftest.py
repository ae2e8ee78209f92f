"""For all tests below: which run when, and what a sanitizer found."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.build import SANITIZER, take_findings
from harness.installed import lacking
from harness.prefix import MATRIX, Hdf5
from harness.seed import LONG, SEED

# Folders whose tests run plug-ins that are built with sanitizers, and plain ones when LONG=1.
SANITIZED = {Path(__file__).parent / name for name in ("layers/async", "filters", "machines")}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: too long for every day, see LONG=1")
    config.addinivalue_line("markers", "share(n): n of its cases will do, if not LONG=1")
    config.addinivalue_line("markers", "sanitized: of those that run under a sanitizer")
    config.addinivalue_line("markers", "threads: under that for threads, too")
    config.addinivalue_line("markers", "plain: means nothing under a sanitizer")


def pytest_sessionstart() -> None:
    """In place of tests that fail, after a while, for want of something to load."""
    if what := lacking():
        raise pytest.UsageError(what)


def pytest_report_header() -> str:
    return f"random tests: TEST_SEED={SEED}"


def _builds(item: pytest.Item) -> list[str]:
    """Builds of HDF5 among its parameters."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return [value for value in params.values() if value in MATRIX]


def _covered(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of cases that are alike but for the HDF5 one: by name, so that each HDF5 has about half."""
    alike: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        name = item.nodeid
        for build in _builds(item):
            name = name.replace(build, "*")
        alike[name].append(item)
    for name, cases in alike.items():
        yield cases[zlib.crc32(name.encode()) % len(cases)]


def _shared(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Of tests with many cases: the same ones each day, so that what was green is."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("share"):
            cases[item.nodeid.partition("[")[0]].append(item)
        else:
            yield item
    for alike in cases.values():
        share = alike[0].get_closest_marker("share")
        assert share is not None
        yield from sorted(alike, key=lambda item: zlib.crc32(item.nodeid.encode()))[: share.args[0]]


def _has_its_turn(item: pytest.Item) -> bool:
    """In this run: a plain one, or one under a sanitizer."""
    plain = item.get_closest_marker("plain") is not None
    if SANITIZER == "thread":
        return item.get_closest_marker("threads") is not None and not plain
    sanitized = item.get_closest_marker("sanitized") or SANITIZED & set(item.path.parents)
    if SANITIZER:
        return bool(sanitized) and not plain
    return LONG or plain or not sanitized


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:  # the tests of a file share what they have built
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
    kept = [item for item in items if _has_its_turn(item)]
    if not LONG:
        kept = [item for item in kept if item.get_closest_marker("long") is None]
        chosen = set(_shared(list(_covered(kept))))
        kept = [item for item in kept if item in chosen]
    left = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = kept


@pytest.hookimpl(trylast=True)  # after xdist has read the groups
def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that are not kept together build what they share twice, in each other's way."""
    if hasattr(session.config, "workerinput"):
        assert all("@" in item.nodeid for item in session.items), "xdist does not know this pytest"


@pytest.fixture(scope="session", params=MATRIX)
def hdf5(request: pytest.FixtureRequest) -> Hdf5:
    """Each HDF5 of the test matrix, and with it each MPI."""
    return Hdf5(request.param)


if SANITIZER:

    @pytest.fixture(autouse=True)
    def nothing_found() -> Iterator[None]:
        """By the sanitizer, in any process of the test."""
        yield
        found = take_findings()
        assert not found, found

    @pytest.fixture(scope="session", autouse=True)
    def nothing_found_at_last() -> Iterator[None]:
        """By what outlives its test."""
        yield
        found = take_findings()
        assert not found, found
