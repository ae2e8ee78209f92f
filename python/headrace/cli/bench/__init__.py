"""`headrace bench`: of kernels, and of traces."""
