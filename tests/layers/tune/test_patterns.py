"""Options by pattern: what a rule applies to, and files of rules that are none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from harness.run import Result

if TYPE_CHECKING:
    from harness.layer import Layer

pytestmark = pytest.mark.sanitized

# Whether each new dataset lies in its header.
MADE = """
for name in ("x.h5", "sub/run-1.h5"):
    with h5py.File(name, "w") as f:
        f.create_group("fields/deep")
        f.create_group("g")
        for path in ("a", "fields/t", "fields/deep/u", "g//./v", "/log"):
            d = h5py.h5d.create(f.id, path.encode(), h5py.h5t.NATIVE_INT32,
                                h5py.h5s.create_simple((4, 4)))
            print(name, path, d.get_create_plist().get_layout() == h5py.h5d.COMPACT)
"""


TIDY = {"g//./v": "/g/v"}


def told(tune: Layer, rules: str, program: str = "", options: str = "") -> Result:
    (tune.folder / "sub").mkdir(exist_ok=True)
    (tune.folder / "rules.toml").write_text(rules)
    return tune.start(program or MADE, f"rules={tune.folder}/rules.toml;{options}")


def changed(tune: Layer, what: str) -> list[str]:
    return re.findall(rf"tune: {what} of (\S+) is changed", tune.log)


def compact(tune: Layer, rules: str, options: str = "") -> set[str]:
    """The datasets of x.h5 that lie in their headers."""
    done = told(tune, rules, options=f"allow=layout;{options}")
    assert done.status == 0, done.text
    lines = [line.split() for line in done.out.decode().splitlines()]
    return {
        TIDY.get(path, f"/{path.lstrip('/')}")
        for name, path, layout in lines
        if name == "x.h5" and layout == "True"
    }


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("x.h5", ["x.h5"]),
        ("*.h5", ["x.h5", "sub/run-1.h5"]),
        ("run-?.h5", ["sub/run-1.h5"]),  # the last part of the name
        ("sub/*", ["sub/run-1.h5"]),
        ("run-[2-9].h5", []),
        ("X.h5", []),
        ("x", []),
    ],
)
def test_files(tune: Layer, pattern: str, files: list[str]) -> None:
    done = told(tune, f"[[rules]]\nfile = {pattern!r}\nmetadata_block = '64KiB'\n")
    assert done.status == 0, done.text
    assert changed(tune, "meta_block_size") == files


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("/a", {"/a"}),
        ("a", set()),  # the whole path
        ("/fields/*", {"/fields/t", "/fields/deep/u"}),
        ("*/?", {"/a", "/fields/t", "/fields/deep/u", "/g/v"}),
        ("/g/v", {"/g/v"}),
        ("/[!fg]*", {"/a", "/log"}),
    ],
)
def test_datasets(tune: Layer, pattern: str, paths: set[str]) -> None:
    assert compact(tune, f"[[rules]]\ndataset = {pattern!r}\ncompact = 64\n") == paths


ALL = {"/a", "/fields/t", "/fields/deep/u", "/g/v", "/log"}


@pytest.mark.parametrize(
    ("rules", "options", "paths"),
    [
        ("{compact = 64}, {dataset = '/a', compact = 0}", "", ALL - {"/a"}),
        ("{dataset = '/a', compact = 64}, {dataset = '/*', compact = 0}", "", set()),
        ("{dataset = '/*', compact = 0}, {dataset = '/a', compact = 64}", "", {"/a"}),
        ("{dataset = '/a', compact = 64}, {compact = 0}", "", set()),
        ("{dataset = \"/é'\\\"\", compact = 0}, {dataset = '/a', compact = 64}", "", {"/a"}),
        ("{file = 'x.h5', compact = 0}", "compact=64;", set()),
        ("{file = 'y.h5', compact = 0}", "compact=64;", ALL),
        ("{file = 'y.h5', dataset = '/a', compact = 64}", "", set()),
        ("{file = '*.h5', dataset = '/a', compact = '64'}", "", {"/a"}),
    ],
)
def test_later_rules_beat_earlier_ones(
    tune: Layer, rules: str, options: str, paths: set[str]
) -> None:
    assert compact(tune, f"rules = [{rules}]", options) == paths


def test_consent_for_one_file(tune: Layer) -> None:
    """Given in a rule, it is that file's."""
    rule = "[[rules]]\nfile = '{}'\nallow = 'layout'\ncompact = 64\n"
    done = told(tune, rule.format("x.h5"))
    assert done.status == 0, done.text
    assert done.out.decode().count("x.h5 a True\n") == 1
    assert done.out.decode().count("run-1.h5 a False\n") == 1
    done = told(tune, rule.format("x.h5").replace("allow = 'layout'\n", ""))
    assert done.status != 0
    assert "compact= changes how objects are stored" in done.text


def test_configuration_of_a_run(tune: Layer) -> None:
    """What else a configuration has is not the layer's."""
    text = "stack = 'tune'\n[settings]\n[layers.tune]\n[found]\nx = [1.5]\n"
    assert compact(tune, f"{text}[[rules]]\ncompact = 64\n") == ALL
    assert told(tune, text).status == 0
    assert told(tune, "").status == 0


@pytest.mark.parametrize(
    ("rules", "line", "word"),
    [
        ("[[rules]]\nfile = ", 2, "Error while parsing"),
        ("\n\n[[rules]\n", 3, "Error while parsing"),
        ("[[rules]]\nsieve = 1\nsieve = 2\n", 3, "sieve"),
        ("\n[[rules]]\nsive = '1MiB'\n", 2, "no option 'sive'; it has:"),
        ("[[rules]]\n[[rules]]\nsieve = 'much'\n", 2, "sieve"),
        ("[[rules]]\nsieve = -1\n", 1, "sieve"),
        ("[[rules]]\nsieve = 1.5\n", 1, "key sieve: expected text, a whole number"),
        ("[[rules]]\nsieve = [1]\n", 1, "key sieve: expected text, a whole number"),
        ("[[rules]]\nchunk_cache = 1979-05-27\n", 1, "key chunk_cache: expected"),
        ("[[rules]]\nfile = 5\n", 1, "key file: expected text"),
        ("[[rules]]\ndataset = ''\nsieve = 1\n", 1, "key dataset: expected text"),
        ("[[rules]]\nseat = 'both'\n", 1, "key seat: it is of the whole program"),
        ("[[rules]]\nrules = 'x'\n", 1, "key rules: it is of the whole program"),
        ("[[rules]]\ndataset = '/a'\nsieve = 1\n", 1, "key sieve: it is of a file"),
        ("\nrules = 5\n", 2, "key rules: expected tables"),
        ("rules = [\n{},\n5]\n", 3, "key rules: expected tables"),
        ("\n[[rule]]\nsieve = 1\n", 2, "key rule: rules stand in [[rules]]"),
        pytest.param("a = " + "[" * 100_000, 1, "maximum nested", id="nested arrays"),
        pytest.param("a" + ".a" * 100_000 + " = 1", 1, "more than 16 names", id="nested keys"),
        ("x = '" + ".a" * 17 + "'\n\n[" + "a." * 16 + "b]", 3, "more than 16 names"),
        ("[[rules]]\nfile = '\udcff'", 2, "invalid utf-8"),
        ('[[rules]]\nfile = """é""""  # é\nénd = 1', 3, "beyond ASCII"),
        ("\0\1\2", 1, "Error while parsing"),
    ],
)
def test_no_rules(tune: Layer, rules: str, line: int, word: str) -> None:
    """The program gets an error with the place."""
    path = tune.folder / "rules.toml"
    path.write_bytes(rules.encode(errors="surrogateescape"))
    refused(tune, path, f"rules={path}, line {line}: ", word)


def refused(tune: Layer, path: Path, *words: str) -> None:
    for mode in ("w", "r"):
        done = tune.start(f"h5py.File('x.h5', {mode!r})", f"rules={path};")
        assert done.status == 1, done.text
        for word in words:
            assert word in done.text, done.text


@pytest.mark.parametrize(
    ("make", "word"),
    {
        "missing": (Path.exists, "no file that can be read"),
        "folder": (Path.mkdir, "no file that can be read"),
        "pipe": (os.mkfifo, "no file that can be read"),
        "endless": (lambda path: path.symlink_to("/dev/zero"), "no file that can be read"),
        "itself": (lambda path: path.symlink_to(path), "no file that can be read"),
        "huge": (lambda path: path.write_bytes(b"# \n" * 400_000), "more than a mebibyte"),
    }.values(),
)
def test_no_file(tune: Layer, make: Callable[[Path], object], word: str) -> None:
    path = tune.folder / "rules.toml"
    make(path)
    refused(tune, path, f"rules={path}: ", word)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_forbidden_file(tune: Layer) -> None:
    path = tune.folder / "rules.toml"
    path.touch(0)
    refused(tune, path, f"rules={path}: ", "no file that can be read")


def test_many_rules(tune: Layer) -> None:
    """As long as they fit into the file."""
    rule = "[[rules]]\ndataset = '/fields/{}'\ncompact = 64\n"
    rules = "".join(rule.format(n) for n in (*range(10_000), "t"))
    assert compact(tune, rules) == {"/fields/t"}
