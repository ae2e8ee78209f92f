/* A library that passes for libhdf5 with everything that looks for one, of the version VERSION.
   With PARALLEL it is one for MPI. */
#include <stdbool.h>

char H5_lib_vers_info_g[] = "HDF5 library version: " VERSION;
bool H5_libinit_g = false;

void H5Fopen(void) { H5_libinit_g = true; }

void H5get_libversion(void) {}

int H5is_library_threadsafe(bool *answer) {
  *answer = true;
  return 0;
}

#ifdef PARALLEL
void H5Pset_fapl_mpio(void) {}
#endif
