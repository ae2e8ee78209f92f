"""Puts what a program has left in a log (canonicalise=later) in order in its file."""

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace import launcher
from headrace.errors import FileError
from headrace.log_files import contents, copy_log, waiting_logs
from headrace.plan import inherited_environment, prepare
from headrace.plugins import library_dir
from headrace.statistics import events

_SCRIPT: Final = Path(__file__).with_name("replay_child.py")
_REPORT: Final = "HEADRACE_REPORT"
_TOGETHER: Final = "headrace-replay"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What has been done to a file.

    Attributes:
        logs: Those that are in the file now, and gone.
        dropped: Bytes at their ends that no flush of the program had covered.
        foreign: Logs in the file's folder that do not belong to it.
        unverified: Datasets that were not compared, and the filters that are why.
        missing: How many datasets are in the logs, but not in the file.
    """

    logs: tuple[Path, ...]
    dropped: int
    foreign: tuple[Path, ...]
    unverified: tuple[tuple[str, str], ...]
    missing: int


def replay_to(output: Path, file: Path, **options: Any) -> Replayed:
    """The same in a copy of the file; what there is of that goes when it fails.

    Args:
        output: The copy, which must not be there.
        file: The HDF5 file. It and its log remain as they are.
        options: Of `replay`.

    Raises:
        FileError: As there, or the copy cannot be made.
    """
    logs = output.resolve().with_name(output.name + ".headrace")
    for one in (output, logs):
        if os.path.lexists(one):
            raise FileError(f"{one}: is there already")
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    with contextlib.ExitStack() as cleanup:
        try:
            output.touch(exist_ok=False)  # what is there from here on is ours
            kept = cleanup.enter_context(contextlib.ExitStack())
            kept.callback(output.unlink, missing_ok=True)
            shutil.copyfile(file, output)
            if waiting := waiting_logs(file):
                logs.mkdir()
                cleanup.callback(shutil.rmtree, logs, ignore_errors=True)
            for log in waiting:
                copy_log(log, logs / log.name)
            done = replay(output, **options)
            shutil.copymode(file, output)
        except OSError as error:
            raise FileError(f"{output}: cannot be made: {error.strerror}") from None
        kept.pop_all()
        return done


def replay(  # noqa: PLR0913, each is an option
    file: Path,
    *,
    sync: bool = False,
    after_crash: bool = False,
    skip_missing: bool = False,
    hdf5: Path | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Writes the log of a file to its datasets, compares them with it, and removes it.

    Args:
        file: The HDF5 file.
        sync: Whether the file must survive a power cut before the log is removed.
        after_crash: Whether the program may have crashed: what its flushes cover is taken then.
        skip_missing: Whether to drop what the log holds of datasets that are not in the file.
        hdf5: A parallel libhdf5, by which all ranks that an MPI launcher has started do it
            together; each of them calls this.
        watch: Called now and then with how many datasets have been dealt with.

    Raises:
        FileError: The file or its log cannot be used, or is not what the other belongs to. Both
            are as they were then.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    if hdf5 is None and (ranks := launcher.ranks(os.environ)) > 1:
        raise FileError(
            f"{file}: {ranks} processes were started to put its log in order: start one, or name "
            "a parallel libhdf5 (--hdf5), by which they do it together"
        )
    waiting = waiting_logs(file)
    options = {"verify": True, "sync": sync, "recover": after_crash, "skip_missing": skip_missing}
    chosen = ",".join(f"{name}={str(on).lower()}" for name, on in options.items())
    path = file.resolve()
    told = _open_under(f"log({chosen})", path, hdf5, watch)
    dropped = [one["values"].get("uncovered_bytes", 0) for one in told["statistics"]]
    missing = [one["values"].get("missing_datasets", 0) for one in told["statistics"]]
    done = tuple(log for log in waiting if not log.exists())
    foreign = tuple(log for log in waiting if log.exists())
    # A program that crashes before its first flush leaves a log of which the file does not know.
    lost = [log for log in foreign if not (after_crash and _covers_nothing(log))]
    if lost and not done:
        raise FileError(f"{file}: log {lost[0]} does not belong to it")
    unverified = tuple((one["dataset"], one["filter"]) for one in told["unverified"])
    return Replayed(done, max(dropped, default=0), foreign, unverified, max(missing, default=0))


def _covers_nothing(log: Path) -> bool:
    # What a rank has read of its own writes is in its index before it is flushed.
    of_rank = "." in log.stem

    def nothing(told: dict[str, Any]) -> bool:
        unflushed = of_rank and not told["closed"] and not told["epoch"]
        return (not told["datasets"] or unflushed) and not told["damage"]

    return all(nothing(told) for told in contents(log))


def _opener(file: Path, hdf5: Path | None) -> list[str]:
    """The command that opens a file as a writer does."""
    if hdf5 is not None:
        program = library_dir().parent / "bin" / _TOGETHER
        return [str(program), "--together", str(hdf5), str(file)]
    if importlib.util.find_spec("h5py") is None:
        raise FileError("replaying needs h5py, which is not installed")
    return [sys.executable, "-P", str(_SCRIPT), str(file)]


def _open_under(
    stack: str, file: Path, hdf5: Path | None, watch: Callable[[int], None]
) -> defaultdict[str, list[dict[str, Any]]]:
    """What a writer finds in a log it puts in order; returns the layer's events of the file."""
    environ = prepare(stack, None, inherited_environment()).apply(os.environ)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        report = Path(environ.get(_REPORT) or f"{folder}/report").absolute()
        start = report.stat().st_size if report.exists() else 0

        def told() -> defaultdict[str, list[dict[str, Any]]]:
            found = defaultdict(list)
            for event in events(report, start):
                if event.get("file") == str(file):
                    found[event["event"]].append(event)
            return found

        with Path(folder, "errors").open("w+") as errors:
            child = subprocess.Popen(
                _opener(file, hdf5),
                env=environ | {_REPORT: str(report)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors if hdf5 is None else None,  # told by one rank, before others end
                close_fds=False,  # MPI's launcher may have given us some
                start_new_session=hdf5 is None,  # away from the terminal's interrupts
            )
            _wait(child, lambda: watch(len(told()["replayed"])))
            errors.seek(0)
            if child.returncode != 0:
                if hdf5 is not None:
                    sys.exit(1)
                last = errors.read().strip().splitlines()[-1:] or [f"status {child.returncode}"]
                raise FileError(f"{file}: {last[0]}")
        return told()


def _wait(child: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
    """Until it ends. What HDF5 has written half is no file, so interrupts wait for it, too."""
    interrupted = False
    while True:
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.2)
                break
            look()
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
