/* Files that ranks have left in logs, as ranks find them: FILE.DATASET.expected holds what each
 * dataset must.
 *   mpi_kept read FILE    reads it independently, together, and both by turns
 *   mpi_kept open FILE    opens it for writing, which puts it in order, and reads it
 *   mpi_kept part FILE    the same, with one rank that cannot read one of the logs
 * Each rank prints a line of JSON at the end. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                                       \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "rank %d, line %d: not " #condition "\n", rank, __LINE__); \
      H5Eprint2(H5E_DEFAULT, stderr);                                            \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

static int rank, ranks;
static const char *const kNames[] = {"contiguous", "chunked", "deflated", "doubles"};

static hid_t open_file(const char *name, unsigned flags) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
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

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 3);
  if (strcmp(argv[1], "part") == 0) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    REQUIRE(open_file(argv[2], H5F_ACC_RDWR) < 0);
  } else {
    hid_t file = open_file(argv[2], strcmp(argv[1], "open") == 0 ? H5F_ACC_RDWR : H5F_ACC_RDONLY);
    REQUIRE(file >= 0);
    check_file(file, argv[2]);
    REQUIRE(H5Fclose(file) >= 0);
  }
  printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  MPI_Finalize();
  return 0;
}
