"""Logs that outlive the program, and what reaches their data by other ways than their file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from log.later import LATER, write

if TYPE_CHECKING:
    from log_layer import Log


@pytest.mark.parametrize(
    "action",
    ["f.copy('d', h5py.File('y.h5', 'w'))", "f['c'].id.read_direct_chunk((0, 0))",
     "f['v'][...]"],
)  # fmt: skip
def test_what_would_miss_the_log_is_refused(layer: Log, action: str) -> None:
    write(layer, end="""
    c = f.create_dataset('c', (10, 10), chunks=(10, 10)); c[...] = 1
    layout = h5py.VirtualLayout((100, 1000), 'i4')
    layout[...] = h5py.VirtualSource('.', 'd', (100, 1000))
    f.create_virtual_dataset('v', layout)
    d[:, ::2] = 4
    f.close()""")  # fmt: skip
    done = layer.start(f"f = h5py.File('x.h5')\n{action}")
    assert done.status == 1
    assert "headrace replay" in done.text, done.text


@pytest.mark.parametrize(
    "action",
    [
        "assert g['l'][50, 12] == 62",
        "g['l'][:, ::2] = 1",
        "g.copy('l', g, 'copy')",
        "g['l'].id.read_direct_chunk((0, 0))",
        "g['l'].id.set_extent((1, 1))",
        "del g['m/e']",
        "del g['m']['e']",
    ],
)
def test_a_log_behind_an_external_link(layer: Log, action: str) -> None:
    """HDF5 follows such links below the layer."""
    write(layer, (10, 100))
    layer.plain("""
        for name, target in (("l", "d"), ("m", "g"), ("n", "d")):
            h5py.File("y.h5", "a")[name] = h5py.ExternalLink("x.h5", target)
    """)
    done = layer.start(f"g = h5py.File('y.h5', 'r+')\ndel g['n']\n{action}", LATER)
    assert done.status == 1
    assert "is in a file that has a log" in done.text, done.text
    layer.python("h5py.File('x.h5', 'r+').close()")
    layer.python(f"g = h5py.File('y.h5', 'r+')\n{action}", LATER)


@pytest.mark.parametrize("options", ["", LATER])
def test_one_dataset_by_two_files(layer: Log, options: str) -> None:
    """What is written through an external link, and to the file itself, in turns."""
    layer.python(
        """
    x, y = h5py.File("x.h5", "w"), h5py.File("y.h5", "w")
    d = x.create_dataset("d", (60, 60), "i4")
    own = y.create_dataset("own", (60, 60), "i4")
    y["l"] = h5py.ExternalLink("x.h5", "d")
    d[:, ::2] = 1
    for k in range(1, 40):
        far = y["l"]
        far[:, ::2] = 10 * k
        own[:, ::3] = k
        d[k:, ::2] = 10 * k + 1
        far[k + 1:, ::4] = 10 * k + 2
    """,
        options,
    )
    assert layer.counted("writes_logged") > 100
    layer.python("for name in 'xy': h5py.File(f'{name}.h5', 'r+').close()")
    assert (
        layer.plain("""
        d = np.zeros((60, 60))
        for k in range(1, 40):
            d[:, ::2] = 10 * k
            d[k:, ::2] = 10 * k + 1
            d[k + 1:, ::4] = 10 * k + 2
        with h5py.File("x.h5") as x, h5py.File("y.h5") as y:
            assert (x["d"][...] == d).all()
            assert (y["own"][:, ::3] == 39).all()
        """)
        == ""
    )


def test_attributes_are_copied_without_their_log(layer: Log) -> None:
    """The copy has all of the data, and must not get more from a log in its place."""
    layer.python(
        """
    with h5py.File("x.h5", "w") as f:
        f.attrs["a"] = 1
        f.create_dataset("d", (50, 60), "i4")[:, ::2] = 7
    """,
        LATER,
    )
    layer.python(
        """
    with h5py.File("x.h5") as old, h5py.File("y.h5", "w") as new:
        assert (old["d"][:, ::2] == 7).all()
        for object in new, new.create_group("g"):
            for name, value in old.attrs.items():
                try:
                    object.attrs[name] = value
                except (OSError, RuntimeError, KeyError) as error:
                    assert name == "_headrace_log" and "must be replayed first" in str(error), error
            object.attrs["b"] = 2
            try:
                h5py.h5a.rename(object.id, b"b", b"_headrace_log")
            except (OSError, RuntimeError, KeyError) as error:
                print(error)
            else:
                raise AssertionError
            assert dict(object.attrs) == {"a": 1, "b": 2}
    """,
        LATER,
    )


def test_a_program_that_renames(layer: Log) -> None:
    """Logs find datasets by their names: nothing is logged once they may be others."""
    write = "f['{0}'][:, {1}::2] = 7"
    layer.python(
        f"""
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (50, 60), "i4")
        {write.format("d", 0)}
        f.move("d", "e")
        {write.format("e", 1)}
    """,
        LATER,
    )
    assert layer.counted("writes_logged") == 50, "one of each row"
    layer.plain("f = h5py.File('x.h5'); assert (f['e'][...] == 7).all() and not f.attrs")


def test_an_image_of_a_file(layer: Log) -> None:
    layer.python(
        """
    with h5py.File("x.h5", "w") as f:
        f.create_dataset("d", (50, 60), "i4")[:, ::2] = 7
        f.flush()
        open("image.h5", "wb").write(f.id.get_file_image())
        f["d"][:, 1::2] = 8
    try:
        h5py.File("x.h5").id.get_file_image()
    except (OSError, RuntimeError) as error:
        assert "must be replayed first" in str(error), error
    else:
        raise AssertionError
    """,
        LATER,
    )
    layer.plain("""
        f = h5py.File("image.h5")
        assert (f["d"][:, ::2] == 7).all() and not f.attrs
    """)
