"""What Headrace raises. Every message is meant to be shown to a user as it is."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class HeadraceError(Exception):
    """Base of all errors that a user can cause and cure."""


class SettingError(HeadraceError):
    """A setting or option that does not exist, or a value that it does not take."""


class ConfigError(HeadraceError):
    """A configuration file that cannot be read or says something unknown."""


class PluginError(HeadraceError):
    """A plug-in that is missing, cannot be loaded or is not what it should be."""


class FileError(HeadraceError):
    """A file that cannot be looked at."""


class AlreadyInitialisedError(HeadraceError):
    """HDF5 has read its environment already, so a stack would come too late."""


class SpecError(HeadraceError):
    """A stack specification that cannot be understood.

    Attributes:
        spec: The whole specification.
        reason: What is wrong, without the picture.
        start: Index of the first offending character.
        length: How many characters offend; at least 1.
    """

    def __init__(self, spec: str, reason: str, start: int = 0, length: int = 1) -> None:
        """Keeps the place and composes the message with a caret below it."""
        self.spec = spec
        self.reason = reason
        self.start = start
        self.length = max(1, length)
        # One character for one character, or the caret would point beside the mistake.
        shown = "".join(c if c.isprintable() else "?" for c in spec)
        marker = " " * start + "^" * self.length
        super().__init__(f"stack: {reason}\n    {shown}\n    {marker}")


def unknown(
    kind: str, given: str, existing: "Iterable[str]", listed_by: str = "", prefix: str = ""
) -> str:
    """Says that `given` is no known `kind`, what it may have been meant to be, and what exists.

    Where that is too much for a line, `listed_by` names the command that lists it. By a `prefix`
    that all have, any would be like any other.
    """
    from difflib import get_close_matches  # noqa: PLC0415, takes longer than a plain start may

    names = sorted(existing)
    ends = [name.removeprefix(prefix) for name in names]
    end = given.removeprefix(prefix)
    close = get_close_matches(end, ends, n=1, cutoff=0.85)
    close = close or get_close_matches(end, ends, n=3 if listed_by else 1, cutoff=0.6)
    guess = f"; did you mean {' or '.join(prefix + each for each in close)}?" if close else "."
    if listed_by:
        return f"unknown {kind} {given!r}{guess} `{listed_by}` lists them."
    listing = f" Existing: {', '.join(names)}." if names else " There are none."
    return f"unknown {kind} {given!r}{guess}{listing}"
