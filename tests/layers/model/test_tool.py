"""headrace-model: tables, JSON, and what it says of files that are no good."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from layers.model.test_count import RECORD, write_chunks, write_rows

if TYPE_CHECKING:
    from pathlib import Path

    from layers.model.conftest import Model

CLOSED = 16  # where a ledger says how many records it has


@pytest.fixture
def ledger(model: Model) -> Path:
    model.python(write_chunks, RECORD)
    (path,) = model.ledgers
    return path


def test_presets(model: Model) -> None:
    table = model.tool("presets")
    assert table.status == 0
    presets = json.loads(model.tool("presets", "--json").out)
    names = {"none", "local-nvme", "lustre-4", "lustre-48", "lustre-160", "nfs", "object-gateway"}
    assert {each["preset"] for each in presets} == names
    for each in presets:
        assert each["preset"] in table.text
        assert each["source"] in table.text


def test_replay(model: Model, ledger: Path) -> None:
    document = model.replay(ledger, "--ranks", "1,10,1000", "--preset", "lustre-48")
    assert document["parameters"]["servers"] == 48
    results = document["results"]
    assert [each["ranks"] for each in results] == [1, 10, 1000]
    for each in results:
        assert 0 < each["efficiency"] <= 1
        assert each["seconds"] >= each["busiest_server"] > 0
    assert results[2]["bytes"] > 100 * results[0]["bytes"]
    again = model.replay(ledger, "--ranks", "1000", "--preset", "lustre-48")
    assert again["results"][0] == results[2], "the same input, the same result"


def test_placement_matters(model: Model) -> None:
    """Neighbours in a stripe take each other's locks all the time, regions meet at their ends."""
    model.python(write_rows, RECORD)
    revoked = {
        placement: model.replay(*model.ledgers, "--ranks", "50", "--placement", placement)[
            "results"
        ][0]["revocations"]
        for placement in ("append", "interleave")
    }
    assert revoked["interleave"] > 3 * revoked["append"] > 0


def test_a_disk_is_measured_and_the_model_validated(model: Model, ledger: Path) -> None:
    measured = json.loads(model.tool("measure", model.folder, "--json").out)
    assert measured["cache"] == "cached"
    for kind in ("write", "read"):
        assert 0 <= measured[kind]["latency"] < 1
        assert measured[kind]["bandwidth"] > 1e6
    done = model.tool("validate", ledger, "--dir", model.folder, "--json")
    assert done.status == 0, done.text
    (found,) = json.loads(done.out)["ledgers"]
    assert found["measured"] > 0
    assert found["error"] == pytest.approx(found["predicted"] / found["measured"] - 1)
    # The machine may be busy; that the error is small is stated by hand, see the guide.
    assert 0.1 < found["predicted"] / found["measured"] < 10
    assert {path.name for path in model.folder.glob("headrace-model-*")} == set()


def test_a_killed_program_leaves_what_it_had_written(model: Model, ledger: Path) -> None:
    whole = ledger.read_bytes()
    open_one = model.folder / "open.ledger"
    open_one.write_bytes(whole[:CLOSED] + b"\xff" * 8 + whole[CLOSED + 8 : -10])
    done = model.tool("replay", open_one)
    assert done.status == 0
    assert f"warning: ledger {open_one}: the process was killed" in done.text


def test_damaged_ledgers_are_named(model: Model, ledger: Path) -> None:
    whole = ledger.read_bytes()
    damaged = model.folder / "damaged.ledger"
    for content, cause in (
        (b"", "this is no ledger"),
        (whole[:20], "it ends within its header"),
        (whole[:-1], "it is cut off"),
        (whole + b"more", "something was appended"),
        (whole[:8] + b"\7" + whole[9:], "it has format version 7"),
    ):
        damaged.write_bytes(content)
        done = model.tool("replay", damaged)
        assert done.status == 1
        assert done.text.startswith(f"headrace-model: ledger {damaged}: ")
        assert cause in done.text


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["replay", "none.ledger"], "ledger none.ledger: No such file or directory"),
        (["replay", "LEDGER", "--preset", "x"], "there is no preset 'x'; there are none"),
        (["replay", "LEDGER", "--latency", "5"], ""),
        (["replay", "LEDGER", "--latency", "soon"], "--latency: 'soon' is not a duration"),
        (["replay", "LEDGER", "--servers", "0"], "servers: 0 is not between 1 and 4096"),
        (["replay", "LEDGER", "--json", "/dev/full"], "/dev/full: No space left on device"),
        (["measure", "none"], "none: No such file or directory"),
    ],
)
def test_mistakes_are_named(model: Model, ledger: Path, arguments: list[str], cause: str) -> None:
    words = [str(ledger) if word == "LEDGER" else word for word in arguments]
    done = model.tool(*words)
    assert done.status == (1 if cause else 0), done.text
    assert cause in done.text
    assert "terminate" not in done.text


def test_usage_errors_have_a_status_of_their_own(model: Model) -> None:
    assert model.tool().status == 2
    assert model.tool("replay").status == 2
    assert model.tool("replay", "x", "--placement", "nowhere").status == 2
    none = model.tool("replay", "x", "--ranks", "0")
    assert none.status == 2
    assert "--ranks: Value 0 not in range" in none.text


def test_many_clients_are_played_soon(model: Model) -> None:
    """10 000 clients of 1000 requests each: the limit of the test is the limit of the claim."""
    model.python(partial(write_rows, 1000, 1000), RECORD)
    (path,) = model.ledgers
    (result,) = model.replay(path, "--ranks", "10000")["results"]
    assert result["ranks"] == 10000
    assert result["bytes"] > 10000 * 8000000
