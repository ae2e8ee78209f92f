/* mpi_grown FILE: ranks write rows and give them more columns, which moves what is logged, so that
 * it is drained before. Whatever fails, none stops for it. Each rank prints a line of JSON: what
 * its collective calls came to, by letters (x: an extent, f: a flush, c: the close; upper case
 * where it was good), and the number of the last write that a flush or close on it promised to
 * keep. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#include "mpi_require.h"

enum { kEach = 40, kColumns = 4 };
static int rank, ranks, promised, calls;
static char results[64];

static int collective(char call, int good) {
  results[calls++] = (char)(good ? call - 'a' + 'A' : call);
  return good;
}

static hid_t make(hid_t file) {
  const hsize_t size[2] = {kEach * (hsize_t)ranks, kColumns}, chunk[2] = {16, kColumns};
  const hsize_t most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
  hid_t space = H5Screate_simple(2, size, most), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 2, chunk);
  hid_t dataset = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

/* The first column of every rank-th row. */
static int put(hid_t dataset, int number) {
  const hsize_t start[2] = {(hsize_t)rank, 0}, count[2] = {kEach, 1};
  const hsize_t stride[2] = {(hsize_t)ranks, 1};
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
  int values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = number;
  const int good = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return good;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 2);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  hid_t dataset = make(file);
  int all = 1;
  for (int number = 1; number < 4; ++number) {
    all = put(dataset, number) && all;
    const hsize_t more[2] = {kEach * (hsize_t)ranks, kColumns + (hsize_t)number};
    collective('x', H5Dset_extent(dataset, more) >= 0);
    if (collective('f', H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0) && all) promised = number;
  }
  H5Dclose(dataset);
  if (collective('c', H5Fclose(file) >= 0) && all) promised = 3;
  printf("{\"rank\":%d,\"results\":\"%s\",\"promised\":%d}\n", rank, results, promised);
  fflush(stdout);
  H5Pclose(fapl);
  MPI_Finalize();
  return 0;
}
