"""A program that puts the fault layer below itself, and then imports h5py."""

from __future__ import annotations

import os

import headrace

headrace.enable("fault", fault_kind="error", fault_type="raw", fault_count=0)

import h5py  # noqa: E402

try:
    h5py.File("x.h5", "w")["a"] = [7] * 99999
except OSError as error:
    print(error.errno, flush=True)
os._exit(0)
