"""The kernel `ior`, and what all kernels share."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import h5py
from kernels.bench_tool import SERIAL, Bench, bits, h5dump_header, key_of, program, same_as_golden

QUICK = ("--block", "256Ki", "--transfer", "64KiB", "--segments", "2")


def test_a_plain_reader_finds_the_data(bench: Bench) -> None:
    samples = bench.samples("ior", *QUICK, "--keep")
    ranks = max(1, bench.ranks)
    assert [each["case"] for each in samples] == ["independent", "collective"][:ranks]
    for sample in samples:
        assert sample["bytes"]["written"] == 2 * (256 << 10) * ranks
        assert sample["connector"] == "native"
        assert sample["driver"] == ("mpio" if bench.ranks else "sec2")
        with h5py.File(bench.kept("ior", sample["case"]) / "data.h5") as file:
            data = file["data"][:]
        assert len(data) == sample["bytes"]["written"]
        key = key_of("data")
        for index in (0, 1, 65535, 65536, len(data) // 2, len(data) - 1):
            assert data[index] == bits(key, index) & 0xFF


def test_the_layout(serial: Bench) -> None:
    serial.samples("ior", *QUICK, "--keep")
    same_as_golden("ior.txt", h5dump_header(serial.kept("ior", "independent") / "data.h5"))


def test_phases_repeats_and_the_baseline(bench: Bench) -> None:
    wanted = ("--warmup", 1, "--repeats", 2, "--first-repeat", 5, "--baseline", "--compute", "5ms")
    samples = bench.samples("ior", *QUICK, *wanted, "--sync", "close", "--only", "independent")
    assert [(each["repeat"], each["warmup"]) for each in samples] == [
        (0, True),
        (5, False),
        (6, False),
    ]
    phases = {"create", "write", "flush", "close", "sync", "compute", "open", "read", "close_read"}
    for sample in samples:
        assert sample["phases"].keys() == phases
        assert sample["baseline"]["bytes"] == sample["bytes"]["written"]
        assert sample["phases"]["compute"]["min"] >= 4 * 0.005  # two segments, written and read
        assert sample["write_wall"] >= sample["phases"]["write"]["max"]
    assert not bench.kept("ior", "independent").exists()


def test_wrong_data_are_found(serial: Bench) -> None:
    """A connector that loses a write: the kernel's own check must see it."""
    done = serial.start("ior", *QUICK, "--keep")
    assert done.status == 0
    folder = serial.kept("ior", "independent")
    with h5py.File(folder / "data.h5", "r+") as file:
        file["data"][70000] += 1
    reread = serial.start("ior", *QUICK, "--reread")
    assert reread.status == 1
    assert "wrong data in data, element 70000" in reread.text


def test_folders_of_others_are_left_alone(serial: Bench) -> None:
    mine = serial.kept("ior", "independent").with_suffix(".partial")
    mine.mkdir()
    (mine / "thesis.txt").write_text("irreplaceable")
    done = serial.start("ior", *QUICK)
    assert done.status == 1
    assert "was not made by headrace-bench" in done.text
    assert (mine / "thesis.txt").exists()


def test_an_interrupted_run_names_what_is_partial(serial: Bench, tmp_path: Path) -> None:
    library = SERIAL.prefix / "lib/libhdf5.so"
    started = subprocess.Popen(
        [program(), "--hdf5", library, "--dir", tmp_path, "ior", *QUICK, "--compute", "30s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    partial = tmp_path / "ior-independent.partial"
    for _ in range(1000):
        if (partial / "data.h5").exists():
            break
        time.sleep(0.01)
    time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert '"error":"interrupted"' in out
    assert str(partial) in err
    assert partial.exists()
    assert not serial.kept("ior", "independent").exists()
    assert serial.samples("ior", *QUICK)  # the next run clears it away
    assert not partial.exists()


def test_a_full_disk(serial: Bench) -> None:
    done = serial.start("ior", "--block", "64Mi", limit=60)
    assert done.status == 0
    command = (
        f"ulimit -f 4096; trap '' XFSZ; exec {program()} --hdf5 {SERIAL.prefix}/lib/libhdf5.so"
    )
    limited = subprocess.run(
        ["/bin/bash", "-c", f"{command} --dir {serial.folder} ior --block 64Mi"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 1
    assert "File too large" in limited.stderr
    assert "ior-independent.partial" in limited.stderr


def test_wrong_options_are_told(serial: Bench) -> None:
    for arguments, message in (
        (("ior", "--block", "3", "--transfer", "2"), "--block must be a multiple of --transfer"),
        (("ior", "--block", "0"), "--block"),
        (("ior", "--blocks", "1"), "--blocks"),
        (("nonsense",), "nonsense"),
        (("ior", "--compute", "5"), "--compute"),
    ):
        done = serial.start(*arguments)
        assert done.status == 2, done.text
        assert message in done.text
