"""HSDS, started for one run on a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.common.evidence import RunError
from bench.common.session import ROOT

VENV = ROOT / "build/hsds"
_USER, _BUCKET = "bench", "bench"
_BEGINS, _RUNS = 60, 600  # seconds
_CLIENT = Path(__file__).parent / "kernels/hsds.py"


def missing(venv: Path) -> str:
    """Why it cannot be measured; empty where it can."""
    if (venv / "bin/hsds").exists():
        return ""
    return "HSDS is not installed: see bench/object/README.md"


@contextmanager
def server(venv: Path, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of its clients; ends the server. `folder` is not there yet."""
    (folder / "data" / _BUCKET).mkdir(parents=True)
    sockets = folder / "sockets"
    sockets.mkdir()
    environ = {
        **os.environ, "HS_USERNAME": _USER, "HS_PASSWORD": _USER, "BUCKET_NAME": _BUCKET,
        "HS_ENDPOINT": f"http+unix://{str(sockets / 'sn_1.sock').replace('/', '%2F')}",
        "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    command = [str(venv / "bin/hsds"), "--root_dir", str(folder / "data"), "--bucket_name", _BUCKET,
               "--hs_username", _USER, "--hs_password", _USER, "--socket_dir", str(sockets),
               "--count", "2", "--loglevel", "ERROR"]  # fmt: skip
    with (folder / "log").open("wb") as log:
        started = subprocess.Popen(
            command, env=environ, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait(venv, environ, started, folder)
        yield environ
    finally:
        os.killpg(started.pid, signal.SIGKILL)  # its nodes, too, which outlive it else
        started.wait()


def _wait(venv: Path, environ: dict[str, str], started: subprocess.Popen[bytes],
          folder: Path) -> None:  # fmt: skip
    """Until it has a home for the user."""
    until = time.monotonic() + _BEGINS
    told = ""
    while time.monotonic() < until and started.poll() is None:
        asked = [str(venv / "bin/hstouch"), "-u", _USER, "-p", _USER, "/home/", f"/home/{_USER}/"]
        done = subprocess.run(asked, env=environ, check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return
        told = (done.stderr or done.stdout).strip()[-300:]
        time.sleep(0.5)
    raise RunError(f"HSDS did not start: {told or (folder / 'log').read_text()[-300:]}")


def timed(venv: Path, environ: dict[str, str], side: str, count: int) -> float:
    """Seconds of one process; RunError."""
    words = [str(venv / "bin/python"), str(_CLIENT), side, f"/home/{_USER}/tree.h5", str(count)]
    done = subprocess.run(
        words, env=environ, check=False, capture_output=True, text=True, timeout=_RUNS
    )
    if done.returncode != 0:
        raise RunError(f"HSDS: {done.stderr.strip()[-300:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])
