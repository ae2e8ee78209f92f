"""What a stack changes in an environment."""

import os
from collections.abc import Mapping
from typing import Protocol

import pytest

from headrace import plan
from headrace.catalogue import Catalogue
from headrace.config import Config
from headrace.errors import PluginError, SettingError
from headrace.plan import Plan

_NULL = "headrace_null under_vol=0;under_info={}"


class Build(Protocol):
    def __call__(
        self, spec: str | None, environ: Mapping[str, str] = ..., config: Config = ...
    ) -> Plan: ...


@pytest.fixture
def build(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> Build:
    """plan.build() that looks at no plug-in files."""
    monkeypatch.setattr(plan, "check_files", lambda *_: None)
    monkeypatch.setattr(plan, "search_path", lambda _: "/lib/plugins")
    nothing = Config()

    def call(
        spec: str | None, environ: Mapping[str, str] | None = None, config: Config = nothing
    ) -> Plan:
        return plan.build(spec, config, environ or {}, catalogue)

    return call


def test_a_connector_leaves_the_driver_alone(build: Build) -> None:
    environ = {"PATH": "/bin", "HDF5_DRIVER": "core"}
    made = build("null", environ)
    assert made.apply(environ) == {
        **environ,
        "HDF5_PLUGIN_PATH": "/lib/plugins",
        "HDF5_VOL_CONNECTOR": _NULL,
    }
    assert made.warnings == ()


def test_a_driver_leaves_the_connector_alone(build: Build) -> None:
    environ = {"HDF5_VOL_CONNECTOR": "daos"}
    assert build("model", environ).apply(environ) == {
        **environ,
        "HDF5_PLUGIN_PATH": "/lib/plugins",
        "HDF5_DRIVER": "headrace_model",
        "HDF5_DRIVER_CONFIG": "under=sec2;under_config={}",
    }


def test_what_is_replaced_is_said(build: Build) -> None:
    environ = {"HDF5_VOL_CONNECTOR": "daos", "HDF5_DRIVER": "core"}
    (one,) = build("null", environ).warnings
    assert "HDF5_VOL_CONNECTOR=daos" in one
    (other,) = build("model", environ).warnings
    assert "HDF5_DRIVER=core" in other


def test_an_earlier_stack_of_ours_is_cleared_away_silently(build: Build) -> None:
    earlier = build("model").apply({})
    later = build("null", earlier)
    assert later.warnings == ()
    assert later.apply(earlier) == build("null").apply({})
    assert build("model", later.apply({})).apply(later.apply({})) == earlier


def test_the_stack_comes_from_the_option_then_the_file_then_the_default(build: Build) -> None:
    config = Config("trace", {"HEADRACE_LOG_LEVEL": "info"}, {"trace": {"depth": "3"}})
    assert build("null", {}, config).stack.connectors[0].name == "headrace_null"
    from_file = build(None, {"HEADRACE_LOG_LEVEL": "error"}, config)
    assert from_file.assign["HDF5_VOL_CONNECTOR"].startswith("headrace_trace depth=3;")
    assert from_file.assign["HEADRACE_LOG_LEVEL"] == "info"
    assert build(None).stack.connectors[0].name == "headrace_async"


def test_the_environment_is_checked(build: Build) -> None:
    with pytest.raises(SettingError, match="HEADRACE_SEET"):
        build("null", {"HEADRACE_SEET": "1"})
    with pytest.raises(PluginError, match="HDF5_PLUGIN_PRELOAD"):
        build("null", {"HDF5_PLUGIN_PRELOAD": "::"})


def test_a_locale_that_python_set_itself_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_CTYPE", "C.UTF-8")
    for initial in ({"PATH": "/bin"}, {"LC_CTYPE": ""}, {"LC_CTYPE": "C.UTF-8"}):
        monkeypatch.setattr(plan, "initial_environment", lambda initial=initial: initial)
        passed_on = plan.inherited_environment()
        assert passed_on.get("LC_CTYPE") == initial.get("LC_CTYPE")
        assert passed_on["PATH"] == os.environ["PATH"]
