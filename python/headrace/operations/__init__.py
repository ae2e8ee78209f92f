"""What a Python program asks of the layers below its HDF5, by ctypes."""
