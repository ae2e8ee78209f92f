"""Calls of headrace.enable(), each in a process of its own.

enabling.py FUNCTION ARGUMENT...
"""

import ctypes
import multiprocessing
import os
import sys
from typing import Any

import headrace


def _stack() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k.startswith(("HDF5_", "HEADRACE_"))}


def _raises(kind: type[Exception], *arguments: str, **settings: Any) -> str:
    before = _stack()
    try:
        headrace.enable(*arguments, **settings)
    except kind as error:
        assert _stack() == before
        return str(error)
    raise AssertionError("nothing was raised")


def compare(spec: str, expected: str) -> None:
    headrace.enable(spec)
    assert repr(_stack()) == expected, _stack()


def settings() -> None:
    headrace.enable("trace(depth=1)", log_level="info", trace_budget=1024, trace_depth=3)
    assert os.environ["HEADRACE_LOG_LEVEL"] == "info"
    assert "HEADRACE_TRACE_BUDGET" not in os.environ
    assert os.environ["HDF5_VOL_CONNECTOR"] == (
        "headrace_trace budget=1024;depth=1;under_vol=0;under_info={}"
    )
    assert headrace.settings.log_level == "info"
    assert (headrace.settings.trace_budget, headrace.settings.trace_depth) == (1024, 1)
    headrace.enable("null,trace(label='a b;{}=%'),model(delay=3ms)", trace_budget="2KiB")
    assert headrace.settings.trace_label == "a b;{}=%"
    assert (headrace.settings.trace_budget, headrace.settings.trace_depth) == (2048, 8)
    assert headrace.settings.model_delay == 3_000_000
    os.environ["HEADRACE_TRACE_BUDGET"] = "1"  # which the stack beats
    assert headrace.settings.trace_budget == 2048


def mistakes() -> None:
    assert "did you mean null" in _raises(headrace.SpecError, "nul")
    wrong = headrace.SettingError
    assert "did you mean log_level" in _raises(wrong, "null", log_levl="info")
    assert "'loud' is not one of" in _raises(wrong, "null", log_level="loud")
    assert "layer trace is not in the stack" in _raises(wrong, "null", trace_depth=1)
    os.environ["HEADRACE_NONSENSE"] = "1"
    assert "HEADRACE_NONSENSE" in _raises(wrong, "null")


def initialised(hdf5: str, connector: str) -> None:
    library = ctypes.CDLL(hdf5)
    headrace.enable("trace")  # loaded is not initialised
    headrace.enable("null")  # and until then one can change one's mind
    assert os.environ["HDF5_VOL_CONNECTOR"] == connector
    library.H5Fopen()
    headrace.enable("null")  # the stack is in force
    os.environ["HDF5_PLUGIN_PATH"] += ":/added/by/a/package"
    headrace.enable("null")
    text = _raises(headrace.AlreadyInitialisedError, "trace")
    assert hdf5 in text
    assert "before `import h5py`" in text
    _raises(headrace.AlreadyInitialisedError, "null", log_level="info")


def driver_chain() -> None:
    headrace.enable("model")
    assert os.environ["HDF5_DRIVER"] == "headrace_model"
    headrace.enable("trace")
    assert "HDF5_DRIVER" not in os.environ
    assert "HDF5_DRIVER_CONFIG" not in os.environ


def in_force(hdf5: str) -> None:
    ctypes.CDLL(hdf5).H5Fopen()
    headrace.enable("null")
    _raises(headrace.AlreadyInitialisedError, "trace")


def inherit(hdf5: str, connector: str) -> None:
    def child() -> None:
        ctypes.CDLL(hdf5).H5Fopen()
        headrace.enable("null")
        assert os.environ["HDF5_VOL_CONNECTOR"] == connector

    headrace.enable("null")
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    sys.exit(process.exitcode)


def by_variable() -> None:
    os.environ["HEADRACE_STACK"] = "trace(depth=3)"
    headrace.enable()
    assert "headrace_trace depth=3" in os.environ["HDF5_VOL_CONNECTOR"]
    headrace.enable("null")
    assert "headrace_null" in os.environ["HDF5_VOL_CONNECTOR"]
    headrace.enable("native")
    assert "HDF5_VOL_CONNECTOR" not in os.environ


def off(hdf5: str) -> None:
    ctypes.CDLL(hdf5).H5Fopen()
    headrace.enable("native")  # as it is
    os.environ["HEADRACE"] = "off"
    before = _stack()
    headrace.enable("nonsense(", nonsense=1)
    assert _stack() == before


def notebook(hdf5: str) -> None:
    ctypes.CDLL(hdf5).H5Fopen()
    sys.modules["ipykernel"] = sys
    text = _raises(headrace.AlreadyInitialisedError, "trace")
    assert "restart the kernel" in text
    assert "first cell" in text


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
