"""What is passed on to headrace-bench, and what of it cannot be."""

from collections.abc import Sequence
from typing import Final

from headrace.bench.options import peers_kernel
from headrace.errors import HeadraceError

_SHAPE: Final = ("--steps", "--arrays", "--rows", "--columns")
_IOTEST: Final = "iotest"
_E3SM: Final = "e3sm"
_E3SM_DATA: Final = "--data"
# Its own table would get the warm-up and counting runs too; a restart would leave out cases.
csv_off: Final = ("--csv-file", "", "--restart", "0")
# What --quick asks for where headrace-bench's own --quick, made for tests, is over in a
# millisecond: some ten milliseconds for most cases.
_QUICK: Final[dict[str, dict[str, str]]] = {
    "iotest": {"--steps": "4", "--arrays": "16", "--rows": "200", "--columns": "200"},
    "vpic": {"--particles": "512Ki", "--slow-particles": "64Ki"},
    "bdcats": {"--particles": "512Ki"},
    "hacc": {"--particles": "512Ki"},
    "amrex": {"--domain": "64", "--max-grid": "32", "--components": "4"},
    "cgns": {"--elements": "32Ki"},
    "sw4": {"--nx": "64", "--ny": "64", "--nz": "32", "--cycles": "8", "--images": "20"},
    "ior": {"--block": "8Mi", "--transfer": "1Mi"},
    "metadata": {"--groups": "10", "--datasets": "50"},
    "h5py": {"--rows": "16Ki", "--columns": "16", "--block": "1Ki", "--slow-rows": "1Ki"},
    "files": {"--openings": "100", "--files": "40"},
}
_OWN: Final = "headrace bench gives it itself"
_REFUSED: Final = {
    "--keep": "the data of a case are removed before the next one runs",
    "--reread": "there is nothing to read again: each case is written first",
    "--samples": _OWN,
    "--first-repeat": _OWN,
    "--progress": _OWN,
    "--at-least": _OWN,
    "--baseline": f"{_OWN}; --no-baseline leaves it out",
    "--mpi": f"{_OWN}: --np and --mpiexec decide",
    "--list": "`headrace-bench KERNEL --list` shows the cases",
}
_REFUSED_IOTEST: Final = {
    "--csv-file": "samples.csv in the results has every sample",
    "--restart": "--resume DIR goes on with a run",
}


class ArgumentError(HeadraceError):
    """An argument that makes no sense under `headrace bench`."""


def check(kernels: Sequence[str], arguments: Sequence[str]) -> None:
    """Refuses what would spoil the measurement; raises ArgumentError."""
    if tuple(kernels) == (peers_kernel,):
        _peers(arguments)
        return
    refused = dict(_REFUSED)
    if _IOTEST in kernels:
        refused |= _REFUSED_IOTEST | {"--csv": _REFUSED_IOTEST["--csv-file"]}
    if tuple(kernels)[:1] == ("h5py",):  # has such an option of its own
        del refused["--list"]
    for word in arguments:
        name = word.partition("=")[0]
        if name in refused:
            raise ArgumentError(f"{name} cannot be passed on to headrace-bench: {refused[name]}")


def for_kernel(
    kernel: str, kernels: Sequence[str], arguments: Sequence[str], *, quick: bool
) -> list[str]:
    """The words after a kernel's name. Of `kernels` only e3sm gets its --data."""
    words = list(arguments)
    if kernel != _E3SM and _E3SM in kernels:
        words = _without(_E3SM_DATA, words)
    given = {word.partition("=")[0] for word in arguments}
    sizes = _QUICK.get(kernel, {}) if quick else {}
    words += [word for pair in sizes.items() if pair[0] not in given for word in pair]
    return [*words, *(csv_off if kernel == _IOTEST else ())]


def _without(option: str, words: Sequence[str]) -> list[str]:
    """Without an option that has a value, as one word or two."""
    before = ("", *words)
    return [
        word
        for previous, word in zip(before, words, strict=False)
        if option not in (previous, word) and not word.startswith(f"{option}=")
    ]


def peers_shape(arguments: Sequence[str]) -> dict[str, str]:
    """The peers' dimensions among the arguments, which check() has passed."""
    words = [part for word in arguments for part in word.split("=", 1)]
    return dict(zip(words[::2], words[1::2], strict=True))


def _peers(arguments: Sequence[str]) -> None:
    words = [part for word in arguments for part in word.split("=", 1)]
    for at, word in enumerate(words):
        if at % 2 == 0 and word not in _SHAPE:
            raise ArgumentError(f"{word}: the peers understand only {', '.join(_SHAPE)}")
        if at % 2 and not (word.isdecimal() and int(word) > 0):
            raise ArgumentError(f"{words[at - 1]} {word}: expected a number above 0")
    if len(words) % 2:
        raise ArgumentError(f"{words[-1]}: expected a number above 0 after it")
