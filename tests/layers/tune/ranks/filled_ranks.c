/* Ranks with datasets that HDF5 fills when it sets their storage aside, of which they write parts,
 * in x.h5: new storage at the end of the file, storage that had other data, and more of a dataset.
 * What is not written is read as the fill value before the file is flushed, too. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_require.h"

enum { kRows = 60, kColumns = 512 };

static int rank, ranks;
static hid_t together;

static hid_t no_times(hid_t class) {
  hid_t list = H5Pcreate(class);
  REQUIRE(H5Pset_obj_track_times(list, 0) >= 0);
  return list;
}

static hid_t make(hid_t file, const char *name, hsize_t rows, double fill, int chunked) {
  const hsize_t size[2] = {rows, kColumns}, most[2] = {H5S_UNLIMITED, kColumns},
                chunk[2] = {7, 200};
  hid_t space = H5Screate_simple(2, size, chunked ? most : NULL);
  hid_t list = no_times(H5P_DATASET_CREATE);
  REQUIRE(H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC) >= 0);
  if (fill != 0) REQUIRE(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill) >= 0);
  if (chunked) REQUIRE(H5Pset_chunk(list, 2, chunk) >= 0);
  if (chunked > 1) REQUIRE(H5Pset_deflate(list, 1) >= 0);
  hid_t made = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Pclose(list);
  H5Sclose(space);
  return made;
}

/* Rows rank, rank + 2 * ranks, … of those from `first` to `end`. */
static void write_rows(hid_t dataset, hsize_t first, hsize_t end, hid_t list) {
  for (hsize_t row = first; row < end; row += 2 * (hsize_t)ranks) {
    const hsize_t mine = row + (hsize_t)rank, all = kColumns;
    const hsize_t start[2] = {mine, 0}, count[2] = {1, kColumns};
    double values[kColumns];
    for (int i = 0; i < kColumns; ++i) values[i] = (double)mine + 1;
    hid_t memory = H5Screate_simple(1, &all, NULL), space = H5Dget_space(dataset);
    if (mine < end)
      REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
    else
      REQUIRE(H5Sselect_none(space) >= 0 && H5Sselect_none(memory) >= 0);
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, list, values) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
  }
}

static void compare(hid_t dataset, hsize_t written, hsize_t rows, double fill) {
  double *values = malloc(rows * kColumns * sizeof *values);
  MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  for (hsize_t row = 0; row < rows; ++row) {
    const int is_written = row < written && row % (2 * (hsize_t)ranks) < (hsize_t)ranks;
    const double expected = is_written ? (double)row + 1 : fill;
    for (hsize_t i = 0; i < kColumns; ++i)
      if (values[row * kColumns + i] != expected) {
        char name[64] = "";
        H5Iget_name(dataset, name, sizeof name);
        fprintf(stderr, "%s [%d, %d] is %g\n", name, (int)row, (int)i, values[row * kColumns + i]);
        REQUIRE(!"equal");
      }
  }
  free(values);
}

static void fill_and_write(hid_t file, const char *name, double fill, int chunked, hid_t list) {
  hid_t made = make(file, name, kRows, fill, chunked);
  compare(made, 0, kRows, fill);
  MPI_Barrier(MPI_COMM_WORLD);
  write_rows(made, 0, kRows, list);
  compare(made, kRows, kRows, fill);
  if (chunked) {
    const hsize_t more[2] = {2 * kRows, kColumns};
    MPI_Barrier(MPI_COMM_WORLD);
    REQUIRE(H5Dset_extent(made, more) >= 0);
    compare(made, kRows, 2 * kRows, fill);
  }
  H5Dclose(made);
}

/* Where another dataset was: in the middle of the file, and at its end. */
static void take_the_place(hid_t file, const char *name, hsize_t rows) {
  REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0);
  hid_t made = make(file, name, rows, 0, 0);
  compare(made, 0, rows, 0);
  H5Dclose(made);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = no_times(H5P_FILE_CREATE);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  together = H5Pcreate(H5P_DATASET_XFER);
  REQUIRE(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE) >= 0);
  hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, fcpl, fapl);
  REQUIRE(file >= 0);
  fill_and_write(file, "contiguous", 0, 0, H5P_DEFAULT);
  fill_and_write(file, "contiguous_together", 0, 0, together);
  fill_and_write(file, "marked", 7.5, 0, together);
  fill_and_write(file, "chunked", 0, 1, H5P_DEFAULT);
  fill_and_write(file, "chunked_together", 0, 1, together);
  fill_and_write(file, "chunked_marked", 7.5, 1, together);
  fill_and_write(file, "deflated", 0, 2, together);
  fill_and_write(file, "last", 0, 0, together);
  take_the_place(file, "contiguous", kRows);
  take_the_place(file, "last", 2 * kRows);
  REQUIRE(H5Fclose(file) >= 0);
  file = H5Fopen("x.h5", H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  fill_and_write(file, "later", 0, 0, together);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(together);
  H5Pclose(fcpl);
  H5Pclose(fapl);
  printf("{\"rank\": %d}\n", rank);
  MPI_Finalize();
  return 0;
}
