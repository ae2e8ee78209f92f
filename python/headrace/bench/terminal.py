"""The tables and the progress bar on a terminal."""

from collections.abc import Iterable, Sequence
from types import TracebackType

from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from headrace import units
from headrace.bench.summary import Row, Side, in_seconds, sides

# Below it the raw limit is left out, and below the other one spreads have lines of their own.
_FULL_WIDTH = 130
_WIDE = 104
_FASTER, _SLOWER = "green", "red"


class ProgressBar:
    """A bar over all processes of a run with the time left; on a terminal only."""

    def __init__(self, console: Console) -> None:
        """Shows nothing yet."""
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            # Cases differ in length: the pace of the last seconds is no guide.
            speed_estimate_period=1800,
        )
        self._task = TaskID(0)
        self._done = 0

    def __enter__(self) -> "ProgressBar":
        """For a with-statement."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Takes the bar away."""
        self._bar.stop()

    @property
    def live(self) -> bool:
        """See measure.Watcher."""
        return self._console.is_terminal

    def begin(self, total: int) -> None:
        """See measure.Watcher."""
        self._task = self._bar.add_task("", total=total)

    def job(self, text: str) -> None:
        """See measure.Watcher."""
        self._bar.update(self._task, description=text)

    def progress(self, done: float) -> None:
        """See measure.Watcher."""
        # A process is over when it has ended, not before.
        self._bar.update(self._task, completed=self._done + min(max(done, 0.0), 0.99))

    def finished(self, error: str) -> None:
        """See measure.Watcher."""
        self._done += 1
        self._bar.update(self._task, completed=self._done)
        if error:
            text = f"failed: {self._bar.tasks[self._task].description}: {error}"
            self._console.print(Text(text, _SLOWER), soft_wrap=True)

    def note(self, text: str) -> None:
        """See measure.Watcher."""
        self._console.print(Text(text, "yellow"), soft_wrap=True)


def show(console: Console, rows: Sequence[Row]) -> None:
    """A table per kernel: write and read of each case and stack, beside native and raw."""
    raw = console.width >= _FULL_WIDTH
    before_spread = " " if console.width >= _WIDE else "\n"
    for kernel in dict.fromkeys(row.kernel for row in rows):
        of_kernel = [row for row in rows if row.kernel == kernel]
        console.print(_table(kernel, of_kernel, before_spread, raw=raw))
    for row in rows:
        if row.missing:
            console.print(Text(f"{row.kernel} {row.case}: {row.missing}", "yellow"), soft_wrap=True)


def _table(kernel: str, rows: Sequence[Row], before_spread: str, *, raw: bool) -> Table:
    ranks = {row.ranks for row in rows}
    many = len(ranks) > 1
    where = "" if many or ranks == {1} else f", {ranks.pop()} ranks"
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=f"{kernel}{where}",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("case", min_width=12, overflow="fold")
    if many:
        table.add_column("ranks", justify="right")
    table.add_column("stack", min_width=8, overflow="fold")
    for side in sides:
        for heading in (side, "raw", "to native") if raw else (side, "to native"):
            table.add_column(heading, justify="right", no_wrap=True)
    previous = ""
    for row in rows:
        cells = [Text("" if row.case == previous else row.case)]
        cells += [Text(str(row.ranks))] if many else []
        cells.append(Text(row.stack))
        table.add_row(*cells, *_cells(row, before_spread, raw=raw))
        previous = row.case
    return table


def _cells(row: Row, before_spread: str, *, raw: bool) -> Iterable[Text]:
    if not row.sides:
        failed = Text("failed", _SLOWER)
        return [failed if row.errors else Text("left out", "yellow")]
    cells: list[Text] = []
    for name in sides:
        side = row.sides.get(name)
        if side is None:
            cells += [Text(units.DASH), *([Text("")] if raw else []), Text("")]
            continue
        cells += [
            _figure(row, side, before_spread),
            *([_raw(row, side)] if raw else []),
            _ratio(side, before_spread),
        ]
    if row.errors:
        cells[0].append(f"{before_spread}some failed", _SLOWER)
    return cells


def _figure(row: Row, side: Side, before_spread: str) -> Text:
    """The median, and half the distance of the quartiles."""
    spread = side.seconds
    timed = in_seconds(row.kernel) or not side.bytes
    text = Text(units.seconds(spread.median) if timed else units.rate(side.rate))
    if spread.count > 1 and spread.median:
        text.append(
            f"{before_spread}±{(spread.upper - spread.lower) / 2 / spread.median:.0%}", "dim"
        )
    return text


def _raw(row: Row, side: Side) -> Text:
    if side.raw is None:
        return Text("")
    if in_seconds(row.kernel):
        return Text(units.seconds(side.raw))
    return Text(units.rate(side.bytes / side.raw))


def _ratio(side: Side, before_spread: str) -> Text:
    ratio = side.ratio
    if ratio is None:
        return Text("")
    if side.short:
        return Text("too short", "dim")
    style = {"faster": _FASTER, "slower": _SLOWER}.get(ratio.verdict, "")
    text = Text(units.times(ratio.median), style)
    if ratio.low is not None and ratio.high is not None:
        text.append(f"{before_spread}({ratio.low:.2f}{units.DASH}{ratio.high:.2f})", "dim")
    return text
