"""Prints the copies of libhdf5 in this process, as JSON.

    finds_copies.py WORD...

Before that it does as each word says: loads LIBRARY, calls LIBRARY:FUNCTION, or imports a module.
"""

import ctypes
import importlib
import json
import sys

from headrace.libraries import loaded_hdf5

for word in sys.argv[1:]:
    library, _, function = word.partition(":")
    if not library.startswith("/"):
        importlib.import_module(word)
    elif function:
        ctypes.CDLL(library)[function]()
    else:
        ctypes.CDLL(library)
print(json.dumps({str(copy.file): copy.initialised for copy in loaded_hdf5()}))  # noqa: T201
