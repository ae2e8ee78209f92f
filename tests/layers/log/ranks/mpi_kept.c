/* Files that ranks have left in logs, as ranks find them: FILE.DATASET.expected holds what each
 * dataset must.
 *   mpi_kept read FILE    reads it independently, together, and both by turns
 *   mpi_kept alone FILE   its last rank does
 *   mpi_kept open FILE    opens it for writing, which puts it in order, and reads it
 *   mpi_kept part FILE    the same, with one rank that cannot read one of the logs
 *   mpi_kept twice FILE   makes it, and opens it again while it has flushed logs
 *   mpi_kept again FILE   makes it, and opens it again and again just after it has closed it
 *   mpi_kept unflushed FILE  reads what it has written since the last flush, and is killed
 *   mpi_kept settling FILE  is killed when it has put a part of its log in order
 *   mpi_kept steps FILE   writes and flushes until it is killed; FILE.steps has a byte for each
 * step that was flushed Each rank prints a line of JSON at the end. */
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mpi_require.h"

static int rank, ranks;
static const char *const kNames[] = {"contiguous", "chunked", "deflated", "doubles"};

static hid_t open_file(const char *name, unsigned flags) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  if (getenv("COLLECTIVE_METADATA")) REQUIRE(H5Pset_all_coll_metadata_ops(fapl, 1) >= 0);
  hid_t file = H5Fopen(name, flags, fapl);
  H5Pclose(fapl);
  return file;
}

static int *expected(const char *file, const char *dataset, hsize_t elements) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s.expected", file, dataset);
  int *values = malloc(elements * sizeof *values);
  FILE *in = fopen(path, "rb");
  REQUIRE(in && fread(values, sizeof *values, elements, in) == elements);
  fclose(in);
  return values;
}

/* Rows from `first` on, every `stride`-th. */
static void check_rows(hid_t dataset, const int *values, hsize_t first, hsize_t stride,
                       hid_t dxpl) {
  hid_t space = H5Dget_space(dataset);
  hsize_t dims[2];
  H5Sget_simple_extent_dims(space, dims, NULL);
  const hsize_t rows = (dims[0] - first + stride - 1) / stride;
  const hsize_t start[2] = {first, 0}, step[2] = {stride, 1}, count[2] = {rows, dims[1]};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, NULL);
  hid_t memory = H5Screate_simple(2, count, NULL);
  int *found = malloc(rows * dims[1] * sizeof *found);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, dxpl, found) >= 0);
  for (hsize_t r = 0; r < rows; ++r)
    REQUIRE(memcmp(found + r * dims[1], values + (first + r * stride) * dims[1],
                   dims[1] * sizeof *found) == 0);
  free(found);
  H5Sclose(memory);
  H5Sclose(space);
}

static void check_file(hid_t file, const char *name) {
  hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  for (int i = 0; i < 4; ++i) {
    hid_t dataset = H5Dopen2(file, kNames[i], H5P_DEFAULT), space = H5Dget_space(dataset);
    int *values = expected(name, kNames[i], (hsize_t)H5Sget_simple_extent_npoints(space));
    check_rows(dataset, values, 0, 1, together);
    check_rows(dataset, values, (hsize_t)rank, (hsize_t)ranks, H5P_DEFAULT);
    check_rows(dataset, values, (hsize_t)rank, (hsize_t)ranks, together);
    check_rows(dataset, values, 3, 7, H5P_DEFAULT);
    free(values);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  H5Pclose(together);
}

static void read_alone(hid_t file, const char *name) {
  for (int i = 0; i < 4; ++i) {
    hid_t dataset = H5Dopen2(file, kNames[i], H5P_DEFAULT), space = H5Dget_space(dataset);
    int *values = expected(name, kNames[i], (hsize_t)H5Sget_simple_extent_npoints(space));
    if (rank == ranks - 1) check_rows(dataset, values, 0, 3, H5P_DEFAULT);
    free(values);
    H5Sclose(space);
    H5Dclose(dataset);
  }
}

static void put(hid_t dataset, int number) {
  const hsize_t start = (hsize_t)rank, count = 50, stride = (hsize_t)ranks;
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
  int values[50];
  for (int i = 0; i < 50; ++i) values[i] = number;
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
}

static void check_all(hid_t dataset, int number) {
  int *values = malloc(50 * (size_t)ranks * sizeof *values);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  for (int i = 0; i < 50 * ranks; ++i) REQUIRE(values[i] == number);
  free(values);
}

static hid_t make(hid_t file, const char *name, int deflate) {
  const hsize_t size = 50 * (hsize_t)ranks, most = H5S_UNLIMITED, chunk = 20;
  hid_t space = H5Screate_simple(1, &size, &most), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 1, &chunk);
  if (deflate) H5Pset_deflate(dcpl, 1);
  hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

static hid_t make_file(const char *name, hid_t fapl) {
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  return file;
}

static void open_twice(const char *name) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = make_file(name, fapl);
  hid_t dataset = make(file, "d", 1);
  put(dataset, 1);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  put(dataset, 2);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (int writes = 0; writes < 2; ++writes) {
    hid_t again = H5Fopen(name, writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
    REQUIRE(again >= 0);
    hid_t other = H5Dopen2(again, "d", H5P_DEFAULT);
    check_all(other, 2);
    check_all(dataset, 2);
    REQUIRE(H5Dclose(other) >= 0 && H5Fclose(again) >= 0);
  }
  REQUIRE(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
}

static void open_again(const char *name) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), other = make_file(name, fapl);
  hid_t dataset = make(other, "d", 0);
  for (int k = 0; k < 4; ++k) {
    put(dataset, k);
    REQUIRE(H5Dclose(dataset) >= 0 && H5Fclose(other) >= 0);
    for (int writes = 0; writes < 2; ++writes) {
      other = H5Fopen(name, writes ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
      REQUIRE(other >= 0);
      dataset = H5Dopen2(other, "d", H5P_DEFAULT);
      check_all(dataset, k);
      if (!writes) REQUIRE(H5Dclose(dataset) >= 0 && H5Fclose(other) >= 0);
    }
  }
  put(dataset, 4);
  REQUIRE(H5Dclose(dataset) >= 0 && H5Fclose(other) >= 0);
}

/* What has been read since the flush is in the logs, but the file does not have what it is about.
 */
static void read_unflushed(const char *name) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = make_file(name, fapl);
  hid_t dataset = make(file, "d", 0);
  put(dataset, 1);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  put(dataset, 2);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const hsize_t longer = 80 * (hsize_t)ranks, first = 50 * (hsize_t)ranks + (hsize_t)rank, one = 1;
  REQUIRE(H5Dset_extent(dataset, &longer) >= 0);
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &one, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL);
  int value = 3, found = 0;
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value) >= 0);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &found) >= 0);
  REQUIRE(found == 3);
  hid_t other = make(file, "new", 0);
  const hsize_t mine = (hsize_t)rank;
  space = H5Dget_space(other);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &mine, NULL, &one, NULL);
  put(other, 4);
  REQUIRE(H5Dread(other, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &found) >= 0);
  REQUIRE(found == 4);
  MPI_Barrier(MPI_COMM_WORLD);
  kill(getpid(), SIGKILL);
}

static void put_element(hid_t dataset, hsize_t where, int value) {
  hid_t space = H5Dget_space(dataset), memory = H5Screate(H5S_SCALAR);
  H5Sselect_elements(space, H5S_SELECT_SET, 1, &where);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value) >= 0);
}

/* The flush covers the first element and the last one, which lies where nobody can write any more.
   Of what comes later the first element is written before the second one. */
static void die_while_settling(const char *name) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), file = make_file(name, fapl);
  const hsize_t size = 16 << 20, first = 0, one = 1;
  hid_t space = H5Screate_simple(1, &size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
  hid_t dataset = H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  put_element(dataset, 0, 1);
  put_element(dataset, size - 1, 1);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  put_element(dataset, 0, 2);
  put_element(dataset, 1, 3);
  const struct rlimit half = {2 * size, 2 * size}, none = {0, 0};
  REQUIRE(setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_FSIZE, &half) == 0);
  hid_t together = H5Pcreate(H5P_DATASET_XFER), memory = H5Screate_simple(1, &one, NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &one, NULL);
  int found = 0;
  H5Dread(dataset, H5T_NATIVE_INT, memory, space, together, &found);
  REQUIRE(!"alive");
}

/* In step k each rank writes numbers from 1000 k on: to elements that all of them write, and to
   some of its own. Every fifth step they read together, which puts all in order. */
static void make_steps(const char *name) {
  enum { kShared = 300, kOwn = 200 };
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  const hsize_t size = 2 * (kShared + kOwn * (hsize_t)ranks), count = kShared + kOwn;
  hid_t space = H5Screate_simple(1, &size, NULL), memory = H5Screate_simple(1, &count, NULL);
  hid_t dataset =
      H5Dcreate2(file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t two = 2, zero = 0, shared = kShared, own = kOwn;
  const hsize_t mine = 2 * (kShared + kOwn * (hsize_t)rank);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &zero, &two, &shared, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_OR, &mine, &two, &own, NULL);
  int *values = malloc(size * sizeof *values);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  char path[4096];
  snprintf(path, sizeof path, "%s.steps", name);
  const int steps = rank == 0 ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  for (int step = 1; step < 1000000; ++step) {
    for (hsize_t i = 0; i < count; ++i) values[i] = 1000 * step + rank;
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0);
    REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    REQUIRE(rank > 0 || write(steps, ".", 1) == 1);
    if (step % 5 == 0)
      REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values) >= 0);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 3);
  if (strcmp(argv[1], "steps") == 0) make_steps(argv[2]);
  if (strcmp(argv[1], "settling") == 0) die_while_settling(argv[2]);
  if (strcmp(argv[1], "unflushed") == 0) read_unflushed(argv[2]);
  if (strcmp(argv[1], "twice") == 0) {
    open_twice(argv[2]);
  } else if (strcmp(argv[1], "again") == 0) {
    open_again(argv[2]);
  } else if (strcmp(argv[1], "part") == 0) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    REQUIRE(open_file(argv[2], H5F_ACC_RDWR) < 0);
  } else {
    hid_t file = open_file(argv[2], strcmp(argv[1], "open") == 0 ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    REQUIRE(file >= 0);
    strcmp(argv[1], "alone") == 0 ? read_alone(file, argv[2]) : check_file(file, argv[2]);
    REQUIRE(H5Fclose(file) >= 0);
  }
  printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  MPI_Finalize();
  return 0;
}
