"""Extents, stored chunks and what HDF5 tells of the storage."""

from __future__ import annotations

from random_programs.choices import Choices
from random_programs.creating import NUMBERS, values
from random_programs.model import Handle, Model
from random_programs.registry import operation
from random_programs.transfers import some_handle


def some_chunked(model: Model, choices: Choices) -> Handle | None:
    found = [h for h in model.handles if h.dataset.chunks]
    return choices.of(found) if found else None


def chunk_in(choices: Choices, handle: Handle) -> tuple[int, ...]:
    shape, chunks = handle.dataset.shape, handle.dataset.chunks
    assert chunks is not None
    return tuple(
        choices.below(-(-length // chunk)) * chunk
        for length, chunk in zip(shape, chunks, strict=True)
    )


@operation(5)
def resize(model: Model, choices: Choices) -> None:
    found = [h for h in model.handles if h.dataset.extensible]
    if not found:
        return
    handle = choices.of(found)
    dataset = handle.dataset
    grow, half = choices.below(3) > 0, choices.of([2, 1])
    dataset.shape = tuple(
        length + choices.below(20) if grow else length - choices.below(length + 1) // half
        for length in dataset.shape
    )
    model.say(f"{handle.name}.resize({dataset.shape})")
    if choices.below(2):
        model.say(f"show({handle.name}[...])")


@operation(3)
def append(model: Model, choices: Choices) -> None:
    """Row by row, as programs that log do."""
    found = [h for h in model.handles if h.dataset.extensible]
    if not found:
        return
    handle = choices.of(found)
    dataset = handle.dataset
    if dataset.kind in ("ref", "region"):
        return
    for _ in range(choices.below(5) + 1):
        rows, *row = dataset.shape
        dataset.shape = (rows + 1, *row)
        model.say(f"{handle.name}.resize({rows + 1}, axis=0)")
        value = values(model.next_step(), tuple(row), dataset.kind)
        model.say(f"{handle.name}[{rows}] = {value}")


@operation(4)
def write_chunk(model: Model, choices: Choices) -> None:
    handle = some_chunked(model, choices)
    # What is no chunk of theirs would end many a filter, and the process with it. Chunks without
    # some of the filters are not written here: HDF5 2.0 reads them as if they had all (until the
    # file is opened anew), tests/filters/test_left_to_hdf5.py has them.
    if handle is None or handle.dataset.kind not in NUMBERS:
        return
    dataset, step = handle.dataset, model.next_step()
    if dataset.filters == "?":
        return
    assert dataset.chunks is not None
    raw = f"pack({values(step, dataset.chunks, dataset.kind)}, {dataset.filters!r}, 0)"
    model.say(f"{handle.name}.id.write_direct_chunk({chunk_in(choices, handle)}, {raw}, 0)")
    if choices.below(2):
        model.say(f"show({handle.name}[...])")


@operation(3)
def read_chunk(model: Model, choices: Choices) -> None:
    handle = some_chunked(model, choices)
    if handle is not None and handle.dataset.kind in NUMBERS:
        where = chunk_in(choices, handle)
        model.say(f"show_chunk({handle.name}, {where}, {handle.dataset.filters!r})")


@operation(3)
def look_at_chunks(model: Model, choices: Choices) -> None:
    handle = some_chunked(model, choices)
    if handle is None:
        return
    name = handle.name
    model.say(f"show({name}.id.get_num_chunks())")
    if choices.below(2):
        info = f"[{name}.id.get_chunk_info(i) for i in range(min(9, {name}.id.get_num_chunks()))]"
        model.say(f"c = {info}; show(sorted((c.chunk_offset, c.filter_mask) for c in c))")
        model.say(
            f"show_chunk_info({name}.id.get_chunk_info_by_coord({chunk_in(choices, handle)}))"
        )
    else:
        model.say(f"c = []; {name}.id.chunk_iter(c.append)")
        model.say("show(sorted((c.chunk_offset, c.filter_mask) for c in c))")


@operation(3)
def look_at_storage(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    name, chunks = handle.name, handle.dataset.chunks
    # HDF5 does not tell of the only chunk of a dataset while that is in its memory.
    only = chunks and all(n <= m for n, m in zip(handle.dataset.shape, chunks, strict=True))
    any_stored = "" if only else "show(s > 0); "
    model.say(
        choices.of(
            [
                f"s = {name}.id.get_storage_size(); {any_stored}show_layout(s)",
                f"show([{name}.id.get_space_status(), {name}.shape, {name}.chunks])",
                f"show_layout({name}.id.get_offset())",
                f"show([{name}.dtype, {name}.maxshape, {name}.fillvalue, {name}.compression])",
                f"show([{name}.nbytes, {name}.size, {name}.name, bool({name}), {name}.external])",
                f"show({name}.is_virtual and {name}.virtual_sources())",
            ]
        )
    )


@operation(2)
def flush_dataset(model: Model, choices: Choices) -> None:
    handle = some_handle(model, choices)
    # HDF5 2.0 cannot close all handles of a dataset one of which was refreshed.
    alone = sum(one.dataset is handle.dataset for one in model.handles) == 1
    call = choices.of(["flush", "refresh", "id.refresh"] if alone else ["flush"])
    model.say(f"{handle.name}.{call}()")
