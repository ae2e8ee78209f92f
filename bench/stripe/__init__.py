"""The layer stripe beside one shared file, HDF5's own subfiling, raw writes and raw copies."""
