"""Finding plug-ins, reading their descriptions, checking that they can be loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support import VFD_TYPE, VOL_TYPE, Compiler, described

import headrace
from headrace import plugins
from headrace.errors import PluginError

_OTHER = {
    "version": "9",
    "layers": [
        {"name": "log_calls", "summary": "s", "vol": {"name": "l", "value": 1, "file": "x.so"}},
        {"name": "null", "summary": "An impostor.", "vol": {"name": "n", "value": 2, "file": "y"}},
    ],
    "settings": [],
}


@pytest.fixture
def library(own_site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of made-up plug-ins, in force for this process."""
    directory = own_site / "headrace/lib"
    monkeypatch.setattr(plugins, "library_dir", lambda: directory)
    return directory


def test_without_plug_ins_the_message_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(headrace, "__path__", [str(tmp_path / "a/b/headrace")])
    with pytest.raises(PluginError, match=r"libheadrace_core\.so is not in .*pip install"):
        plugins.plugin_path()


def test_a_checkout_uses_its_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    core = tmp_path / "build/dev/lib/libheadrace_core.so"
    core.parent.mkdir(parents=True)
    core.touch()
    monkeypatch.setattr(headrace, "__path__", [str(tmp_path / "python/headrace")])
    assert plugins.plugin_path() == core.parent.resolve() / "plugins"


def test_the_core_describes_the_layers(library: Path) -> None:
    catalogue = plugins.load_catalogue({})
    assert catalogue.version == "0.0.1"
    assert sorted(catalogue.layers) == ["async", "model", "null", "pass_through", "trace"]
    vol = catalogue.layers["null"].vol
    assert vol is not None
    assert vol.file == library / "plugins/libheadrace_null.so"
    assert catalogue.problems == ()


def test_further_plug_ins_join_and_cannot_replace_ours(
    library: Path, tmp_path: Path, compiler: Compiler
) -> None:
    file = compiler.plugin(tmp_path / "more/libheadrace_other.so", VOL_TYPE, *described(_OTHER))
    catalogue = plugins.load_catalogue({"HDF5_PLUGIN_PATH": f":{tmp_path}/none:{file.parent}"})
    other = catalogue.layers["log_calls"].vol
    assert other is not None
    assert other.file == file.parent / "x.so"
    assert catalogue.layers["null"].summary == "Changes nothing."


def test_a_plug_in_beside_ours_is_found_without_any_variable(
    library: Path, compiler: Compiler
) -> None:
    compiler.plugin(library / "plugins/libheadrace_other.so", VOL_TYPE, *described(_OTHER))
    assert "log_calls" in plugins.load_catalogue({}).layers


def test_further_plug_ins_that_are_broken_are_left_out_and_named(
    library: Path, tmp_path: Path, compiler: Compiler
) -> None:
    compiler.plugin(tmp_path / "libheadrace_1.so", VOL_TYPE)
    compiler(tmp_path / "libheadrace_2.so", *described({"layers": 3}))
    (tmp_path / "libheadrace_3.so").write_text("no library")
    compiler(tmp_path / "libheadrace_4.so", "crashes.c")
    compiler(tmp_path / "libheadrace_5.so", *described(_OTHER))
    catalogue = plugins.load_catalogue({"HDF5_PLUGIN_PATH": str(tmp_path)})
    assert "log_calls" in catalogue.layers
    texts = ["no headrace_describe", "malformed", "so: file too short", "SIGSEGV"]
    assert len(catalogue.problems) == len(texts)
    for problem, text, number in zip(catalogue.problems, texts, range(1, 5), strict=True):
        assert text in problem
        assert f"libheadrace_{number}.so" in problem


def _remove(file: Path, _: Compiler) -> None:
    file.unlink()


def _truncate(file: Path, _: Compiler) -> None:
    file.write_bytes(file.read_bytes()[:100])


def _lack_symbols(file: Path, compiler: Compiler) -> None:
    compiler(file, "lacks_symbols.c")


def _need_a_symbol(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, VOL_TYPE, "needs_a_symbol.c")


def _be_a_driver(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, VFD_TYPE)


def _be_a_filter(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, 0)


def _abort(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, VOL_TYPE, "aborts.c")


def _exit(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, VOL_TYPE, "exits.c")


def _lose_the_module(file: Path, compiler: Compiler) -> None:
    compiler.plugin(file, VOL_TYPE, "describes_nothing.c")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_remove, "is missing"),
        (_truncate, "cannot be loaded: .*(file too short|cannot read)"),
        (_lack_symbols, "cannot be loaded: it is no HDF5 plug-in: it lacks H5PLget_plugin_info"),
        (_need_a_symbol, "cannot be loaded: .*undefined symbol: absent"),
        (_be_a_driver, "is a virtual file driver, not a VOL connector"),
        (_be_a_filter, "is a plug-in of type 0, not a VOL connector"),
        (_abort, r"cannot be loaded: .*crashed .*\(SIGABRT\)"),
        (_exit, "cannot be loaded: .*status 7"),
        (_lose_the_module, "cannot be loaded: it cannot load the module"),
    ],
)
def test_files_of_a_stack_are_checked(
    library: Path,
    compiler: Compiler,
    spoil: Callable[[Path, Compiler], None],
    message: str,
) -> None:
    file, other = (library / "plugins" / f"libheadrace_{name}.so" for name in ("trace", "null"))
    plugins.check_files([(other, VOL_TYPE), (file, VOL_TYPE)], {"A": "fresh"})
    spoil(file, compiler)
    with pytest.raises(PluginError, match=f"libheadrace_trace.so {message}"):
        plugins.check_files([(other, VOL_TYPE), (file, VOL_TYPE)], {"A": spoil.__name__})


def test_an_unreadable_core_is_an_error(library: Path) -> None:
    (library / "libheadrace_core.so").write_text("nothing")
    with pytest.raises(PluginError, match=r"libheadrace_core\.so: .*(ELF|too short)"):
        plugins.load_catalogue({"B": "1"})


def test_the_search_path_keeps_what_would_be_searched_anyway(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = str(library / "plugins")
    builtin = tmp_path / "builtin"
    builtin.mkdir()
    monkeypatch.setattr(plugins, "_HDF5_DEFAULTS", (str(builtin), "/no/such/directory"))
    assert plugins.search_path({}) == f"{own}:{builtin}"
    assert plugins.search_path({"HDF5_PLUGIN_PATH": "/a::/b"}) == f"{own}:/a:/b"
    assert plugins.search_path({"HDF5_PLUGIN_PATH": f"/a:{own}:/b"}) == f"{own}:/a:/b"
    assert plugins.search_path({"HDF5_PLUGIN_PATH": ""}) == own


def test_a_directory_that_cannot_be_searched_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plugins, "library_dir", lambda: tmp_path / "a:b")
    with pytest.raises(PluginError, match="':' in its name"):
        plugins.search_path({})
