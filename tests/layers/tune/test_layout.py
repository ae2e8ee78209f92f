"""With consent objects are stored otherwise, and what is read stays the same."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from harness.layer import Layer
from harness.prefix import MATRIX, Hdf5
from harness.run import run
from harness.stack import CLEAN
from random_programs.compare import difference, without_storage
from random_programs.dump import of_file

CONSENT = "allow=layout;"
PATHS = {"PYTHONPATH": os.pathsep.join(sys.path)}
# Whatever packs chunks itself: those stay as the program says.
PACKED = "[[rules]]\ndataset = '/filter_mask'\nchunk = ''\ndeflate = 'default'\n"
# Damaged on purpose by the place of bytes; families, whose members are more or fewer then.
OTHER_FILES = ("damaged", "truncated", "family")
LAYOUTS = {
    "page=4KiB": 30,
    "page=64KiB;page_buffer=1MiB": 30,
    "libver=latest": 0,
    "compact=60000": 1000,
    "chunk=4;deflate=6": 200,
    "chunk=3x5": 100,
    "chunk=2x2x2;compact=100;page=512": 500,
    "deflate=0": 100,
}
FILE = "with h5py.File('x.h5', 'w') as f:\n    "
DATASET = FILE + "f.create_dataset('d', data=np.arange(1200.0).reshape(30, 40){})\n"


def corpus(tune: Layer, name: str, options: str | None) -> Path:
    """Files of all kinds of types, extents, layouts, filters, links and attributes."""
    folder = tune.folder / name
    done = tune.command([sys.executable, "-m", "corpus", folder], options, 90, **PATHS)
    assert done.status == 0, done.text
    return folder


@pytest.fixture(scope="module")
def natively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return corpus(Layer(tmp_path_factory.mktemp("corpus"), "tune"), "native", None)


@pytest.mark.share(5)
@pytest.mark.parametrize("options", LAYOUTS)
def test_same_content(tune: Layer, natively: Path, options: str) -> None:
    rules = tune.folder / "rules.toml"
    rules.write_text(PACKED)
    folder = corpus(tune, "tuned", f"{CONSENT}{options};rules={rules};")
    files = [path for path in natively.glob("*.h5") if not path.stem.startswith(OTHER_FILES)]
    for path in files:
        one, other = (without_storage(of_file(file)) for file in (path, folder / path.name))
        assert not difference(one, other, ""), path.name
    assert len(files) > 70
    assert tune.counted("layouts_changed") >= LAYOUTS[options]


@pytest.mark.parametrize(
    ("options", "how", "shown", "value"),
    [
        ("page=4KiB", "", "f.id.get_create_plist().get_file_space_strategy()[0]", "1"),
        ("page=4KiB", "", "f.id.get_create_plist().get_file_space_page_size()", "4096"),
        ("chunk=16x16", "", "f['d'].chunks", "(16, 16)"),
        ("chunk=64x16", "", "f['d'].chunks", "(30, 16)"),  # no larger than the dataset
        ("chunk=16x16", ", maxshape=(None, 40)", "f['d'].chunks", "(16, 16)"),
        ("chunk=16", "", "f['d'].chunks", "None"),
        ("chunk=16x16;deflate=6", "", "(f['d'].compression_opts, f['d'].shuffle)", "(6, True)"),
        ("deflate=6", "", "f['d'].compression", "None"),  # no chunks
        ("deflate=6", ", chunks=(5, 5)", "f['d'].compression_opts", "6"),
        ("deflate=6", ", chunks=(5, 5), compression=1", "f['d'].compression_opts", "6"),
        ("deflate=0", ", compression=1, shuffle=True", "(f['d'].compression, f['d'].shuffle)",
         "(None, False)"),
        ("deflate=6", ", compression='lzf'", "f['d'].compression", "lzf"),
        ("deflate=6", ", compression=1, fletcher32=True", "f['d'].compression_opts", "1"),
        ("compact=9600", "", "f['d'].id.get_create_plist().get_layout()", "0"),
        ("compact=9599", "", "f['d'].id.get_create_plist().get_layout()", "1"),
        ("compact=9600;chunk=30x40", "", "f['d'].chunks", "(30, 40)"),
        ("compact=9600", ", chunks=(5, 5)", "f['d'].chunks", "(5, 5)"),
        ("fill=never", "", "f['d'].id.get_create_plist().get_fill_time()", "1"),
        ("fill=never", ", fill_time='alloc'", "f['d'].id.get_create_plist().get_fill_time()", "0"),
    ],
)  # fmt: skip
def test_what_is_shown(tune: Layer, options: str, how: str, shown: str, value: str) -> None:
    """Of the file that it leaves, and of the one that the program has open."""
    tune.python(DATASET.format(how) + f"    print({shown})\n", CONSENT + options + ";")
    assert tune.value(shown) == value
    again = f"with h5py.File('x.h5') as f: print({shown})"
    assert tune.python(again, CONSENT + options + ";").out.decode().strip() == value
    assert tune.value("bool((f['d'][:].ravel() == np.arange(1200)).all())") == "True"


@pytest.mark.parametrize(
    "option",
    ["page=4KiB", "libver=latest", "compact=100", "chunk=4x4", "deflate=0", "fill=never"],
)
def test_without_consent(tune: Layer, option: str) -> None:
    for mode in ("w", "r"):
        done = tune.start(f"h5py.File('x.h5', {mode!r})", f"{option};")
        assert done.status == 1
        assert f"{option.partition('=')[0]}= changes how objects are stored" in done.text
    assert not (tune.folder / "x.h5").exists()


@pytest.mark.parametrize(
    "options", ["page=511", "page=2GiB", "chunk=0x4", "chunk=4x", "deflate=10"]
)
def test_no_such_layout(tune: Layer, options: str) -> None:
    done = tune.start("h5py.File('x.h5', 'w')", f"{CONSENT}{options};")
    assert done.status == 1
    assert options.partition("=")[0] in done.text


# Files that HDF5 makes, but not in the other form.
FORMS = """
for n, how in enumerate((dict(driver="split"), dict(libver=("earliest", "v108")),
                         dict(userblock_size=512), dict(fs_strategy="page", fs_page_size=512),
                         dict(driver="core"), dict(driver="family", memb_size=3000))):
    for mode in ("w", "x"):
        with h5py.File(f"{n}{mode}%d", mode, **how) as f:
            f["x"] = np.arange(1000)
        with h5py.File(f"{n}{mode}%d", "r+", **(how if "driver" in how else {})) as f:
            assert (f["x"][:] == np.arange(1000)).all()
            f["y"] = 1
"""


@pytest.mark.parametrize(
    "options",
    [
        f"{CONSENT}page=4KiB;",
        f"{CONSENT}page=4KiB;page_buffer=1KiB;",
        f"{CONSENT}page=4KiB;page_buffer=1MiB;libver=latest;",
        "page_buffer=100;",
        "alignment=4KiB;",
        "alignment=513;",
        "metadata_block=1;sieve=1;metadata_cache=1;conversion_buffer=1;",
        "metadata_block=1MiB;sieve=1MiB;metadata_cache=1GiB;",
    ],
)
def test_what_hdf5_does_not_take_is_left(tune: Layer, options: str) -> None:
    tune.python(FORMS, options)


# A chunk index that HDF5's page buffer damages, and reads wrongly.
INDEXED = """
how = dict(fs_strategy="page", fs_page_size=4096, libver="latest")
with h5py.File("x.h5", "w", **how) as f:
    for n in range(3):
        f.create_dataset(f"d{n}", data=np.arange(9000), chunks=(2,))
with h5py.File("x.h5", "r+") as f:
    f["d1"][::7] = 0
"""
READ = "with h5py.File('x.h5') as f: print([int(d[:].sum()) for d in f.values()])"


@pytest.mark.parametrize("writer", [None, "page_buffer=1MiB;", f"{CONSENT}page_buffer=64KiB;"])
def test_page_buffers_and_newer_indexes(tune: Layer, writer: str | None) -> None:
    tune.start(INDEXED, writer)
    sums = tune.plain(READ)
    assert sums.count("40495500") == 2
    for size in ("16KiB", "1MiB"):
        assert tune.python(READ, f"page_buffer={size};").out.decode().strip() == sums


def test_a_page_buffer_is_used(tune: Layer) -> None:
    tune.python(
        """
with h5py.File("x.h5", "w", fs_strategy="page", fs_page_size=4096) as f:
    f["x"] = np.arange(10)
with h5py.File("x.h5") as f:
    assert f.id.get_access_plist().get_page_buffer_size()[0] == 0
    assert f["x"][3] == 3
    assert sum(f.id.get_page_buffering_stats().meta) > 0
""",
        "page_buffer=64KiB;",
    )
    assert tune.log.count("page_buffer_size of x.h5 is changed") == 2


def test_elements_larger_than_the_conversion_buffer(tune: Layer) -> None:
    """HDF5's own grows for them."""
    tune.python(
        """
kinds = [h5py.h5t.array_create(kind, (400000,)) for kind in (h5py.h5t.NATIVE_FLOAT,
                                                             h5py.h5t.NATIVE_DOUBLE)]
data = np.ones((2, 400000))
with h5py.File("x.h5", "w") as f:
    d = h5py.h5d.create(f.id, b"d", kinds[0], h5py.h5s.create_simple((2,)))
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, data, kinds[1])
    f["small"] = np.arange(10.0)
    f["small"].read_direct(np.empty(10, "i4"))
""",
        "conversion_buffer=2MiB;",
    )
    assert tune.counted("properties_changed") == 1
    assert tune.value("f['d'][:].sum()") == "800000.0"


def test_chunks_that_the_program_packs(tune: Layer) -> None:
    """An error where they would be stored in a dataset of another form."""
    program = (
        DATASET.format(", chunks=(30, 40){}") + "    f['d'].id.write_direct_chunk((0, 0), b'1')\n"
    )
    for how, status in ((", compression=1", 1), (", compression='lzf'", 0)):
        done = tune.start(program.format(how), CONSENT + "deflate=3;")
        assert done.status == status, done.text
        assert ("stored otherwise" in done.text) == bool(status)
        if status:
            assert tune.value("f['d'][:].sum()") == "719400.0"


def test_what_holds_references_is_filled(tune: Layer) -> None:
    kinds = [
        *("h5py.string_dtype()", "h5py.vlen_dtype('i4')", "h5py.ref_dtype", "h5py.regionref_dtype"),
        "np.dtype([('a', h5py.string_dtype(), (2,))])",
    ]
    made = "".join(f"    f.create_dataset('{n}', (9,), {kind})\n" for n, kind in enumerate(kinds))
    told = "[d.id.get_create_plist().get_fill_time() for d in f.values()]"
    tune.plain(f"{FILE}pass\n{made}")
    native = tune.value(told)
    tune.python(f"{FILE}pass\n{made}", CONSENT + "fill=never;")
    assert tune.value(told) == native


# Rules that nobody could notice.
FORMATS = [
    "seat=both;sieve=1MiB;metadata_block=1MiB;metadata_cache=16MiB;alignment=4KiB;page_buffer=1MiB;"
    "conversion_buffer=4MiB;",
]


def dumped(program: Path | str, file: Path) -> str:
    done = run([program, file.name], env=CLEAN, cwd=file.parent, limit=60)
    assert done.status == 0, done.text
    return done.out.decode()


@pytest.mark.parametrize("options", FORMATS)
def test_older_readers(natively: Path, tmp_path: Path, options: str) -> None:
    newer = Hdf5(MATRIX[0]).program("h5dump")
    old = shutil.which("h5dump")
    if old is None or not re.search(
        r"1\.10\.\d", run([old, "-V"], env=CLEAN, cwd=tmp_path, limit=60).out.decode()
    ):
        pytest.skip("there is no h5dump of HDF5 1.10")
    folder = corpus(Layer(tmp_path, "tune"), "tuned", options)
    for name in ("types_numeric", "types_compound", "attributes", "groups", "layouts"):
        for reader in (old, newer):
            file = f"{name}_earliest.h5"
            assert dumped(reader, folder / file) == dumped(reader, natively / file), reader
