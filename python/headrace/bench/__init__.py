"""`headrace bench`: benchmark kernels under stacks of layers, beside native HDF5 and its peers."""
