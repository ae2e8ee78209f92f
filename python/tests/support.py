"""What tests share that is no fixture: a made-up catalogue, a C compiler, the command line."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Headrace = Callable[..., subprocess.CompletedProcess[Any]]

VOL_TYPE, VFD_TYPE = 1, 2
PROGRAMS = Path(__file__).with_name("programs")
PROBE_SOURCES = Path(__file__).parents[2] / "src/probe"


def _setting(layer: str, option: str, kind: str, default: str, **more: Any) -> dict[str, Any]:
    names = [layer, option] if layer else [option]
    return {
        "layer": layer,
        "option": option,
        "env": "_".join(["HEADRACE", *names]).upper(),
        "python": "_".join(names),
        "type": kind,
        "default": default,
        "meaning": f"What {option} means.",
        **more,
    }


SEATS = ["vol", "vfd", "both"]
DESCRIPTION: dict[str, Any] = {
    "version": "0.0.1",
    "layers": [
        {
            "name": "null",
            "summary": "Changes nothing.",
            "vol": {"name": "headrace_null", "value": 7200, "file": "libheadrace_null.so"},
            "vfd": {"name": "headrace_null", "value": 7200, "file": "libheadrace_null_vfd.so"},
            "vfd_mpi": {
                "name": "headrace_null_mpi",
                "value": 7201,
                "file": "libheadrace_null_vfd_mpi.so",
            },
            "repeats": True,
        },
        {
            "name": "async",
            "summary": "Writes behind.",
            "vol": {"name": "headrace_async", "value": 7206, "file": "libheadrace_async.so"},
            "vfd": {"name": "headrace_async", "value": 7206, "file": "libheadrace_async_vfd.so"},
        },
        {
            "name": "trace",
            "summary": "Records calls | all of them.",
            "vol": {"name": "headrace_trace", "value": 7210, "file": "libheadrace_trace.so"},
        },
        {
            "name": "model",
            "summary": "Delays.",
            "vfd": {"name": "headrace_model", "value": 7220, "file": "libheadrace_model_vfd.so"},
        },
    ],
    "settings": [
        _setting("", "layers", "choice", "on", choices=["on", "off"]) | {"env": "HEADRACE"},
        _setting("", "stack", "string", ""),
        _setting("", "log_level", "choice", "warning", choices=["error", "warning", "info"]),
        _setting("", "log_file", "path", ""),
        _setting("", "report", "path", ""),
        _setting("", "summary", "path", ""),
        _setting("", "quiet", "boolean", "false"),
        _setting("null", "seat", "choice", "both", choices=SEATS),
        _setting("async", "seat", "choice", "both", choices=SEATS),
        _setting("trace", "file", "path", "trace.json"),
        _setting("trace", "budget", "size", "64MiB", unit="bytes"),
        _setting("trace", "depth", "integer", "8"),
        _setting("trace", "values", "boolean", "false"),
        _setting("trace", "label", "string", ""),
        _setting("model", "delay", "duration", "1ms", unit="ns"),
    ],
}


class Compiler:
    """Makes shared objects and programs from C."""

    def __init__(self) -> None:
        found = shutil.which("cc")
        assert found, "the tests need a C compiler"
        self._cc = found

    def __call__(self, output: Path, *words: str) -> Path:
        """Compiles files of PROGRAMS, by name, into `output`.

        A name that ends in .so makes it a shared object. Other words are for the compiler.
        """
        output.parent.mkdir(parents=True, exist_ok=True)
        shared = ["-shared", "-fPIC"] if output.suffix == ".so" else []
        told = [str(PROGRAMS / word) if word.endswith(".c") else word for word in words]
        subprocess.run([self._cc, *shared, "-o", str(output), *told], check=True)
        return output

    def hdf5(self, output: Path, version: str, *words: str) -> Path:
        """What passes for that version of HDF5, alone or linked into a program."""
        return self(output, *words, "fake_hdf5.c", f'-DVERSION="{version}"')

    def plugin(self, output: Path, kind: int, *words: str) -> Path:
        return self(output, "plugin.c", f"-DTYPE={kind}", *words)

    def probe(self, output: Path) -> Path:
        """The probe library as the build makes it."""
        sources = [str(file) for file in PROBE_SOURCES.glob("*.c")]
        flags = ["-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
        output.parent.mkdir(parents=True, exist_ok=True)
        command = [self._cc, "-std=c11", *flags, "-shared", "-fPIC", "-o", str(output), *sources]
        subprocess.run(command, check=True)
        return output


def described(description: Mapping[str, Any]) -> tuple[str, str]:
    """For the compiler: a module that has this to tell."""
    # The escapes of JSON strings are those of C.
    return "describes.c", f"-DDESCRIPTION={json.dumps(json.dumps(description))}"


def clean_environment() -> dict[str, str]:
    """This process's without anything that a stack is made of."""
    prefixes = ("HEADRACE", "HDF5_")
    return {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}


def run_from(site: Path | None, *arguments: str, **more: Any) -> subprocess.CompletedProcess[Any]:
    """Runs the command line, imported from `site` or as it is installed."""
    # A width in which no text that tests look for is wrapped.
    environ = clean_environment() | {"COLUMNS": "200"} | more.pop("env", {})
    if site is not None:
        environ["PYTHONPATH"] = str(site)
    # -P: what lies in the current directory must not be imported instead.
    call = "from headrace.cli import app; app(prog_name='headrace')"
    return subprocess.run(
        [sys.executable, "-P", "-c", call, *arguments],
        env=environ,
        check=False,
        **{"capture_output": True, "text": True, "timeout": 120, **more},
    )
