"""The page: whole, readable without network, and with everything that was measured."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from headrace.bench import report, summary
from headrace.bench.report import ReportError

_CASES = [
    f"{rank}d-{slow}-{layout}-{mode}"
    for rank in (2, 3, 4)
    for slow in ("step", "array")
    for layout in ("contiguous", "chunked")
    for mode in ("independent", "collective")
]
_STACKS = ["native", "null", "trace+async(threads=4)"]
_SHORT = '<td class="number ">too short</td>'
_VOID = {"meta", "br", "link", "img", "hr", "input"}


class _Checker(HTMLParser):
    """Keeps what is open; knows ids, and addresses that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.fetched: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("src", "href", "srcset", "data") and not (value or "").startswith("#"):
                self.fetched.append(f"{tag} {value}")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _samples(ranks: tuple[int, ...] = (1,)) -> list[dict[str, Any]]:
    samples = [
        {
            "kernel": "iotest",
            "case": case,
            "stack": stack,
            "ranks": count,
            "repeat": repeat,
            "write_wall": 1.0 + repeat / 10 + position,
            "read_wall": 0.5,
            "bytes": {"written": 2**28, "read": 2**28, "file": 2**28},
            "phases": {name: {"min": 0.1, "max": 0.2} for name in ("create", "write", "read")},
            "baseline": {"write": 0.5, "read": 0.1, "bytes": 2**28},
        }
        for case in _CASES
        for position, stack in enumerate(_STACKS)
        for count in ranks
        for repeat in range(2)
    ]
    failed = samples[-1]["case"]
    for sample in samples:
        if (sample["case"], sample["stack"]) == (failed, "null"):
            sample["error"] = "it <broke> & failed"
    lacking = {"kernel": "peers", "case": "zarr-gzip", "stack": "native", "missing": "pip install"}
    return [*samples, lacking]


def _ledger(case: str) -> dict[str, Any]:
    counts = {"calls": 7654321, "requests": 2, "bytes": 3 * 2**28, "seeks": 1}
    side = counts | {"metadata_requests": 1}
    return {"kernel": "iotest", "case": case, "stack": "native",
            "ledger": {"reads": side, "writes": side}}  # fmt: skip


@pytest.fixture(scope="module")
def page() -> str:
    rows = summary.rows(_samples(), [_ledger(_CASES[0])])
    machine = {"processor": "A <fast> one", "cores": 2, "free_bytes": 2**40, "hdf5": "2.0.0"}
    about = {
        "options": {"repeats": 2, "warmup": 1},
        "machine": machine,
        "command": "headrace bench",
    }
    return report.render(about, rows)


def test_the_page_is_well_formed_and_fetches_nothing(page: str) -> None:
    checker = _Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.fetched == []
    assert "script" not in checker.tags
    assert not re.search(r"https?://|@import|url\((?!#)", page)
    assert len(checker.ids) == len(set(checker.ids))
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page))
    assert referred <= set(checker.ids)


def test_the_page_holds_every_case_and_stack(page: str) -> None:
    for name in (*_CASES, *_STACKS):
        assert name in page
    assert page.count("<svg") == 2
    assert "raw: the same bytes" in page


def test_what_failed_or_is_missing_is_said_in_words(page: str) -> None:
    assert "it &lt;broke&gt; &amp; failed" in page
    assert page.count(">failed<") >= 2
    assert "zarr-gzip: pip install" in page
    assert "A &lt;fast&gt; one" in page


def test_ledgers_and_spreads_are_shown(page: str) -> None:
    assert "7\u202f654\u202f321" in page
    assert "\N{MULTIPLICATION SIGN}3.00" in page
    assert "1.00 s \N{EN DASH} 1.10 s" in page
    assert "with fewer, do not rely on small differences" in page


def test_several_numbers_of_ranks_make_curves() -> None:
    rows = summary.rows(s for s in _samples((1, 2, 4)) if s["case"] in _CASES[:2])
    text = report.render({}, rows)
    assert "Scaling" in text
    assert "4 ranks" in text


def test_names_are_no_formulas() -> None:
    stack = "trace(file=$x_{$)"
    sample = _samples()[0] | {"stack": stack, "case": r"a$\no$b", "kernel": "k$^$"}
    assert stack in report.render({}, summary.rows([sample]))


def _compared(walls: dict[str, float], **more: Any) -> list[dict[str, Any]]:
    """Native HDF5 at one second beside `null`, which takes so long to write the cases."""
    return [
        {"kernel": "ior", "case": case, "stack": stack, "repeat": 0, **more,
         "write_wall": wall if stack == "null" else 1.0}
        for case, wall in walls.items()
        for stack in ("native", "null")
    ]  # fmt: skip


def test_first_it_says_what_was_found() -> None:
    rows = summary.rows(_compared({"a": 0.5, "b": 0.25, "c": 1.02, "d": 2.0}))
    about = {"options": {"repeats": 1}, "machine": {"cores": 2, "load_before": [1.5, 1, 1]}}
    page = report.render(about, rows)
    text = page.partition("<h2>")[0]
    assert (
        "Under null, against native HDF5, writing was faster in 2, slower in 1 and no different "
        "in 1 of 4 cases (most \N{MULTIPLICATION SIGN}4.00 in b; least "
        "\N{MULTIPLICATION SIGN}0.50 in d).</p>"
    ) in text
    assert "4 cases were measured natively and under null, once each." in text
    assert "busy with other work when the run began (load 1.5 on 2 cores)" in text
    assert "2 cores; load over 1, 5 and 15 minutes 1.5, 1, 1 before the run" in text


def test_numbers_of_ranks_are_told_apart() -> None:
    samples = [*_compared({"a": 0.5}, ranks=1), *_compared({"a": 0.1}, ranks=2)]
    text = report.render({}, summary.rows(samples))
    assert "faster in both cases (most \N{MULTIPLICATION SIGN}10.0 in a on 2 ranks)" in text
    assert "<th>ior, 2 ranks</th>" in text
    assert "\N{MULTIPLICATION SIGN}10.0 in a</td>" in text


def test_what_is_too_short_is_not_judged() -> None:
    samples = _compared({"a": 0.5}, rounds=1)
    for sample in samples:
        sample |= {"case": "b", "write_wall": sample["write_wall"] / 100, "rounds": 3}
    text = report.render({}, summary.rows([*_compared({"a": 0.5}), *samples]))
    assert "faster in the one case" in text
    assert "1 case took less than 20 ms" in text
    assert _SHORT in text
    for sample in samples:  # together the rounds take long enough
        sample["rounds"] = 10
    text = report.render({}, summary.rows([*_compared({"a": 0.5}), *samples]))
    assert "faster in both cases" in text
    assert _SHORT not in text


def test_each_case_has_a_scale_of_its_own() -> None:
    samples = _compared({"large": 0.5}) + [
        sample | {"case": "small", "write_wall": sample["write_wall"] / 1000}
        for sample in _compared({"large": 0.5})
    ]
    text = report.render({}, summary.rows(samples))
    bars = re.findall(r'd="M ([\d.]+) \S+\s+L ([\d.]+) [^"]*" [^>]*style="fill: #8a94a3"', text)
    widths = {round(float(right) - float(left)) for left, right in bars[:2]}
    assert len(bars) > 1
    assert len(widths) == 1
    assert widths.pop() > 100


def test_cases_of_e3sm_are_explained() -> None:
    sample = _samples()[0] | {"kernel": "e3sm", "parameters": {"data": "made up"}}
    text = report.render({}, summary.rows([sample]))
    assert "one H5S_SELECT_OR for each request" in text
    assert "The maps were made up" in text


def test_results_without_any_sample_make_a_page() -> None:
    assert "no results" in report.render({"complete": False}, [])


def test_what_a_report_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ReportError, match=r"headrace\[bench\]"):
        report.render({}, [])
