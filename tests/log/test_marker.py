"""Attributes and datasets that plain tools have changed while a log waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from log.commands import headrace

if TYPE_CHECKING:
    from log_layer import Log

LATER = "canonicalise=later;"
OPEN = """
    try:
        h5py.File("x.h5", "{mode}").close()
        print("opened")
    except OSError as error:
        print(error)
    with h5py.File("y.h5", "w") as f:
        f["d"] = [1]
"""


def opened(layer: Log, mode: str, options: str = LATER) -> str:
    """What is said of it; the process goes on."""
    return str(layer.python(OPEN.format(mode=mode), options).out.decode())


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize(
    "value",
    [
        "'text of variable length'",
        "np.array(['a', 'bc'], h5py.string_dtype())",
        "np.array([f['d'].ref], h5py.ref_dtype)",
        "np.fromiter([np.arange(3)], h5py.vlen_dtype('i4'))",
        "np.array([('a', 1)], [('s', h5py.string_dtype()), ('n', 'i4')])",
        "np.bytes_(b'0123456789abcdef')",
        "np.void(bytes(15))",
        "np.array([np.void(bytes(16))] * 2)",
    ],
)
def test_an_attribute_of_another_kind(layer: Log, value: str, mode: str, libver: str) -> None:
    """HDF5 crashes on some when they are looked at while it opens a file."""
    layer.plain(f"""
        with h5py.File("x.h5", "w", libver="{libver}") as f:
            f["d"] = [1, 2]
            f.attrs["_headrace_log"] = {value}
    """)
    said = opened(layer, mode)
    assert "_headrace_log of the root group of file x.h5 does not name a log" in said, said


WRITE = """
    with h5py.File("x.h5", "w") as f:
        for name in "ad":
            f.create_dataset(name, (50, 50), "i4")[:, ::2] = 7
"""
CHANGES = {
    "deleted": "del f['d']",
    "replaced": "old = f['d'].id; at = h5py.h5o.get_info(old).addr; del old, f['d']; "
    "e = f.create_dataset('e', (50, 50), 'i4'); assert h5py.h5o.get_info(e.id).addr == at",
    "made anew": "del f['d']; f['pad'] = 1; f.create_dataset('d', (50, 50), 'i4')",
    "renamed": "f.move('d', 'e')",
    "a group": "del f['d']; f.create_group('d')",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("options", [LATER, ""])
def test_a_dataset_that_is_gone(layer: Log, change: str, options: str) -> None:
    layer.python(WRITE, LATER)
    layer.plain(f"with h5py.File('x.h5', 'r+') as f: {CHANGES[change]}")
    for mode in ("r", "r+"):
        said = opened(layer, mode, options)
        assert f"dataset /d of the log is not in file {layer.folder}/x.h5 under" in said, said
        assert "headrace replay --skip-missing" in said, said
    replayed = headrace(layer.folder, "replay", "x.h5")
    assert replayed.status == 2, replayed.text
    assert "dataset /d of the log is not in file" in replayed.text
    replayed = headrace(layer.folder, "replay", "--skip-missing", "x.h5")
    assert replayed.status == 0, replayed.text
    assert "1 datasets of the log are not in the file" in replayed.text
    layer.plain("""
        with h5py.File("x.h5") as f:
            assert (f["a"][:, ::2] == 7).all() and not f.attrs
            for name in set(f) & {"d", "e"}:
                assert isinstance(f[name], h5py.Group) or not f[name][...].any()
    """)


def test_a_dataset_that_has_its_name_again(layer: Log) -> None:
    layer.python(WRITE, LATER)
    layer.plain("with h5py.File('x.h5', 'r+') as f: f.move('d', 'e')")
    assert "/d of the log is not in" in opened(layer, "r")
    layer.plain("with h5py.File('x.h5', 'r+') as f: f.move('e', 'd')")
    assert opened(layer, "r+") == "opened\n"
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


@pytest.mark.parametrize("driver", ["stdio", "sec2", "core"])
def test_whatever_driver_looks(layer: Log, driver: str) -> None:
    layer.python(WRITE, LATER)
    layer.python(f"""
        with h5py.File("x.h5", "r+", driver="{driver}") as f:
            assert (f["d"][:, ::2] == 7).all()
    """)
    layer.plain("assert (h5py.File('x.h5')['d'][:, ::2] == 7).all()")


def test_readers_may_go_without_it(layer: Log) -> None:
    layer.python(WRITE, LATER)
    layer.plain("with h5py.File('x.h5', 'r+') as f: f.move('d', 'e')")
    layer.python(
        """
    with h5py.File("x.h5") as f:
        assert (f["a"][:, ::2] == 7).all() and not f["e"][...].any()
    """,
        "skip_missing=true;",
    )
