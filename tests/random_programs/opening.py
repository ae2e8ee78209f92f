"""Files: created with all that HDF5 lets one choose, opened again, flushed, closed, copied."""

from __future__ import annotations

from random_programs.choices import Choices
from random_programs.model import FILES, File, Handle, Model
from random_programs.registry import operation

CREATION = (
    "",
    "libver='latest'",
    "libver=('earliest', 'v110')",
    "track_order=True",
    "userblock_size=512",
    "userblock_size=4096, libver='latest'",
    "fs_strategy='page', fs_page_size=4096",
    "fs_strategy='page', fs_page_size=512, fs_persist=True, page_buf_size=4096",
    "fs_strategy='fsm', fs_persist=True",
    "fs_strategy='aggregate'",
    "fs_strategy='none'",
    "alignment_threshold=100, alignment_interval=512",
    "meta_block_size=64",
    "driver='core'",
    "driver='core', backing_store=False",
    "driver='stdio'",
    "driver='family', memb_size=3000",
    "driver='family', memb_size=1 << 20",
    "driver='split'",
    "driver='sec2'",
    "locking=False",
)
CACHE = (
    "",
    "rdcc_nbytes=0",
    "rdcc_nbytes=2048",
    "rdcc_nbytes=300, rdcc_nslots=3",
    "rdcc_w0=1",
    "rdcc_nslots=1",
)
# Options that must be told again when a file is opened.
AGAIN = ("driver='family'", "driver='split'", "driver='stdio'", "driver='core'", "memb_size")


def path_of(which: str, options: str) -> str:
    return f"{which}%d.h5" if "family" in options else f"{which}.h5"


def joined(*parts: str) -> str:
    return "".join(f", {part}" for part in parts if part)


def create(model: Model, choices: Choices, which: str, mode: str = "w") -> File:
    options = choices.often("", CREATION)
    file = File(model.name("f"), which, options, mode)
    arguments = joined(options, choices.often("", CACHE))
    model.say(f"{file.name} = h5py.File({path_of(which, options)!r}, {mode!r}{arguments})")
    forget(model, which)
    model.datasets = [d for d in model.datasets if d.file != which]
    model.files.append(file)
    model.opened[which] = options
    return file


def forget(model: Model, which: str) -> None:
    model.files = [file for file in model.files if file.which != which]
    model.handles = [handle for handle in model.handles if handle.dataset.file != which]


def reopened(model: Model, choices: Choices, which: str, mode: str) -> File:
    options = model.opened[which]
    if not options.startswith(AGAIN):
        # While a single writer's handles are left, two drivers would have the file without a lock.
        still_open = any(handle.dataset.file == which for handle in model.handles)
        drivers = [] if still_open else ["driver='core'", "driver='stdio'"]
        options = choices.often("", ["libver='latest'", *drivers])
    if model.opened[which].startswith("fs_strategy='page'"):
        options = choices.of(["", "page_buf_size=8192"])
    file = File(model.name("f"), which, options, mode)
    arguments = joined(options, choices.often("", CACHE))
    model.say(f"{file.name} = h5py.File({path_of(which, options)!r}, {mode!r}{arguments})")
    model.files.append(file)
    return file


def some_file(model: Model, choices: Choices) -> File:
    """A file that is open; one is opened or created where there is none."""
    if model.files:
        return choices.of(model.files)
    if model.opened:
        return reopened(model, choices, choices.of(sorted(model.opened)), "r+")
    return create(model, choices, FILES[0])


def drop(model: Model, choices: Choices, file: File) -> None:
    """Closes a file: plainly, with handles dropped before, or after them."""
    kind = choices.below(4)
    handles = [h for h in model.handles if h.dataset.file == file.which]
    if kind == 1:
        for handle in handles:
            model.say(f"del {handle.name}")
    if kind == 2:  # handles outlive the file object
        model.say(f"del {file.name}")
        model.files.remove(file)
        return
    model.say(f"{file.name}.close()")
    if kind == 3 and handles:
        model.say(f"show({handles[0].name}[...])")
    model.files.remove(file)
    if model.file_of(file.which) is None:
        forget(model, file.which)


@operation(2)
def create_file(model: Model, choices: Choices) -> None:
    which = choices.of(FILES)
    if which in model.opened and not choices.rarely(4):
        which = FILES[1]
    if which not in model.opened:
        create(model, choices, which, choices.often("w", ["x", "a", "w-"]))
    elif file := model.file_of(which):
        drop(model, choices, file)
        create(model, choices, which)


@operation(2)
def close_file(model: Model, choices: Choices) -> None:
    drop(model, choices, some_file(model, choices))


@operation(7)
def reopen_file(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    drop(model, choices, file)
    mode = choices.often("r+", ["r", "a"])
    opened = reopened(model, choices, file.which, mode)
    for dataset in [d for d in model.datasets if d.file == file.which][:4]:
        if choices.below(2) == 0:
            continue
        handle = Handle(model.name("d"), dataset)
        model.say(f"{handle.name} = {opened.name}[{dataset.path!r}]")
        model.handles.append(handle)


@operation(3)
def open_again(model: Model, choices: Choices) -> None:
    """A second handle on a file that is open, perhaps with options that do not agree."""
    file = some_file(model, choices)
    if choices.rarely(5):
        reopened(model, choices, file.which, choices.often("r+", ["r", "a"]))
    else:
        again = File(model.name("f"), file.which, file.options, file.mode)
        where = path_of(file.which, file.options)
        mode = "r" if file.mode == "r" else "r+"
        extra = joined(file.options if file.options.startswith(AGAIN) else "")
        model.say(f"{again.name} = h5py.File({where!r}, {mode!r}{extra})")
        model.files.append(again)


@operation(5)
def flush_file(model: Model, choices: Choices) -> None:
    model.say(f"{some_file(model, choices).name}.flush()")


@operation(4)
def snapshot(model: Model, choices: Choices) -> None:
    """What is on the disk after a flush: copies of all files, which are read at the end."""
    file = some_file(model, choices)
    # Open files of newer formats carry a mark that forbids to read them.
    if "driver" in file.options or "latest" in file.options or model.snapshots > 3:
        return
    # A flush through one of several handles leaves what HDF5 holds for datasets of the others.
    if sum(f"File('{file.which}.h5'" in statement for statement in model.statements) > 1:
        return
    model.snapshots += 1
    model.say(f"{file.name}.flush()")
    model.say(f"shutil.copyfile('{file.which}.h5', 'snapshot{model.snapshots}.h5')")


@operation(3)
def look_at_file(model: Model, choices: Choices) -> None:
    name = some_file(model, choices).name
    model.say(
        choices.of(
            [
                f"show([{name}.driver, {name}.mode, {name}.userblock_size, {name}.libver])",
                f"show_layout({name}.id.get_filesize())",
                f"show_layout({name}.id.get_freespace())",
                f"show_layout({name}.id.get_file_image())",
                f"show(h5py.h5f.get_obj_count({name}.id, h5py.h5f.OBJ_ALL))",
                f"show([{name}.id.get_intent(), {name}.id.name, bool({name}), {name}.filename])",
                f"show(type({name}.id.get_vfd_handle()).__name__)",
                f"show({name}.id.get_access_plist().get_driver() == h5py.h5fd.SEC2)",
            ]
        )
    )


@operation(1)
def single_writer(model: Model, choices: Choices) -> None:
    file = some_file(model, choices)
    model.say(f"{file.name}.swmr_mode = True")


@operation(1)
def file_of_python(model: Model, choices: Choices) -> None:
    """A file in a Python object: no layer has anything to do there."""
    name = model.name("m")
    step = model.next_step()
    model.say(f"{name} = h5py.File(io.BytesIO(), 'w')")
    model.say(f"{name}['x'] = data({step}, ({choices.below(300)},), 'i4')")
    model.say(f"show({name}['x'][3:])")
    model.say(f"{name}.close()")
