"""Random h5py programs, run natively and under a stack of layers, and compared byte by byte.

A program is a list of operations that hypothesis draws (`draw`). It is translated to Python
statements (`translate`), which a worker process runs in a folder of their own (`worker`). What the
statements show and the files they leave must be the same under each stack (`compare`).
"""
