"""The libhdf5 of a replay, and its MPI, called by ctypes."""
