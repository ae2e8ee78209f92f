/* mpi_faults FILE [together]: ranks write, each by itself or together, flush and read, whatever
 * fails, and never stop for it.
 * Each rank prints a line of JSON: what its collective calls came to, in their order, the number of
 * the last write that a flush or close on it promised to keep, and whether a chunk may have been
 * written in part. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_require.h"

enum { kEach = 40 };
static int rank, ranks, promised, calls, damaged;
static hid_t together, transfer = H5P_DEFAULT; /* of reads, of writes */
static char results[64];

static int collective(int good) {
  results[calls++] = good ? '1' : '0';
  return good;
}

static int reading(int good) {
  results[calls++] = good ? 'r' : 'f';
  return good;
}

static hid_t make(hid_t file, const char *name, int deflate) {
  const hsize_t size = kEach * (hsize_t)ranks, chunk = 16;
  hid_t space = H5Screate_simple(1, &size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (deflate) {
    H5Pset_chunk(dcpl, 1, &chunk);
    H5Pset_deflate(dcpl, 1);
  }
  hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

/* Every rank-th element. */
static int put(hid_t dataset, int number) {
  const hsize_t start = (hsize_t)rank, count = kEach, stride = (hsize_t)ranks;
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
  int values[kEach];
  for (int i = 0; i < kEach; ++i) values[i] = number;
  const int good = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer, values) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  return good;
}

static void check(hid_t dataset, int number, int written) {
  int *values = calloc(kEach * (size_t)ranks, sizeof *values);
  if (reading(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values) >= 0))
    for (int i = 0; i < kEach * ranks; ++i)
      REQUIRE(values[i] == number || !written || i % ranks != rank);
  free(values);
}

/* Whether all has been written. HDF5 waits for ever where one rank cannot decode a chunk that
 * another call has written in part: where ranks write together, all know that one has failed. */
static int put_all(const hid_t *datasets, int number) {
  const int plain = put(datasets[0], number);
  const int deflated = !damaged && put(datasets[1], number);
  damaged = transfer != H5P_DEFAULT && !deflated;
  if (number % 2 == 0 && number < 6) {
    check(datasets[0], number, plain);
    if (!damaged) check(datasets[1], number, deflated);
  }
  return plain && deflated;
}

static void write_all(hid_t file) {
  hid_t datasets[2] = {make(file, "plain", 0), make(file, "deflated", 1)};
  int all = 1;
  for (int number = 1; number < 6; ++number) {
    all = put_all(datasets, number) && all;
    if (collective(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0) && all) promised = number;
  }
  all = put_all(datasets, 6) && all;
  for (int i = 0; i < 2; ++i) H5Dclose(datasets[i]);
  if (collective(H5Fclose(file) >= 0) && all) promised = 6;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 2 || argc == 3);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  if (argc == 3) transfer = together;
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  if (collective(file >= 0)) write_all(file);
  printf("{\"rank\":%d,\"results\":\"%s\",\"promised\":%d,\"damaged\":%d}\n", rank, results,
         promised, damaged);
  fflush(stdout);
  H5Pclose(together);
  H5Pclose(fapl);
  MPI_Finalize();
  return 0;
}
