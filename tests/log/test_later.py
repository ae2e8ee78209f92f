"""Logs that outlive the program: canonicalise=later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from log.later import CHUNKS, EXPECTED, LATER, SAME, write

if TYPE_CHECKING:
    from log_layer import Log


def refused(layer: Log, mode: str, options: str) -> str:
    """What the layer says when x.h5 is opened."""
    done = layer.start(
        f"""
    try:
        h5py.File("x.h5", "{mode}")
    except OSError as error:
        print(error)
    """,
        options,
    )
    assert done.status == 0, done.text
    return str(done.text)


def logs(layer: Log) -> list[str]:
    return [path.name for path in layer.folder.glob("x.h5.headrace/*")]


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("end", ["f.close()", "import ctypes; ctypes.CDLL(None).exit(0)"])
def test_a_log_is_read_where_it_is(layer: Log, chunks: tuple[int, int] | None, end: str) -> None:
    write(layer, chunks, end)
    assert len(logs(layer)) == 1
    # Plain tools see what was there before, of the true type and shape.
    plain = layer.plain("""
        with h5py.File("x.h5") as f:
            print(f["d"].shape, f["d"].dtype, (f["d"][...] == -1).all(), (f["g/e"][...] == 0).all())
    """)
    assert plain == "(100, 1000) int32 True True"
    for options in (LATER, ""):
        layer.python(
            EXPECTED
            + """
    with h5py.File("x.h5") as f:
        """
            + SAME
            + """
        assert (f["d"][3:9:2, 100:200] == d[3:9:2, 100:200]).all()
        assert (f["d"].astype("f8")[7] == d[7]).all()
        assert (f["d"][50, 13], f["d"][50, 12]) == (-1, 62)
        assert (f["d"][[1, 5, 8], 999] == d[[1, 5, 8], 999]).all()
        into = np.zeros((3, 1000), ">i2")
        f["d"].read_direct(into, np.s_[6], np.s_[1])
        assert (into[1] == d[6]).all() and not into[[0, 2]].any()
        """,
            options,
        )
    assert len(logs(layer)) == 1, "readers have left it alone"


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("options", [LATER, "", LATER + "verify=true;sync=true;"])
def test_a_writer_puts_it_in_order(
    layer: Log, chunks: tuple[int, int] | None, options: str
) -> None:
    write(layer, chunks)
    layer.python(
        EXPECTED + "    f = h5py.File('x.h5', 'r+')\n    " + SAME + "\n    f.close()\n", options
    )
    assert not (layer.folder / "x.h5.headrace").exists()
    same = layer.plain(EXPECTED + "    f = h5py.File('x.h5')\n    assert not f.attrs\n    " + SAME)
    assert same == ""


@pytest.mark.parametrize("options", [LATER, ""])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_program_that_did_not_close_its_file(layer: Log, mode: str, options: str) -> None:
    """More may have been written than is there, so somebody has to decide."""
    write(layer, end="f.flush(); os._exit(0)")
    text = refused(layer, mode, options)
    assert f"{layer.folder}/x.h5 did not close it; `headrace recover` takes" in text, text
    assert f"log {layer.folder}/x.h5.headrace/{logs(layer)[0]} cannot be used" in text, text
    layer.python(
        EXPECTED + f"    f = h5py.File('x.h5', '{mode}')\n    {SAME}\n    f.close()\n",
        options + "recover=true;",
    )
    assert len(logs(layer)) == (mode == "r")


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_log_without_its_last_flush(layer: Log, mode: str) -> None:
    """It is a whole one of a program that was killed then, but the file was closed."""
    write(layer, end="""
    f.flush()
    log = next(os.scandir("x.h5.headrace")).path
    flushed = os.path.getsize(log)
    d[:, 1::2] = 9
    f.close()
    os.truncate(log, flushed)""")  # fmt: skip
    assert "did not close it" in refused(layer, mode, LATER)


@pytest.mark.parametrize(
    ("shape", "kind", "cause"),
    [
        (
            (100, 1000),
            "f4",
            "little-endian float s31 e8@23 bias 127 m23@0 implied, but in its log 4-byte",
        ),
        ((100, 1000), ">i4", "big-endian signed integer, but in its log 4-byte little-endian"),
        ((100, 1000), "u4", "unsigned integer, but in its log 4-byte little-endian signed"),
        ((100, 1000), "i8", "8-byte little-endian signed integer, but in its log 4-byte"),
        ((200, 500), "i4", "extent 200 x 500, but in its log any x 1000"),
        ((100000,), "i4", "extent 100000, but in its log any x 1000"),
        ((99, 1000), "i4", "extent 99 x 1000, but in its log"),
    ],
)
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_another_dataset_in_its_place(
    layer: Log, shape: tuple[int, ...], kind: str, cause: str, mode: str
) -> None:
    write(layer)
    layer.plain(f"""
        mark = h5py.File("x.h5").attrs["_headrace_log"]
        with h5py.File("x.h5", "w") as f:
            f.create_dataset("d", {shape}, {kind!r})
            f.create_group("g").create_dataset("e", (40, 40), "f8")
            f.attrs["_headrace_log"] = mark
    """)
    done = layer.start(f"""
    for _ in range(2):
        try:
            f = h5py.File("x.h5", "{mode}")
            d = f["d"]
            for _ in range(2):
                try:
                    d[...]
                except OSError as error:
                    print(error)
        except OSError as error:
            print(error)
    """)
    assert done.status == 0, done.text
    assert done.text.count(f"dataset /d of file {layer.folder}/x.h5 has ") >= 2, done.text
    assert done.text.count(cause) == (4 if mode == "r" else 2), done.text
    assert len(logs(layer)) == 1


def test_the_program_itself_reads_what_it_has_logged(layer: Log) -> None:
    write(
        layer,
        end=EXPECTED.strip().replace("d =", "D =").replace("d[", "D[") + "\n    "
        "assert (f['d'][...] == D).all()\n    d[:, 1::2] = 3\n    f.close()",
    )
    assert (
        layer.plain("f = h5py.File('x.h5'); print((f['d'][50, 1::2] == -1).all(), f['d'][50, 12])")
        == "True 62"
    ), "what was read is in order, what was logged after it is not"
    layer.python("with h5py.File('x.h5') as f: assert (f['d'][:, 1::2] == 3).all()")
    layer.python("h5py.File('x.h5', 'r+').close()")
    assert layer.plain("f = h5py.File('x.h5'); print((f['d'][:, 1::2] == 3).all())") == "True"


def test_a_file_that_grows_and_is_opened_again(layer: Log) -> None:
    layer.python(
        """
    for part in range(3):
        with h5py.File("x.h5", "a") as f:
            d = f.require_dataset("d", (10, 40), "i4", maxshape=(None, 40), chunks=(3, 7)) \
                if part == 0 else f["d"]
            d.resize((10 * (part + 1), 40))
            d[10 * part:, ::2] = part
            d[::2, part::5] = 100 + part
    with h5py.File("x.h5") as f:
        np.save("found", f["d"][...])
        assert os.path.isdir("x.h5.headrace")
    """,
        LATER,
    )
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    text = """
        d = np.zeros((30, 40), "i4")
        for part in range(3):
            d[10 * part:10 * part + 10, ::2] = part
            d[:10 * part + 10:2, part::5] = 100 + part
        assert (np.load("found.npy") == d).all()
        with h5py.File("x.h5") as f: assert (f["d"][...] == d).all()
    """
    assert layer.plain(text) == ""


def test_writes_through_what_stays_open(layer: Log) -> None:
    """HDF5 keeps the file open; what comes later must not end below what was logged."""
    layer.python(
        """
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    fapl.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    f = h5py.h5f.create(b"x.h5", h5py.h5f.ACC_TRUNC, fapl=fapl)
    d = h5py.Dataset(h5py.h5d.create(f, b"d", h5py.h5t.NATIVE_INT32,
                                     h5py.h5s.create_simple((100, 100))))
    d[:, ::2] = 1
    f.close()
    d[:, 2::4] = 2
    """,
        LATER,
    )
    assert layer.counted("writes_logged") == 100, "row by row"
    layer.python("h5py.File('x.h5', 'r+').close()", LATER)
    found = layer.plain("f = h5py.File('x.h5'); print(f['d'][0, :5])")
    assert found == "[1 0 2 0 1]"


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        ("log.unlink()", "cannot be opened"),
        ("log.write_bytes(log.read_bytes()[:20])", "it belongs to another file"),
        ("log.write_bytes(b'')", "it belongs to another file"),
        ("data = bytearray(log.read_bytes()); data[4000] ^= 1; log.write_bytes(data)",
         "has another checksum"),
        ("data = bytearray(log.read_bytes()); data[70] ^= 1; log.write_bytes(data)",
         "is not whole, but others follow it"),
        ("log.write_bytes(log.read_bytes()[:-1])", "did not close it"),
        ("log.write_bytes(log.read_bytes() + b'x')", "1 bytes follow"),
        ("f = h5py.File('y.h5', 'w'); f.create_dataset('d', (9, 9), 'i1')[:, ::2] = 1; f.close(); "
         "log.write_bytes(next(Path('y.h5.headrace').iterdir()).read_bytes())",
         "it belongs to another file"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_log_that_cannot_be_used(layer: Log, damage: str, cause: str, mode: str) -> None:
    write(layer)
    layer.python(
        f"""
    from pathlib import Path
    log = next(Path("x.h5.headrace").iterdir())
    {damage}
    """,
        LATER,
    )
    for options in [LATER] if "not close" in cause else [LATER, "recover=true;"]:
        text = refused(layer, mode, options)
        assert cause in text, text
        assert "x.h5.headrace/" in text
    assert layer.plain("print(len(h5py.File('x.h5').attrs))") == "1", "the file is as it was"


def test_a_new_file_has_nothing_of_an_old_log(layer: Log) -> None:
    write(layer)
    layer.plain("h5py.File('x.h5', 'w').create_dataset('d', (100, 1000), 'i4')")
    layer.python("with h5py.File('x.h5') as f: assert not f['d'][...].any()")
    layer.python("with h5py.File('x.h5', 'r+') as f: assert not f['d'][...].any()")
    assert len(logs(layer)) == 1, "nobody knows whether that log is still wanted"


def test_who_may_read_the_log(layer: Log) -> None:
    layer.python(
        """
        f = h5py.File("x.h5", "w")
        d = f.create_dataset("d", (100, 100), "i4")
        os.chmod("x.h5", 0o600)
        d[:, ::2] = 7
        f.close()
        with os.scandir("x.h5.headrace") as logs:
            assert [log.stat().st_mode & 0o777 for log in logs] == [0o600]
    """,
        LATER,
    )
