"""A generator of small HDF5 files that together hold every feature of the format.

    python -m corpus DEST                 what h5py can make
    forge DEST                            the rest: forge.c, linked with an HDF5 of choice

Both write the same bytes each time, given a frozen clock: no random data, no host names.
"""
