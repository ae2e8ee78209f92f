"""The command line apart from what it starts."""

import shutil
from pathlib import Path

import pytest
from support import Headrace, run_from

import headrace


def test_help_teaches_by_examples_and_lists_what_is_installed(fake_headrace: Headrace) -> None:
    for command in ("run", "env"):
        text = fake_headrace(command, "--help").stdout
        assert f"headrace {command} --stack" in text
        assert "trace(budget)" in text
        assert "HEADRACE_TRACE_BUDGET" in text
        assert "pass_through" in text
    assert "headrace doctor --" in fake_headrace("doctor", "--help").stdout
    front = fake_headrace()
    assert "headrace run --" in front.stdout
    assert "Traceback" not in front.stderr


def test_the_version(fake_headrace: Headrace) -> None:
    done = fake_headrace("--version")
    assert (done.returncode, done.stdout) == (0, f"headrace {headrace.__version__}\n")


def test_help_works_without_plug_ins(own_site: Path) -> None:
    shutil.rmtree(own_site / "headrace/lib")
    done = run_from(own_site, "run", "--help")
    assert done.returncode == 0
    assert "the plug-ins are not installed" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["walk"],
        ["run"],
        ["run", "--stak", "null", "--", "true"],
        ["run", "--stack"],
        ["env", "--shell", "bsh"],
        ["env", "--stack", "nul"],
        ["env", "extra"],
        ["settings", "nul"],
        ["doctor", "--stack", "null("],
        ["doctor", "--config", "/no/such/file"],
    ],
)
def test_wrong_usage_ends_with_2_and_a_message(
    fake_headrace: Headrace, arguments: list[str]
) -> None:
    done = fake_headrace(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_the_caret_stays_below_its_mistake_on_a_narrow_terminal(fake_headrace: Headrace) -> None:
    stack = "trace," * 30 + "nul"
    done = fake_headrace("env", "--stack", stack, env={"COLUMNS": "40"})
    lines = done.stderr.splitlines()
    assert lines[-2].removeprefix("    ") == stack
    assert lines[-1] == " " * (4 + stack.index("nul")) + "^^^"


def test_words_stay_whole_on_a_narrow_terminal(fake_headrace: Headrace) -> None:
    wide, narrow = (
        fake_headrace("settings", env={"COLUMNS": columns}).stdout for columns in ("200", "40")
    )
    assert "HEADRACE_TRACE_BUDGET" in narrow
    assert max(map(len, narrow.splitlines())) <= 40
    assert narrow.split() == wide.split()


def test_the_table_of_settings(fake_headrace: Headrace) -> None:
    everything = fake_headrace("settings").stdout
    assert "HEADRACE_LOG_LEVEL" in everything
    assert "64MiB" in everything
    one = fake_headrace("settings", "model").stdout
    assert "HEADRACE_MODEL_DELAY" in one
    assert "HEADRACE_LOG_LEVEL" not in one


def test_pages_of_documentation(fake_headrace: Headrace, tmp_path: Path) -> None:
    folder = tmp_path / "new/settings"
    done = fake_headrace("settings", "--markdown", str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(file.name for file in folder.iterdir()) == [
        "README.md",
        "async.md",
        "model.md",
        "null.md",
        "trace.md",
    ]
    front = (folder / "README.md").read_text()
    level = "| `log_level` | `HEADRACE_LOG_LEVEL` | `log_level` | choice: error, warning, info |"
    assert level in front
    assert "| [trace](trace.md) | vol | Records calls \\| all of them. |" in front
    assert "| pass_through | vol |" in front
    trace = (folder / "trace.md").read_text()
    budget = "| `budget` | `HEADRACE_TRACE_BUDGET` | `trace_budget` | size, bytes | `64MiB` |"
    assert budget in trace
    assert "| `label` | `HEADRACE_TRACE_LABEL` | `trace_label` | string | unset |" in trace
