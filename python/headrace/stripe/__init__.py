"""Files that lie in pieces: the sets that HDF5's subfiling writes, made whole and cut up again."""
