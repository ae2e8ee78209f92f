"""What a writer does, beyond the operations of random programs: large and scattered writes."""

from __future__ import annotations

from random_programs import objects
from random_programs.choices import Choices
from random_programs.creating import NUMBERS, chunked, place, say_created, values
from random_programs.model import Dataset, File, Handle, Model
from random_programs.opening import forget, joined, some_file

CREATION = (
    "libver='latest'",
    "libver=('earliest', 'v110')",
    "track_order=True",
    "userblock_size=512",
    "fs_strategy='page', fs_page_size=4096",
    "alignment_threshold=100, alignment_interval=512",
)
CACHE = ("rdcc_nbytes=0", "rdcc_nbytes=2048", "rdcc_w0=1")
LARGE = ((300, 700), (60, 50, 60), (150_000,), (4, 30_000), (3000, 20))


def open_file(model: Model, choices: Choices, which: str, mode: str) -> File:
    """Created, or opened again."""
    options = choices.often("", CREATION if mode in ("w", "x") else ["libver='latest'"])
    file = File(model.name("f"), which, options, mode)
    arguments = joined(options, choices.often("", CACHE))
    model.say(f"{file.name} = h5py.File('{which}.h5', {mode!r}{arguments})")
    return file


def opened(model: Model, file: File) -> None:
    """When that was no error."""
    forget(model, file.which)
    if file.mode in ("w", "x"):
        model.datasets = [d for d in model.datasets if d.file != file.which]
    model.files.append(file)
    model.opened[file.which] = file.options
    for dataset in [d for d in model.datasets if d.file == file.which][:4]:
        handle = Handle(model.name("d"), dataset)
        model.say(f"{handle.name} = {file.name}[{dataset.path!r}]")
        model.handles.append(handle)


def close_file(model: Model, choices: Choices, file: File) -> None:
    """With its datasets, which may have been closed before."""
    if choices.below(2):
        for handle in [h for h in model.handles if h.dataset.file == file.which]:
            model.say(f"del {handle.name}")
    model.say(f"{file.name}.close()")
    forget(model, file.which)


def create_large(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", choices.of(LARGE), choices.of(NUMBERS))
    layout = choices.below(3)
    options = ", " + chunked(choices, dataset, filtered=layout == 2) if layout else ""
    say_created(model, choices, file, place(model, choices, dataset), options)


def numbers_of(model: Model, choices: Choices, rank: int) -> Handle | None:
    found = [
        handle
        for handle in model.handles
        if handle.dataset.kind in NUMBERS and len(handle.dataset.shape) >= rank
    ]
    return choices.of(found[-3:]) if found else None


def write_columns(model: Model, choices: Choices) -> None:
    """One after another, as programs do that transpose."""
    handle = numbers_of(model, choices, 2)
    if handle is None:
        return
    rows, columns, *rest = handle.dataset.shape
    step, apart = model.next_step(), choices.below(3) + 1
    first, last = choices.below(columns), min(columns, 60)
    each = values(step, (rows, *rest), handle.dataset.kind)
    model.say(f"for k in range({first}, {last}, {apart}): {handle.name}[:, k] = {each} + k % 3")


def write_pieces(model: Model, choices: Choices) -> None:
    """Many small ones with gaps, in order or not."""
    handle = numbers_of(model, choices, 1)
    if handle is None:
        return
    length, *rest = handle.dataset.shape
    size, apart = choices.below(3) + 1, choices.of([7, 1000, 3, 50])
    first, back = choices.below(length), choices.below(2)
    places = f"list(range({first}, {length - size}, {apart}))[:80]{'[::-1]' if back else ''}"
    each = values(model.next_step(), (size, *rest), handle.dataset.kind)
    model.say(f"for k in {places}: {handle.name}[k:k + {size}] = {each}")


def write_with_gaps(model: Model, choices: Choices) -> None:
    """By one call."""
    handle = numbers_of(model, choices, 1)
    if handle is None:
        return
    *before, length = handle.dataset.shape
    first, apart = choices.below(length), choices.below(5) + 2
    count = len(range(first, length, apart))
    each = values(model.next_step(), (*before, count), handle.dataset.kind)
    model.say(f"{handle.name}[..., {first}::{apart}] = {each}")


def move_elsewhere(model: Model, choices: Choices) -> None:
    """To another group of its file."""
    file = some_file(model, choices)
    if dataset := objects.dataset_in(model, choices, file.which):
        group = choices.of(["g", "k", "g/h"])
        old, dataset.path = dataset.path, f"{group}/{model.name('x')}"
        model.say(f"{file.name}.require_group({group!r})")
        model.say(f"{file.name}.move({old!r}, {dataset.path!r})")


def group(model: Model, choices: Choices) -> None:
    """Which may copy a group: HDF5 copies what is in the file, and leaves out its sieve buffers."""
    for file in model.files:
        model.say(f"{file.name}.flush()")
    objects.group(model, choices)


def list_links(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    each = "(k, type(v).__name__, v.attrs.keys() and sorted(v.attrs))"
    model.say(f"n = []; {file.name}.visititems(lambda k, v: n.append({each})); show(n)")
    model.say(
        f"show(sorted((k, str({file.name}.get(k, getlink=True).__class__)) for k in {file.name}))"
    )
    if choices.below(3) == 0:
        model.say(f"show(all_of({file.name}))")
