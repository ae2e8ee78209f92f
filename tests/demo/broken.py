"""What the demonstration's program does, and then something else when it runs under Headrace.

    broken.py INPUT OUTPUT

The variable CHANGE names what: a function below.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import h5py
import numpy as np

REWRITE = Path(__file__).resolve().parents[2] / "demo/rewrite.py"


def nothing(_: h5py.File) -> None:
    pass


def a_value(file: h5py.File) -> None:
    file["group/matrix"][3, 1] += 1


def a_nan(file: h5py.File) -> None:
    file["group/matrix"][0, 0] = 0


def a_string(file: h5py.File) -> None:
    file["names"][1] = "other"


def an_attribute(file: h5py.File) -> None:
    file["group"].attrs["unit"] = "mm"


def a_missing_attribute(file: h5py.File) -> None:
    del file["group"].attrs["unit"]


def a_missing_object(file: h5py.File) -> None:
    del file["names"]


def a_further_object(file: h5py.File) -> None:
    file["more"] = 1


def a_link(file: h5py.File) -> None:
    del file["soft"]
    file["soft"] = h5py.SoftLink("/names")


def an_object_of_its_own_for_a_second_name(file: h5py.File) -> None:
    del file["again"]
    file.copy("names", "again")


def a_type(file: h5py.File) -> None:
    del file["scalar"]
    file["scalar"] = np.float32(2.5)


def the_storage(file: h5py.File) -> None:
    values = file["group/matrix"][...]
    del file["group/matrix"]
    file["group/matrix"] = values


def the_size(file: h5py.File) -> None:
    """The bytes behind content and storage belong to nothing."""
    file.close()
    with Path(sys.argv[2]).open("ab") as end:
        end.write(bytes(100_000))


runpy.run_path(str(REWRITE), run_name="__main__")
with h5py.File(sys.argv[2], "r+") as written:
    if "HDF5_VOL_CONNECTOR" in os.environ:
        globals()[os.environ["CHANGE"]](written)
