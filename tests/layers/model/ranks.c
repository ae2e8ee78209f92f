/* Ranks write and read a dataset together:
     ranks FILE collective|independent columns|rows [without-selections]
   Each has 64 doubles of each of 100 rows (columns), or 100 rows of its own (rows). */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, COLUMNS = 64 };

static void need(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  need(argc == 4 || argc == 5, "the command line");
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int columns = strcmp(argv[3], "columns") == 0;
  const hsize_t n = (hsize_t)ranks;
  const hsize_t r = (hsize_t)rank;
  const hsize_t all[2] = {columns ? ROWS : ROWS * n, columns ? COLUMNS * n : COLUMNS};
  const hsize_t start[2] = {columns ? 0 : ROWS * r, columns ? COLUMNS * r : 0};
  const hsize_t mine[2] = {ROWS, COLUMNS};

  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  need(file >= 0, "H5Fcreate");
  const hid_t space = H5Screate_simple(2, all, NULL);
  const hid_t memory = H5Screate_simple(2, mine, NULL);
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(dcpl, 0); /* files of different seconds are to be the same */
  const hid_t data =
      H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  need(data >= 0, "H5Dcreate2");
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, mine, NULL);
  const hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
  const int collective = strcmp(argv[2], "collective") == 0;
  H5Pset_dxpl_mpio(dxpl, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);

  if (argc == 5) H5Pset_selection_io(dxpl, H5D_SELECTION_IO_MODE_OFF);

  static double out[ROWS * COLUMNS];
  static double in[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) out[i] = rank * 1e6 + i;
  need(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, dxpl, out) >= 0, "H5Dwrite");
  need(H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, dxpl, in) >= 0, "H5Dread");
  need(memcmp(out, in, sizeof out) == 0, "the comparison");
  H5Pclose(dxpl);
  H5Pclose(dcpl);
  H5Pclose(fapl);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(data);
  need(H5Fclose(file) >= 0, "H5Fclose");
  MPI_Finalize();
  return 0;
}
