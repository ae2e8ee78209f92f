"""Puts what a program has left in a log (canonicalise=later) in order in its file."""

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headrace import launcher
from headrace.errors import FileError
from headrace.logs.files import covers_nothing, waiting_logs, was_never_flushed
from headrace.logs.staged import gather
from headrace.plan import inherited_environment, prepare
from headrace.plugins import library_dir
from headrace.statistics import events, length

_SCRIPT: Final = Path(__file__).with_name("replay_child.py")
_REPORT: Final = "HEADRACE_REPORT"
_PROGRAM: Final = "headrace-replay"


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


def replay(  # noqa: PLR0913, each is an option
    file: Path,
    *,
    output: Path | None = None,
    in_place: bool = False,
    sync: bool = False,
    after_crash: bool = False,
    skip_missing: bool = False,
    hdf5: Path | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Writes the log of a file to its datasets, compares them with it, and removes it.

    All is done in a copy, which takes the place of the file in the end: until then file and log
    are as they were, whatever happens.

    Args:
        file: The HDF5 file.
        output: Where the copy is to stay instead. Nothing must be there. File and log remain.
        in_place: Whether to do without a copy. Who is killed then may leave a file that nobody
            can open; interrupts wait until it is whole.
        sync: Whether the file must survive a power cut before the log is removed.
        after_crash: Whether the program may have crashed: what its flushes cover is taken then.
        skip_missing: Whether to drop what the log holds of datasets that are not in the file.
        hdf5: A parallel libhdf5, by which all ranks that an MPI launcher has started do it
            together; each of them calls this.
        watch: Called now and then with how many datasets have been dealt with.

    Raises:
        FileError: The file or its log cannot be used, or is not what the other belongs to.
    """
    if not file.is_file():
        raise FileError(f"{file}: there is no such file")
    if hdf5 is None and (ranks := launcher.ranks(os.environ)) > 1:
        raise FileError(
            f"{file}: {ranks} processes were started to put its log in order: start one, or name "
            "a parallel libhdf5 (--hdf5), by which they do it together"
        )
    if hdf5 is None and output is None:
        gather(file)
    waiting = waiting_logs(file)
    options = {"verify": True, "sync": sync, "recover": after_crash, "skip_missing": skip_missing}
    chosen = ",".join(f"{name}={str(on).lower()}" for name, on in options.items())
    with _places(file, output, waiting, in_place=in_place, alone=hdf5 is None) as places:
        try:
            told, done = _open_under(f"log({chosen})", places, hdf5, watch)
        except FileError as error:
            if not waiting or not was_never_flushed(str(error), waiting):
                raise
            raise FileError(
                f"{file}: nothing was flushed before the crash of the program that wrote it, so "
                "nothing can be recovered"
            ) from None
    dropped = [one["values"].get("uncovered_bytes", 0) for one in told["statistics"]]
    missing = [one["values"].get("missing_datasets", 0) for one in told["statistics"]]
    if output is None:
        done = tuple(log for log in waiting if not os.path.lexists(log))
    foreign = tuple(log for log in waiting if log not in done)
    # A program that crashes before its first flush leaves a log of which the file does not know.
    lost = [log for log in foreign if not (after_crash and covers_nothing(log))]
    if lost and not done and launcher.rank(os.environ) <= 0:
        raise FileError(
            f"{file}: log {lost[0]} does not belong to it: the file was made anew or moved, or the "
            "log is in it and a process was killed before it could remove the log"
        )
    unverified = tuple((one["dataset"], one["filter"]) for one in told["unverified"])
    return Replayed(done, max(dropped, default=0), foreign, unverified, max(missing, default=0))


@dataclass(frozen=True, slots=True)
class _Places:
    """Of a file, of the copy that is worked on, and where that one is put."""

    file: Path
    copy: Path
    target: Path

    @property
    def in_place(self) -> bool:
        return self.copy == self.file


@contextlib.contextmanager
def _places(
    file: Path, output: Path | None, waiting: list[Path], *, in_place: bool, alone: bool
) -> Iterator[_Places]:
    """Nothing is left of a copy that fails; ranks must leave that to one another."""
    path = file.resolve()
    if output is None and (in_place or not waiting):
        yield _Places(path, path, path)
        return
    target = path if output is None else output.parent.resolve() / output.name
    folder = target.with_name(target.name + ".headrace")
    # Ranks must have the same name for it.
    own = f".{secrets.token_hex(4)}" if alone else ""
    copy = folder / f"{waiting[0].name if waiting else 'copy'}{own}.h5"
    with contextlib.ExitStack() as cleanup:
        if output is not None:
            for one in (target, folder):
                if os.path.lexists(one):
                    raise FileError(f"{one}: is there already")
        if alone:
            if output is not None:
                cleanup.callback(_try, folder.rmdir)  # a program may have put its log there
            cleanup.callback(shutil.rmtree, f"{copy}.headrace", ignore_errors=True)
            cleanup.callback(_try, copy.unlink)
        yield _Places(path, copy, target)


def _try(remove: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):
        remove()


def _command(places: _Places, hdf5: Path | None) -> list[str]:
    """What opens a file as a writer does."""
    program = str(library_dir().parent / "bin" / _PROGRAM)
    one, *two = map(str, (places.file, places.copy, places.target))
    if hdf5 is not None:
        return [program, "--together", str(hdf5), one, *([] if places.in_place else two)]
    if importlib.util.find_spec("h5py") is None:
        raise FileError("replaying needs h5py, which is not installed")
    opener = [sys.executable, "-P", str(_SCRIPT)]
    if places.in_place:
        return [*opener, one, "r", "r+"]
    return [program, "--apart", one, *two, *opener]


def _open_under(
    stack: str, places: _Places, hdf5: Path | None, watch: Callable[[int], None]
) -> tuple[defaultdict[str, list[dict[str, Any]]], tuple[Path, ...]]:
    """What a writer finds in a log it puts in order.

    Returns the layer's events of the file, and the logs that are in a copy.
    """
    environ = prepare(stack, None, inherited_environment()).apply(os.environ)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        report = Path(environ.get(_REPORT) or f"{folder}/report").absolute()
        start = length(report)

        def told() -> defaultdict[str, list[dict[str, Any]]]:
            found = defaultdict(list)
            for event in events(report, start):
                if event.get("file") == str(places.copy):
                    found[event["event"]].append(event)
            return found

        with Path(folder, "errors").open("w+") as errors, Path(folder, "done").open("w+b") as done:
            child = subprocess.Popen(
                _command(places, hdf5),
                env=environ | {_REPORT: str(report)},
                stdin=subprocess.DEVNULL,
                stdout=done,
                stderr=errors if hdf5 is None else None,  # told by one rank, before others end
                close_fds=False,  # MPI's launcher may have given us some
                start_new_session=hdf5 is None,  # away from the terminal's interrupts
            )
            _wait(child, lambda: watch(len(told()["replayed"])), kill=not places.in_place)
            errors.seek(0)
            if child.returncode != 0:
                if hdf5 is not None:
                    sys.exit(1)
                last = errors.read().strip().splitlines()[-1:] or [f"status {child.returncode}"]
                cause = last[0].replace(str(places.copy), str(places.file))
                raise FileError(f"{places.file}: {cause}")
            done.seek(0)
            logs = tuple(Path(os.fsdecode(name)) for name in done.read().split(b"\0")[:-1])
        return told(), logs


def _wait(child: subprocess.Popen[bytes], look: Callable[[], None], *, kill: bool) -> None:
    """Until it ends. An interrupt waits for that, too, or kills it and all that it has started."""
    interrupted = False
    while True:
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.2)
                break
            look()
        except KeyboardInterrupt:
            interrupted = True
            if kill:
                with contextlib.suppress(ProcessLookupError):
                    own = os.getpgid(child.pid) == child.pid
                    os.killpg(child.pid, signal.SIGKILL) if own else child.kill()
    if interrupted:
        raise KeyboardInterrupt
