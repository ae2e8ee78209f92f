"""Private copies of the filters' plug-ins, which the workers call."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filters.conftest import Filters


def test_copies_survive_a_program_that_closes_all_descriptors(filters: Filters) -> None:
    """The loader takes a name it has seen for the library that it loaded then."""
    filters.python(
        """
    import h5py, hdf5plugin, numpy, os
    data = numpy.arange(200000, dtype="i4")
    for name, compression in (("x", hdf5plugin.Blosc()), ("y", hdf5plugin.Bitshuffle()),
                              ("z", hdf5plugin.BZip2())):
        with h5py.File(name + ".h5", "w") as f:
            f.create_dataset("d", data=data, chunks=(20000,), compression=compression)
        os.closerange(3, 1024)
    """
    )
    assert filters.counts["chunks_encoded"] == 30
    filters.python(
        """
    import h5py, hdf5plugin, numpy
    for name in "xyz":
        assert (h5py.File(name + ".h5")["d"][...] == numpy.arange(200000)).all()
    """,
        None,
    )


# In the place of a libhdf5 that the program is linked with: whom its functions are called by.
LIBRARY = """
    #define _GNU_SOURCE
    #include <unistd.h>
    int calls, from_workers;
    static int called(void) {
      ++calls;
      from_workers += gettid() != getpid();
      return 0;
    }
    int H5Epush1() { return called(); }
    int H5Epush2() { return called(); }
"""


def test_workers_call_no_library_that_the_program_is_linked_with(filters: Filters) -> None:
    """The plug-in itself does, to tell of errors, but a copy of it sees its own functions."""
    (filters.folder / "library.c").write_text(LIBRARY)
    compiler = shutil.which("cc")
    assert compiler
    build = [compiler, "-shared", "-fPIC", "-o", "library.so", "library.c"]
    subprocess.run(build, cwd=filters.folder, check=True)
    done = filters.python(
        """
    import ctypes
    library = ctypes.CDLL("./library.so", ctypes.RTLD_GLOBAL)
    import h5py, hdf5plugin, numpy
    with h5py.File("x.h5", "w") as f:
        d = f.create_dataset("d", data=numpy.arange(64000), chunks=(1000,),
                             compression=hdf5plugin.Blosc())
        places = [d.id.get_chunk_info(i).byte_offset for i in range(64)]
    with open("x.h5", "r+b") as file:
        for place in places:
            file.seek(place + 20)
            file.write(bytes([255] * 40))
    with h5py.File("x.h5") as f:
        try:
            f["d"][...]
        except OSError as error:
            print("not read,",
                  *(ctypes.c_int.in_dll(library, name).value for name in ("calls", "from_workers")))
    """
    )
    assert filters.counts["chunks_encoded"] == 64
    assert filters.counts["left_for_error"] == 1
    assert done.out.startswith(b"not read,"), done.text
    calls, from_workers = map(int, done.out.split()[2:])
    assert calls > 0
    assert from_workers == 0
