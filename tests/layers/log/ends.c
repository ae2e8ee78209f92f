/* A program that ends HDF5 with a file open, for tests/layers/log/test_files.py: ends FILE.
 * Twice by H5close(), which begins anew, and once with the process. Each time writes every third
 * column of dataset d. */
#include <hdf5.h>
#include <string.h>

#include "require.h"

#define SIZE 90

static void write_columns(const char *path, hsize_t first) {
  static int32_t values[SIZE * SIZE / 3];
  const hsize_t extent[2] = {SIZE, SIZE}, chunk[2] = {16, 16}, stride[2] = {1, 3};
  const hsize_t start[2] = {0, first}, count[2] = {SIZE, SIZE / 3}, elements = SIZE * SIZE / 3;
  const hid_t file = first == 0 ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)
                                : H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, extent, NULL);
  const hid_t memory = H5Screate_simple(1, &elements, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  REQUIRE(file);
  REQUIRE(H5Pset_chunk(list, 2, chunk));
  const hid_t dataset =
      first == 0 ? H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT)
                 : H5Dopen2(file, "d", H5P_DEFAULT);
  REQUIRE(dataset);
  for (hsize_t i = 0; i < elements; ++i) values[i] = (int32_t)first + 1;
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL));
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values));
  if (first != 1) REQUIRE(H5Dclose(dataset));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  for (hsize_t first = 0; first < 3; ++first) {
    write_columns(argv[1], first);
    if (first < 2) REQUIRE(H5close());
  }
  return 0;
}
