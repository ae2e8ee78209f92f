"""Files with every feature of HDF5's format, copied into a store and out of it again."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pandas as pd
import pynwb
import pytest
import tables
from harness.corpus import PYTHONPATH
from harness.layer import Layer
from harness.prefix import ROOT
from harness.run import run
from harness.stack import CLEAN
from kernels.bench_tool import SERIAL, Bench
from random_programs.dump import of_file

DATA = ROOT.parent / "shared/data/e3sm"

# What a container does not have, and so refuses to take: the reason it gives.
REFUSED = {
    "external_storage": "has no elements in external files",
}


def copy_there_and_back(names: list[str]) -> None:
    stdio = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    stdio.set_fapl_stdio()

    def copied(source: str, target: str, access: h5py.h5p.PropFAID) -> None:
        with h5py.File(source, "r") as old:
            creation = old.id.get_create_plist()
            creation.set_userblock(0)
            new = h5py.h5f.create(target.encode(), fcpl=creation, fapl=access)
            try:
                h5py.h5o.copy(old.id, b"/", new, b"/")
            finally:
                new.close()

    for name in names:
        try:
            copied(name, f"{name}.kept", h5py.h5p.DEFAULT)
            copied(f"{name}.kept", f"{name}.back", stdio)
            print(name, "copied")
        except Exception as error:
            print(name, error)


def test_all_that_a_file_may_hold_comes_back(object_layer: Layer, tmp_path: Path) -> None:
    environ = {**CLEAN, "PYTHONPATH": PYTHONPATH}
    done = run([sys.executable, "-m", "corpus", tmp_path], env=environ, cwd=tmp_path, limit=120)
    assert done.status == 0, done.text
    opened = {path: of_file(path) for path in tmp_path.glob("*.h5")}
    natively = {path.name: found for path, found in opened.items() if isinstance(found, dict)}
    parts = ("family", "split")  # of one file
    single = sorted(name for name in natively if not name.startswith(parts))
    done = object_layer.python(partial(copy_there_and_back, single))
    told = dict(line.split(" ", 1) for line in done.out.decode().splitlines())
    assert list(told) == single
    for name, outcome in told.items():
        reasons = [why for begin, why in REFUSED.items() if name.startswith(begin)]
        if reasons:
            assert reasons[0] in outcome, f"{name}: {outcome}"
            continue
        assert outcome == "copied", f"{name}: {outcome}"
        assert (tmp_path / f"{name}.kept").stat().st_size < 1000  # a stub
        assert of_file(tmp_path / f"{name}.back") == natively[name], name
    assert sum(outcome == "copied" for outcome in told.values()) > 50


def write_by_packages() -> None:
    with netCDF4.Dataset("climate.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 50)
        field = file.createVariable("T", "f4", ("time", "x"), zlib=True, fill_value=-9)
        field[:] = np.arange(1000.0).reshape(20, 50)
        file.createVariable("time", "f8", ("time",))[:] = np.arange(20)
        file.createGroup("g").createVariable("names", str, ("x",))[0] = "first"
    frame = pd.DataFrame({"a": range(1000), "b": [f"s{i}" for i in range(1000)]})
    frame.to_hdf("frame.h5", key="frame", format="table", data_columns=True)
    with tables.open_file("tables.h5", "w") as file:
        columns = {"n": tables.Int32Col(), "s": tables.StringCol(8)}
        table = file.create_table("/", "t", columns, filters=tables.Filters(5, "blosc"))
        table.append([(i, b"x%d" % i) for i in range(5000)])
        file.create_vlarray("/", "ragged", tables.Int16Atom()).append([1, 2])
        file.create_soft_link("/", "soft", "/t")
        table.cols.n.create_index()
    write_session("session.nwb")


def write_session(name: str) -> None:
    """Of electrodes, with tables that refer to each other, rows of any length and references."""
    session = pynwb.NWBFile(
        "a session", "first", datetime.fromisoformat("2020-01-01T00:00:00+00:00")
    )
    device = session.create_device(name="probe")
    shank = session.create_electrode_group("shank", description="-", device=device, location="-")
    for _ in range(4):
        session.add_electrode(group=shank, location="-")
    electrodes = session.create_electrode_table_region([0, 1, 3], "some")
    compressed = pynwb.H5DataIO(np.arange(3000.0).reshape(1000, 3), compression="gzip")
    series = pynwb.ecephys.ElectricalSeries(
        name="voltage", data=compressed, electrodes=electrodes, starting_time=0.0, rate=200.0
    )
    session.add_acquisition(series)
    for unit in range(9):
        session.add_unit(spike_times=np.arange(unit) / 8, electrodes=[unit % 4])
    session.add_trial(start_time=0.0, stop_time=1.0, timeseries=[series])
    with pynwb.NWBHDF5IO(name, "w") as file:
        file.write(session)


def read_session(name: str) -> None:
    with pynwb.NWBHDF5IO(name, "r") as file:
        session = file.read()
        voltage = session.trials["timeseries"][0][0].timeseries
        print(voltage.name, voltage.data[:].sum(), voltage.electrodes["group"][2].name)
        print([times.tolist() for times in session.units["spike_times"][:]])


def test_files_of_other_packages_come_back(object_layer: Layer, tmp_path: Path) -> None:
    object_layer.plain(write_by_packages)
    names = ["climate.nc", "frame.h5", "tables.h5", "session.nwb"]
    done = object_layer.python(partial(copy_there_and_back, names))
    assert done.out.decode().split() == [word for name in names for word in (name, "copied")]
    for name in names:
        assert of_file(tmp_path / f"{name}.back") == of_file(tmp_path / name), name
    read = partial(read_session, "session.nwb")
    known = object_layer.plain(read)
    assert known.startswith("voltage 4498500.0 shank")
    kept = partial(read_session, "session.nwb.kept")
    assert object_layer.python(kept).out.decode().strip() == known
    made = partial(write_session, "made.nwb")
    object_layer.python(made)
    assert (tmp_path / "made.nwb").stat().st_size < 1000  # a stub
    assert object_layer.python(partial(read_session, "made.nwb")).out.decode().strip() == known


@pytest.mark.parametrize("which", "fg")
def test_files_of_a_climate_model_come_back(
    object_layer: Layer, tmp_path: Path, which: str
) -> None:
    case = f"{which}-canonical-independent"
    bench = Bench(tmp_path, SERIAL)
    bench.samples("e3sm", "--data", DATA, "--case", which, "--only", case, "--keep")
    (tmp_path / "model.h5").hardlink_to(bench.kept("e3sm", case) / "data.h5")
    done = object_layer.python(partial(copy_there_and_back, ["model.h5"]))
    assert done.out.decode() == "model.h5 copied\n"
    assert of_file(tmp_path / "model.h5.back") == of_file(tmp_path / "model.h5")
