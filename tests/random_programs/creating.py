"""Datasets of all layouts, types and filters."""

from __future__ import annotations

from random_programs.choices import Choices
from random_programs.model import Dataset, File, Handle, Model
from random_programs.opening import some_file
from random_programs.registry import operation

LENGTHS = (10, 1, 7, 16, 0, 33, 100, 5, 24, 64)
# Filters, how `pack` names them, and the types they are for.
FILTERS = (
    ("compression=4", "z", ""),
    ("compression=1, shuffle=True", "sz", ""),
    ("compression=9", "z", ""),
    ("compression=4, fletcher32=True", "zf", ""),
    ("compression=6, shuffle=True, fletcher32=True", "szf", ""),
    ("compression='gzip'", "z", ""),
    ("shuffle=True", "s", ""),
    ("fletcher32=True", "f", ""),
    ("compression='lzf'", "?", ""),
    ("compression='lzf', shuffle=True, fletcher32=True", "?", ""),
    ("scaleoffset=0", "?", "iu"),
    ("scaleoffset=0, compression=3", "?", "iu"),
    ("scaleoffset=3", "?", "f"),
    ("**hdf5plugin.Zstd()", "?", ""),
    ("**hdf5plugin.Blosc(cname='lz4')", "?", ""),
    ("**hdf5plugin.Blosc(cname='zstd', clevel=1, shuffle=0)", "?", ""),
    ("**hdf5plugin.Blosc2(cname='zstd', clevel=2)", "?", ""),
    ("**hdf5plugin.Bitshuffle()", "?", ""),
    ("**hdf5plugin.LZ4()", "?", ""),
    ("**hdf5plugin.LZ4(nbytes=512)", "?", ""),
    ("**hdf5plugin.BZip2(blocksize=1)", "?", ""),
    ("**hdf5plugin.Zfp(reversible=True)", "?", "f"),
    ("shuffle=True, **hdf5plugin.Zstd(clevel=5)", "?", ""),
)
# Those of the filters above that may store more than they are given. Blosc and LZF then give up.
GROWING = ("fletcher32", "scaleoffset", "Zstd", "Blosc2", "Bitshuffle", "LZ4", "BZip2", "Zfp")
NUMBERS = ("i4", "f4", "u1", "f8", "i2be", "f8be", "u8", "i8")
OTHERS = ("f2", "bool", "c16", "S7", "V5", "enum", "pair", "array", "nested", "text", "bytes",
          "vector", "mixed", "ref", "region")  # fmt: skip
STRINGS = ("text", "bytes", "vector", "mixed", "ref", "region")
FILL = {"i4": "-7", "f4": "1.5", "u1": "255", "f8": "-0.25", "i2be": "258", "u8": "2**63",
        "i8": "-1", "f8be": "3.0", "S7": "b'none'", "bool": "True"}  # fmt: skip


def shape_of(choices: Choices) -> tuple[int, ...]:
    rank = choices.of([1, 2, 2, 1, 3, 2, 1])
    shape = tuple(choices.of(LENGTHS) for _ in range(rank))
    if rank == 1 and choices.below(3) == 0:
        return (choices.below(9000) + 1,)
    if rank == 2 and choices.rarely(6):
        return (shape[0] * 3, shape[1] * 4)
    return shape if rank < 3 else tuple(min(length, 16) for length in shape)


def type_of(choices: Choices) -> str:
    return choices.of(NUMBERS) if choices.below(4) else choices.of(OTHERS)


def chunks_of(choices: Choices, shape: tuple[int, ...], extensible: bool) -> tuple[int, ...]:
    parts = []
    for length in shape:
        most = max(length, 1)
        chunk = max(most // choices.of([2, 3, 1, 4, 7]), 1)
        if extensible and choices.rarely(6):
            chunk += most
        parts.append(min(chunk + choices.of([0, 0, 1]), 4096 if extensible else most))
    return tuple(parts)


def filters_of(choices: Choices, kind: str) -> tuple[str, str]:
    options, names, types = choices.of(FILTERS)
    numbers_only = types and not ("be" not in kind and kind[0] in types)
    # Blosc divides by the size of a type, which is 0 where it varies.
    if numbers_only or (kind in STRINGS and "hdf5plugin" in options):
        return FILTERS[0][0], FILTERS[0][1]
    return options, names


def chunked(choices: Choices, dataset: Dataset, filtered: bool) -> str:
    """Options; sets what the model has to know."""
    dataset.extensible = choices.below(3) == 0
    dataset.chunks = chunks_of(choices, dataset.shape, dataset.extensible)
    options = [f"chunks={dataset.chunks}"]
    if dataset.extensible:
        most = tuple(choices.of([None, None, length + 50]) for length in dataset.shape)
        options.append(f"maxshape={most}")
    if filtered:
        text, dataset.filters = filters_of(choices, dataset.kind)
        dataset.grows = any(name in text for name in GROWING)
        options.append(text)
    return ", ".join(options)


def fill_of(choices: Choices, kind: str) -> str:
    if kind not in FILL or choices.below(3):
        return ""
    return f", fillvalue={FILL[kind]}"


def place(model: Model, choices: Choices, dataset: Dataset) -> Handle:
    dataset.path = choices.often("", ["g/", "g/h/"]) + model.name("x")
    model.datasets.append(dataset)
    handle = Handle(model.name("d"), dataset)
    model.handles.append(handle)
    return handle


def say_created(model: Model, choices: Choices, file: File, handle: Handle, options: str) -> None:
    dataset = handle.dataset
    head = f"{handle.name} = {file.name}.create_dataset({dataset.path!r}, "
    full = choices.below(3) == 0 and dataset.kind not in ("ref", "region")
    if full and dataset.kind != "array":
        step = model.next_step()
        shape = f"data={values(step, dataset.shape, dataset.kind)}"
        if dataset.kind in ("V5", *STRINGS[:4]):
            shape += f", dtype=TYPES[{dataset.kind!r}]"
    else:
        shape = f"{dataset.shape}, TYPES[{dataset.kind!r}]"
        if model.filled and not any(
            name in options for name in ("chunks", "fill_time", "external")
        ):
            options += ", fill_time='alloc'"
    model.say(f"{head}{shape}{options}{fill_of(choices, dataset.kind)})")


def values(step: int, shape: tuple[int, ...], kind: str) -> str:
    return f"data({step}, {shape}, {kind!r})"


@operation(3)
def create_contiguous(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", shape_of(choices), type_of(choices))
    handle = place(model, choices, dataset)
    more = choices.often("", [", fill_time='alloc'", ", track_times=False", ", track_order=True"])
    say_created(model, choices, file, handle, more)


@operation(2)
def create_chunked(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", shape_of(choices), type_of(choices))
    options = chunked(choices, dataset, filtered=False)
    say_created(model, choices, file, place(model, choices, dataset), ", " + options)


@operation(6)
def create_compressed(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", shape_of(choices), type_of(choices))
    options = chunked(choices, dataset, filtered=True)
    if choices.rarely(8):
        options += choices.of([", rdcc_nbytes=0", ", rdcc_nbytes=200", ", rdcc_nslots=1"])
    options += choices.often("", [", fill_time='alloc'", ", fill_time='ifset'"])
    handle = place(model, choices, dataset)
    say_created(model, choices, file, handle, ", " + options)


@operation(1)
def create_automatic(model: Model, choices: Choices) -> None:
    """Chunks guessed by h5py; or a scalar, or nothing at all."""
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", shape_of(choices), type_of(choices))
    options = choices.of(["chunks=True", "maxshape=None", "compression=4", "shuffle=True"])
    if choices.rarely(2):
        dataset.shape, dataset.scalar, options = (), True, ""
    handle = place(model, choices, dataset)
    if choices.rarely(5):
        model.say(
            f"{handle.name} = {file.name}.create_dataset({dataset.path!r}, "
            f"data=h5py.Empty(TYPES[{dataset.kind!r}]))"
        )
    else:
        say_created(model, choices, file, handle, joined_options(options))


def joined_options(options: str) -> str:
    return f", {options}" if options else ""


# Storage that HDF5 has not filled holds what was in that place of the file before.
LOW_LEVEL = (
    "set_layout(h5py.h5d.COMPACT)",
    "set_fill_time(h5py.h5d.FILL_TIME_ALLOC); p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)",
    "set_fill_time(h5py.h5d.FILL_TIME_ALLOC); p.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)",
    "set_fill_time(h5py.h5d.FILL_TIME_ALLOC); p.set_alloc_time(h5py.h5d.ALLOC_TIME_INCR)",
    "set_fill_time(h5py.h5d.FILL_TIME_ALLOC)",
)
CHUNKED_ONLY = (
    # Chunks that exist are wholly written, so that nothing undefined is read.
    "set_fill_time(h5py.h5d.FILL_TIME_NEVER); p.set_alloc_time(h5py.h5d.ALLOC_TIME_INCR)",
    "set_deflate(4)",
    "set_shuffle()",
    "set_fletcher32()",
    "set_filter(h5py.h5z.FILTER_DEFLATE, h5py.h5z.FLAG_OPTIONAL, (3,))",
    "set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)",
)


@operation(3)
def create_low_level(model: Model, choices: Choices) -> None:
    """By property list: allocation times, compact layout, filters in any order."""
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", shape_of(choices), choices.of(NUMBERS))
    handle = place(model, choices, dataset)
    dataset.path = dataset.path.rpartition("/")[2]
    model.say("p = h5py.h5p.create(h5py.h5p.DATASET_CREATE); p.set_obj_track_times(False)")
    if choices.below(2):
        dataset.chunks, dataset.filters = chunks_of(choices, dataset.shape, False), "?"
        model.say(f"p.set_chunk({dataset.chunks})")
        model.say(f"p.{choices.of(LOW_LEVEL[1:])}")
        for n in range(choices.below(4)):
            call = choices.of(CHUNKED_ONLY)
            if n > 0 and "NBIT" in call:  # it reads beyond what another filter has made
                continue
            dataset.grows |= "fletcher32" in call
            model.say(f"p.{call}")
    else:
        model.say(f"p.{choices.of(LOW_LEVEL)}")
    space = f"h5py.h5s.create_simple({dataset.shape})"
    kind = f"h5py.h5t.py_create(TYPES[{dataset.kind!r}])"
    made = f"h5py.h5d.create({file.name}.id, b{dataset.path!r}, {kind}, {space}, p)"
    model.say(f"{handle.name} = h5py.Dataset({made})")


@operation(1)
def create_external(model: Model, choices: Choices) -> None:
    """Raw data in a file of its own, which HDF5 reads and writes without any driver."""
    file = some_file(model, choices)
    dataset = Dataset(file.which, "", (choices.below(50) + 1,), choices.of(NUMBERS))
    handle = place(model, choices, dataset)
    raw = f"external=[({handle.name + '.raw'!r}, {choices.below(20)}, h5py.h5f.UNLIMITED)]"
    say_created(model, choices, file, handle, f", {raw}")


@operation(2)
def create_virtual(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    sources = [d for d in model.datasets if len(d.shape) == 1 and d.kind in NUMBERS]
    if not sources:
        return
    source = choices.of(sources)
    length = source.shape[0]
    dataset = Dataset(file.which, "", (2, length), source.kind, virtual=True)
    name = "." if source.file == file.which else f"{source.file}.h5"
    model.say(f"l = h5py.VirtualLayout((2, {length}), TYPES[{source.kind!r}])")
    model.say(f"s = h5py.VirtualSource({name!r}, {source.path!r}, ({length},))")
    half = choices.below(length) if length else 0
    model.say(f"l[0, {half}:] = s[{half}:]")
    model.say(f"l[1, :{half}:2] = s[:{half}:2]")
    handle = place(model, choices, dataset)
    fill = choices.of(["", ", fillvalue=9"])
    model.say(f"{handle.name} = {file.name}.create_virtual_dataset({dataset.path!r}, l{fill})")
