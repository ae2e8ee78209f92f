"""The configuration that a search has found, in TOML that `headrace run --config` takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from headrace.errors import ConfigError
from headrace.tune.space import IMPLIED, Setting, completed, layers_of, reason_of, unreadable_by
from headrace.units import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from headrace.measuring.stats import Ratio
    from headrace.tune.confirm import Confirmed


@dataclass(frozen=True)
class Spent:
    """Seconds of the program's run when it was recorded: in HDF5, and all."""

    inside: float
    whole: float


@dataclass(frozen=True)
class About:
    """What settings were found for, and what they were compared with.

    `spent`: None where gains are not of the time in HDF5, but a model's.
    """

    command: Sequence[str]
    file_system: str
    hdf5: str
    date: str
    signature: Mapping[str, float] = field(default_factory=dict)
    baseline: str = "native HDF5"
    spent: Spent | None = None


@dataclass(frozen=True)
class Line:
    """A setting with what it gains, and its reason."""

    setting: Setting
    gain: str
    reason: str


@dataclass(frozen=True)
class Written:
    """What a file says that was written here."""

    gain: str  # in a sentence
    about: About
    lines: Sequence[Line]
    tried: Mapping[str, str]


def gain_of(made: Ratio) -> str:
    """In words: the median of the pairs, and where it surely lies."""
    if not made.pairs:
        return "no time was left to compare it"
    told = f"{made.median:.2f} times as fast"
    if made.low is None or made.high is None:
        return told
    return f"{told} ({made.low:.2f} to {made.high:.2f}, {made.pairs} pairs)"


def against(about: About, made: Ratio) -> str:
    """In words, of all settings together: the time in HDF5, and what that is of the program's."""
    told = f"{gain_of(made)} as {about.baseline}"
    if about.spent is None or not made.pairs:
        return told
    inside, rest = about.spent.inside, about.spent.whole - about.spent.inside
    program = about.spent.whole / (rest + inside / made.median)
    return (f"in HDF5 {told}; the whole program about {program:.2f} times, as it was in HDF5 for "
            f"{seconds(inside)} of its {seconds(about.spent.whole)}")  # fmt: skip


def share_of(made: Ratio) -> str:
    """In words, of one setting of several."""
    return gain_of(made) + (" as without" if made.pairs else "")


def write(file: Path, found: Confirmed, about: About, tried: Mapping[str, str]) -> None:
    """Writes it as a whole, or not at all. `tried`: what did not help, and how. Raises OSError."""
    made = tomlkit.document()
    made.add(tomlkit.comment(f"`headrace tune explain {file.name}` tells what this is."))
    made["stack"] = ",".join(each.layer for each in layers_of(completed(found.candidate)))
    layers = made["layers"] = tomlkit.table(is_super_table=True)
    for each in sorted(each for each in found.candidate if each.option):
        layers.setdefault(each.layer, tomlkit.table())[each.option] = tomlkit.item(
            each.value
        ).comment(f"{share_of(found.shares[each])}: {_told_of(each)}")
    for each in sorted(completed(found.candidate) & IMPLIED):
        layers.setdefault(each.layer, tomlkit.table())[each.option] = each.value
    made["found"] = {
        "gain": against(about, found.gain),
        "baseline": about.baseline,
        "command": list(about.command),
        "file_system": about.file_system,
        "hdf5": about.hdf5,
        "date": about.date,
        "settings": {str(each): gain_of(share) for each, share in found.shares.items()},
        "tried": dict(tried),
        "signature": dict(about.signature),
    }
    _replace(file, made)


def _told_of(setting: Setting) -> str:
    who = unreadable_by(setting)
    noticed = f"; READERS MAY NOTICE, and who cannot read it any more: {who}" if who else ""
    return reason_of(setting) + noticed


def read(file: Path) -> Written:
    """What such a file says. Raises ConfigError where it is no such file."""
    content = _content(file)
    found = _table(content["found"])
    gains = _texts(found.get("settings"))
    about = About(
        [str(each) for each in _list(found.get("command"))],
        str(found.get("file_system", "")),
        str(found.get("hdf5", "")),
        str(found.get("date", "")),
        baseline=str(found.get("baseline", About.baseline)),
    )
    # A layer that gains by its options alone has no share of its own.
    lines = [
        Line(
            each,
            gains.get(str(each), ""),
            _told_of(each) if each.option or str(each) in gains else "",
        )
        for each in _settings(content)
        if each not in IMPLIED
    ]
    return Written(str(found.get("gain", "")), about, lines, _texts(found.get("tried")))


def remove(file: Path, setting: Setting) -> None:
    """Takes a setting out of such a file; with a layer its options. Raises ConfigError, OSError."""
    content = _content(file)
    layers = _table(content.get("layers"))
    if setting.option:
        _table(layers.get(setting.layer)).pop(setting.option, None)
    else:
        layers.pop(setting.layer, None)
        names = [name.strip() for name in str(content["stack"]).split(",")]
        content["stack"] = ",".join(name for name in names if name != setting.layer)
    _replace(file, content)


def _content(file: Path) -> tomlkit.TOMLDocument:
    try:
        content = tomlkit.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from None
    except (TOMLKitError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None
    if not isinstance(content.get("found"), dict) or not isinstance(content.get("stack"), str):
        raise ConfigError(f"{file}: `headrace tune` has not written it: it has no section found")
    return content


def _settings(content: Mapping[str, Any]) -> list[Setting]:
    """Of a configuration: its layers, and what it says of them."""
    found = [Setting(layer.strip()) for layer in content["stack"].split(",") if layer.strip()]
    for layer, options in _table(content.get("layers")).items():
        found += [Setting(layer, name, str(value)) for name, value in _table(options).items()]
    return found


def _replace(file: Path, content: tomlkit.TOMLDocument) -> None:
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(tomlkit.dumps(content), encoding="utf-8")
    partial.replace(file)


def _table(value: object) -> Any:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(each) for key, each in _table(value).items()}
