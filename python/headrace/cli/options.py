"""The options of commands that are read without Typer; its declarations are made from these."""

from typing import Any, Final, NamedTuple

from headrace.cli import shells


class Option(NamedTuple):
    """One that takes a value, or a switch where it has no metavar."""

    names: tuple[str, ...]
    help: str
    metavar: str | None = None


STACK: Final = Option(
    ("--stack", "-s"),
    "Layers from the application downwards, each with its options if it needs any: "
    "`trace,async(threads=4),log`; `native` for none. Without it the one in the file of --config, "
    "else in HEADRACE_STACK, else `async`.",
    "SPEC",
)
CONFIG: Final = Option(
    ("--config", "-c"),
    'TOML file with `stack = "..."`, a table `[settings]` and tables `[layers.NAME]`.',
    "FILE",
)
STATS: Final = Option(("--stats",), "Print at the end, on standard error, what the layers did.")
QUIET: Final = Option(
    ("--quiet", "-q"),
    "Say nothing when files went past the layers, and become the program at once; "
    "HEADRACE_QUIET=true does the same.",
)
SHELL: Final = Option(("--shell",), "Whose language to write.", "|".join(shells.names))
OUTPUT: Final = Option(
    ("--output", "-o"), "Folder for the trace; PROGRAM.hrtrace without it.", "FOLDER"
)
UNSET: Final = Option(("--unset",), "Print what undoes that: afterwards programs run natively.")

# By command, the parameters of its function.
OF_COMMAND: Final[dict[str, dict[str, Option]]] = {
    "run": {"stack": STACK, "config": CONFIG, "stats": STATS, "quiet": QUIET},
    "trace": {"output": OUTPUT, "stack": STACK},
    "env": {"stack": STACK, "config": CONFIG, "shell": SHELL, "unset": UNSET},
}
# Those that take a program and its arguments.
RUNS_PROGRAM: Final = ("run", "trace")


def read(command: str, words: list[str]) -> dict[str, Any] | None:
    """The arguments of the command's function; None for a mistake, or where help is asked for."""
    import getopt  # noqa: PLC0415, few need it

    options = OF_COMMAND[command]
    by_name = {name: (key, each) for key, each in options.items() for name in each.names}
    takes = {name: each.metavar is not None for name, (_, each) in by_name.items()}
    short = "".join(name[1:] + ":" * takes[name] for name in takes if name[1] != "-")
    long = [name[2:] + "=" * takes[name] for name in takes if name[1] == "-"]
    try:
        given, rest = getopt.getopt(words, short, long)
    except getopt.GetoptError:
        return None
    found: dict[str, Any] = {
        by_name[name][0]: text if takes[name] else True for name, text in given
    }
    if bool(rest) != (command in RUNS_PROGRAM):
        return None
    return found | ({"command": rest} if rest else {})
