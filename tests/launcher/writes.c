// writes FILE [native|ranks]: writes rows of numbers, by HDF5's native connector that it asks for
// itself, or by all MPI ranks together; with no word more as the environment says.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 100000 };

int main(int argc, char** argv) {
  static int data[COUNT];
  const char* how = argc > 2 ? argv[2] : "";
  const int together = strcmp(how, "ranks") == 0;
  int rank = 0;
  int ranks = 1;
  if (together) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  if (strcmp(how, "native") == 0) H5Pset_vol(fapl, H5VL_NATIVE, NULL);
  if (together) H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  const hsize_t mine = COUNT;
  const hsize_t all = mine * (hsize_t)ranks;
  const hsize_t start = (hsize_t)rank; /* ranks write between each other, as the log layer wants */
  const hsize_t stride = (hsize_t)ranks;
  for (int i = 0; i < COUNT; ++i) data[i] = (int)(start + stride * (hsize_t)i);
  const hid_t memory = H5Screate_simple(1, &mine, NULL);
  const hid_t space = H5Screate_simple(1, &all, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &mine, NULL);
  const hid_t set =
      H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int failed = H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, data) < 0;
  H5Dclose(set);
  failed |= H5Fclose(file) < 0;
  if (rank == 0) puts(failed ? "failed" : "written");
  if (together) MPI_Finalize();
  return failed;
}
