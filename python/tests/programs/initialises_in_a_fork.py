"""Only a forked child uses HDF5: initialises_in_a_fork.py LIBRARY."""

import ctypes
import os
import sys

if os.fork() == 0:
    ctypes.CDLL(sys.argv[1]).H5Fopen()
    os._exit(0)
os.wait()
