"""Reads and writes of datasets, by every kind of selection."""

from __future__ import annotations

from random_programs import selections
from random_programs.choices import Choices
from random_programs.creating import NUMBERS, create_compressed, create_contiguous, values
from random_programs.model import Handle, Model
from random_programs.registry import operation

MEMORY = ("f8", "i8", "i4", "f4", "u1", "i2be", "f8be")


def some_handle(model: Model, choices: Choices) -> Handle:
    """Often the last one: programs write what they have just created."""
    if not model.handles:
        create = (create_compressed, create_contiguous)[choices.below(2)]
        create(model, choices)
    return model.handles[-1] if choices.below(2) == 0 else choices.of(model.handles)


def memory_of(choices: Choices, handle: Handle) -> str:
    """The type in memory: mostly that of the dataset."""
    kind = handle.dataset.kind
    return choices.of(MEMORY) if kind in NUMBERS and choices.rarely(5) else kind


@operation(16)
def write(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    kind = memory_of(choices, handle)
    text, shape = selections.selection(choices, handle.dataset.shape)
    step = model.next_step()
    if kind == "ref":
        value = f"{handle.name}.ref"
    elif kind == "region":
        value = f"{handle.name}.regionref[{text}]"
    elif choices.rarely(12):
        value = values(step, (), kind)
    else:
        value = values(step, selections.broadcast(choices, shape), kind)
    model.say(f"{handle.name}[{text}] = {value}")


@operation(6)
def write_all(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    kind = memory_of(choices, handle)
    if kind in ("ref", "region"):
        return
    model.say(f"{handle.name}[...] = {values(model.next_step(), handle.dataset.shape, kind)}")


@operation(14)
def read(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    text, _ = selections.selection(choices, handle.dataset.shape)
    if handle.dataset.kind in NUMBERS and choices.rarely(5):
        model.say(f"show({handle.name}.astype(TYPES[{choices.of(MEMORY)!r}])[{text}])")
    else:
        model.say(f"show({handle.name}[{text}])")


@operation(4)
def read_all(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    model.say(f"show({handle.name}[...])")


@operation(5)
def write_and_read(model: Model, choices: Choices) -> None:
    """Several small writes, each of them read back with what is around it."""
    handle = some_handle(model, choices)
    if handle.dataset.kind in ("ref", "region"):
        return
    for _ in range(choices.below(4) + 1):
        text, shape = selections.selection(choices, handle.dataset.shape)
        kind = handle.dataset.kind
        model.say(f"{handle.name}[{text}] = {values(model.next_step(), shape, kind)}")
        model.say(f"show({handle.name}[...])")


@operation(6)
def write_low_level(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    kind = memory_of(choices, handle)
    if kind in ("ref", "region"):
        return
    space = selections.space(choices, handle.name, handle.dataset.shape)
    step, gap = model.next_step(), choices.below(3)
    model.say(f"write_selected({handle.name}, {space}, {step}, {kind!r}, {gap})")


@operation(5)
def read_low_level(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    kind = memory_of(choices, handle)
    space = selections.space(choices, handle.name, handle.dataset.shape)
    model.say(f"show(read_selected({handle.name}, {space}, {kind!r}, {choices.below(3)}))")


@operation(2)
def whole_by_all(model: Model, choices: Choices) -> None:
    """H5S_ALL on both sides, H5S_NONE, and a transfer list."""
    handle = some_handle(model, choices)
    kind = memory_of(choices, handle)
    if kind not in NUMBERS:
        return
    dataset = handle.dataset
    everything = "h5py.h5s.ALL, h5py.h5s.ALL"
    if choices.rarely(4):
        model.say(f"s = {handle.name}.id.get_space(); s.select_none()")
        everything = "s, s"
    more = choices.of(["", ", None, h5py.h5p.create(h5py.h5p.DATASET_XFER)"])
    if choices.below(2):
        step = model.next_step()
        array = f"np.ascontiguousarray({values(step, dataset.shape, kind)})"
        model.say(f"{handle.name}.id.write({everything}, {array}{more})")
    model.say(f"o = np.zeros({dataset.shape}, TYPES[{kind!r}])")
    model.say(f"{handle.name}.id.read({everything}, o{more}); show(o)")


@operation(4)
def direct(model: Model, choices: Choices) -> None:
    """read_direct and write_direct, with selections in memory."""
    handle = some_handle(model, choices)
    kind, shape = memory_of(choices, handle), handle.dataset.shape
    if kind not in NUMBERS or not shape or min(shape) == 0:
        return
    low = tuple(choices.below(length) for length in shape)
    high = tuple(at + choices.below(n - at) + 1 for at, n in zip(low, shape, strict=True))
    source = ", ".join(f"{a}:{b}" for a, b in zip(low, high, strict=True))
    count = tuple(b - a for a, b in zip(low, high, strict=True))
    gap = choices.below(3)
    big = tuple(2 * n + gap for n in count)
    dest = ", ".join(f"{gap}:{gap + 2 * n - 1}:2" for n in count)
    if choices.below(2):  # in one piece, but for the ends of rows
        dest = ", ".join(f"{gap}:{gap + n}" for n in count)
    inside, outside = f"np.s_[{source}]", f"np.s_[{dest}]"
    if choices.below(2):
        step = model.next_step()
        model.say(f"{handle.name}.write_direct({values(step, big, kind)}, {outside}, {inside})")
    model.say(f"o = np.zeros({big}, TYPES[{kind!r}])")
    model.say(f"{handle.name}.read_direct(o, {inside}, {outside}); show(o)")


@operation(3)
def several(model: Model, choices: Choices) -> None:
    """H5Dwrite_multi and H5Dread_multi on up to three datasets."""
    seen = {id(h.dataset): h for h in model.handles if h.dataset.kind in NUMBERS}
    handles = list(seen.values())[-3:]
    if not handles:
        return
    kinds = [memory_of(choices, handle) for handle in handles]
    names = ", ".join(handle.name for handle in handles)
    for call in choices.of([["write", "read"], ["read"], ["write"]]):
        step = model.next_step() if call == "write" else 0
        arrays = [
            f"np.ascontiguousarray({values(step + n, handle.dataset.shape, kind)})"
            for n, (handle, kind) in enumerate(zip(handles, kinds, strict=True))
        ]
        model.say(f"o = [{', '.join(arrays)}]")
        model.say(f"together('H5D{call}_multi', [{names}], o); show(o)")


@operation(2)
def member(model: Model, choices: Choices) -> None:
    """One member of a compound."""
    found = [h for h in model.handles if h.dataset.kind in ("pair", "nested", "mixed")]
    if not found:
        return
    handle = choices.of(found)
    field = {"pair": "b", "nested": "q", "mixed": "n"}[handle.dataset.kind]
    text, shape = selections.selection(choices, handle.dataset.shape)
    if choices.below(2) and handle.dataset.kind == "pair":
        model.say(f"{handle.name}[{text}, 'b'] = {values(model.next_step(), shape, 'f8')}")
    model.say(f"show({handle.name}[{text}, {field!r}])")
    model.say(f"show({handle.name}.fields({field!r})[{text}])")


@operation(1)
def row_by_row(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    model.say(
        choices.of(
            [
                f"show([row for _, row in zip(range(40), {handle.name})])",
                f"show([{handle.name}[s] for s in {handle.name}.iter_chunks()][:40])",
                f"show([{handle.name}[i] for i in range(min(30, len({handle.name})))])",
            ]
        )
    )


@operation(2)
def elsewhere(model: Model, choices: Choices) -> None:
    """Read in a forked child or in another thread."""
    handle = some_handle(model, choices)
    text, _ = selections.selection(choices, handle.dataset.shape)
    where = choices.of(["in_thread", "in_thread", "in_child"])
    for requests in model.requests if where == "in_child" else ():
        model.say(f"{requests}.wait()")  # until then they are the parent's
    if where == "in_child":
        # Where another thread called HDF5 last the log layer does not know that it is done: the
        # child gets an error then (docs/guide/log.md).
        model.say(f"show(len({handle.name}.attrs))")
    model.say(f"show({where}(lambda: {handle.name}[{text}]))")


@operation(2)
def pointed_at(model: Model, choices: Choices) -> None:
    handles = [h for h in model.handles if h.dataset.kind in ("ref", "region")]
    if handles:
        name = choices.of(handles).name
        model.say(f"show(target({name}.file, {name}[...]))")
