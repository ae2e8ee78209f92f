/* Passes for a libhdf5 that does not show whether it is initialised, but by its ids. */
long H5T_NATIVE_INT_g = -1;

void H5get_libversion(void) {}

void H5Fopen(void) { H5T_NATIVE_INT_g = 216172782113783851; }
