/* Ranks write columns, which are logged, then rows from a GPU's memory, then columns again; each in
 * rows of its own. The memory is that of tests/crash/fake_cuda.c.
 *   mpi_device FILE
 * Rank 0 prints "right" when all ranks find in the file what they have written. */
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#include "mpi_require.h"

enum { kRows = 16, kColumns = 1000, kFew = 40 };
static double expected[kRows][kColumns], rows[kRows][kColumns];
static hid_t dataset;
static int rank;

static void write_block(hid_t list, int row, int column, int height, int width, const void *from) {
  const hsize_t start[] = {rank * kRows + row, column}, count[] = {height, width};
  hid_t memory = H5Screate_simple(2, count, NULL), space = H5Dget_space(dataset);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, list, from) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
}

static void write_columns(double value) {
  double column[kRows];
  for (int i = 0; i < kFew; ++i) {
    for (int r = 0; r < kRows; ++r) column[r] = expected[r][3 * i] = value + i + 1000 * rank;
    write_block(H5P_DEFAULT, 0, 3 * i, kRows, 1, column);
  }
}

static void write_from_device(hid_t list, int row, double value) {
  void *(*allocate)(size_t) = NULL;
  void (*copy)(void *, const void *, size_t) = NULL;
  *(void **)&allocate = dlsym(RTLD_DEFAULT, "device_allocate");
  *(void **)&copy = dlsym(RTLD_DEFAULT, "device_copy");
  REQUIRE(allocate != NULL && copy != NULL);
  for (int r = row; r < row + 4; ++r)
    for (int c = 0; c < kColumns; ++c) expected[r][c] = value + c + 1000 * rank;
  void *device = allocate(4 * sizeof expected[0]);
  copy(device, expected[row], 4 * sizeof expected[0]);
  write_block(list, row, 0, 4, kColumns, device);
}

static void compare(void) {
  const hsize_t start[] = {rank * kRows, 0}, count[] = {kRows, kColumns};
  hid_t memory = H5Screate_simple(2, count, NULL), space = H5Dget_space(dataset);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows) >= 0);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) REQUIRE(rows[r][c] == expected[r][c]);
  H5Sclose(memory);
  H5Sclose(space);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 2);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  REQUIRE(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE) >= 0);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  const hsize_t dims[] = {ranks * kRows, kColumns};
  hid_t space = H5Screate_simple(2, dims, NULL);
  dataset = H5Dcreate2(file, "d", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(file >= 0 && dataset >= 0);
  write_columns(1);
  write_from_device(H5P_DEFAULT, 2, 7);
  compare();
  write_from_device(together, 8, 9);
  write_columns(5);
  compare();
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  compare();
  REQUIRE(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
  H5Sclose(space);
  H5Pclose(fapl);
  H5Pclose(together);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("right");
  MPI_Finalize();
  return 0;
}
