"""Groups, links, attributes, copies, and more than one handle on a dataset."""

from __future__ import annotations

from random_programs.choices import Choices
from random_programs.creating import NUMBERS, OTHERS, values
from random_programs.model import Dataset, Handle, Model
from random_programs.opening import some_file
from random_programs.registry import operation
from random_programs.transfers import some_handle


def dataset_in(model: Model, choices: Choices, which: str) -> Dataset | None:
    found = [d for d in model.datasets if d.file == which]
    return choices.of(found) if found else None


@operation(4)
def open_dataset(model: Model, choices: Choices) -> None:
    """Perhaps a second handle on one that is open, perhaps through another handle of the file."""
    file = some_file(model, choices)
    if dataset := dataset_in(model, choices, file.which):
        handle = Handle(model.name("d"), dataset)
        model.handles.append(handle)
        model.say(f"{handle.name} = {file.name}[{dataset.path!r}]")


@operation(2)
def close_dataset(model: Model, choices: Choices) -> None:
    if model.handles:
        handle = choices.of(model.handles)
        model.handles.remove(handle)
        model.say(choices.of([f"del {handle.name}", f"{handle.name}.id.close()"]))


@operation(2)
def move(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    if dataset := dataset_in(model, choices, file.which):
        old, dataset.path = dataset.path, model.name("x")
        model.say(f"{file.name}.move({old!r}, {dataset.path!r})")


@operation(3)
def delete(model: Model, choices: Choices) -> None:
    """Handles on the dataset stay, and are still written through."""
    file = some_file(model, choices)
    if dataset := dataset_in(model, choices, file.which):
        model.datasets.remove(dataset)
        model.say(f"del {file.name}[{dataset.path!r}]")


@operation(5)
def copy(model: Model, choices: Choices) -> None:
    """Within the file or to the other one."""
    file = some_file(model, choices)
    to = some_file(model, choices)
    dataset = dataset_in(model, choices, file.which)
    # HDF5 that refuses to copy into a file that is open for reading cannot close it afterwards.
    # And it copies no references that are filtered.
    fails = dataset and dataset.kind == "ref" and dataset.chunks
    if dataset and not fails and not dataset.grows and to.mode != "r":
        other = Dataset(**{**vars(dataset), "file": to.which, "path": model.name("x")})
        model.datasets.append(other)
        source = choices.of([repr(dataset.path), f"{file.name}[{dataset.path!r}]"])
        more = choices.often("", [", expand_refs=True", ", without_attrs=True", ", shallow=True"])
        if dataset.chunks is None:
            # HDF5 copies what is in the file, without what an open dataset's sieve buffer holds;
            # how much that is depends on how it was written. A flush is of datasets that were
            # opened through the same handle of the file.
            for one in model.files:
                if one.which == file.which:
                    model.say(f"{one.name}.flush()")
        if to is file:
            model.say(f"{file.name}.copy({source}, {other.path!r}{more})")
        else:
            model.say(f"{file.name}.copy({source}, {to.name}, {other.path!r}{more})")
        handle = Handle(model.name("d"), other)
        model.handles.append(handle)
        model.say(f"{handle.name} = {to.name}[{other.path!r}]")


@operation(3)
def link(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    dataset = dataset_in(model, choices, file.which)
    if dataset is None:
        return
    name = model.name("l")
    other = "b" if file.which == "a" else "a"
    value = choices.of(
        [
            f"h5py.SoftLink({'/' + dataset.path!r})",
            f"{file.name}[{dataset.path!r}]",
            f"h5py.ExternalLink({other + '.h5'!r}, {'/' + dataset.path!r})",
            "h5py.SoftLink('/nowhere')",
        ]
    )
    model.say(f"{file.name}[{name!r}] = {value}")
    model.say(f"show({file.name}[{name!r}][...])")
    model.say(f"show(type({file.name}.get({name!r}, getlink=True)).__name__)")


@operation(3)
def group(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    name = file.name
    new = model.name("g")
    copied = f"{name}.copy('g', {new!r})"
    if file.mode == "r" or any(dataset.grows for dataset in model.datasets):
        copied = f"show('g' in {name})"
    model.say(
        choices.of(
            [
                f"{name}.require_group('g/h')",
                f"{name}.create_group({new!r}, track_order=True)",
                f"{name}.create_group('g')",
                f"show(sorted({name}))",
                f"n = []; {name}.visititems(lambda k, v: n.append((k, type(v).__name__))); show(n)",
                f"show([k for k in {name}.get('g', {{}})])",
                f"del {name}['g']",
                copied,
                f"{name}.move('g', {new!r})",
                f"show('g/h' in {name})",
                f"{name}[{new!r}] = TYPES['pair']",
            ]
        )
    )


@operation(5)
def attribute(model: Model, choices: Choices) -> None:
    owner = some_handle(model, choices).name
    if choices.below(3) == 0:
        owner = some_file(model, choices).name
    name = f"n{choices.below(3)}"
    kind = choices.of([*NUMBERS, *[k for k in OTHERS if k not in ("ref", "region", "V5")]])
    shape = choices.of([(), (3,), (2, 2), (0,), (400,)])
    value = values(model.next_step(), shape, kind)
    model.say(
        choices.of(
            [
                f"{owner}.attrs[{name!r}] = {value}",
                f"show({owner}.attrs[{name!r}])",
                f"{owner}.attrs.create({name!r}, {value}, dtype=TYPES[{kind!r}])",
                f"{owner}.attrs.modify({name!r}, {value})",
                f"del {owner}.attrs[{name!r}]",
                f"show(sorted({owner}.attrs)); show(len({owner}.attrs))",
                f"{owner}.attrs['r'] = {owner}.ref",
                f"{owner}.attrs['e'] = h5py.Empty('f4')",
                f"[{owner}.attrs.create('m%d' % i, i) for i in range(10)]",
                f"{owner}.attrs.create('large', data(1, (20000,), 'i4'))",
            ]
        )
    )
