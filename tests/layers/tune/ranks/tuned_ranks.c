/* Ranks with one file: tuned_ranks CASE. Each prints a line of JSON with its rank.
 *   apart, strided, points, flushed   write elements of their own, or others' after a flush
 *   meet, meet_points, read           touch what another rank writes; told is what a flush says
 *   closed                            the same, told is what the close says
 *   whole                             all read a whole dataset together, in several ways
 *   hints                             told is what MPI-IO has been given
 *   refused                           told is why the file is not created */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_require.h"

enum { kEach = 1000 };

static int rank, ranks;

static hid_t create(void) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  if (file >= 0) H5Pclose(fapl); /* it would forget why not */
  return file;
}

static hid_t make_file(void) {
  hid_t file = create();
  REQUIRE(file >= 0);
  return file;
}

static hid_t make_dataset(hid_t file, const char *name) {
  hsize_t size = (hsize_t)kEach * ranks;
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t made = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Sclose(space);
  return made;
}

static herr_t transfer(hid_t dataset, hid_t space, int writes) {
  hsize_t count = (hsize_t)H5Sget_select_npoints(space);
  hid_t memory = H5Screate_simple(1, &count, NULL);
  int *values = calloc(count, sizeof *values);
  for (hsize_t i = 0; i < count; ++i) values[i] = rank + 1;
  herr_t done = writes ? H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values)
                       : H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values);
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  return done;
}

static hid_t slab(hid_t dataset, hsize_t start, hsize_t stride, hsize_t count) {
  hid_t space = H5Dget_space(dataset);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL) >= 0);
  return space;
}

static hid_t points(hid_t dataset, hsize_t first, hsize_t second) {
  hid_t space = H5Dget_space(dataset);
  const hsize_t both[2] = {first, second};
  REQUIRE(H5Sselect_elements(space, H5S_SELECT_SET, 2, both) >= 0);
  return space;
}

/* The description of the first error, without quotation marks. */
static herr_t note_cause(unsigned n, const H5E_error2_t *error, void *text) {
  (void)n;
  if (strstr(error->desc, "rank") != NULL) snprintf(text, 512, "%s", error->desc);
  return 0;
}

static void tell(herr_t result) {
  char text[512] = "";
  if (result < 0) H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, note_cause, text);
  printf("{\"rank\": %d, \"result\": %d, \"told\": \"%s\"}\n", rank, (int)result, text);
}

static void be_refused(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  tell(create() < 0 ? -1 : 0);
}

static void touch(const char *how, hid_t dataset) {
  const hsize_t mine = (hsize_t)kEach * rank, next = (hsize_t)kEach * ((rank + 1) % ranks);
  if (strcmp(how, "strided") == 0) {
    REQUIRE(transfer(dataset, slab(dataset, (hsize_t)rank, (hsize_t)ranks, kEach), 1) >= 0);
  } else if (strcmp(how, "points") == 0) {
    REQUIRE(transfer(dataset, points(dataset, mine + 7, mine + 3), 1) >= 0);
  } else if (strcmp(how, "meet_points") == 0) {
    REQUIRE(transfer(dataset, points(dataset, mine + 7, 5), 1) >= 0);
  } else {
    REQUIRE(transfer(dataset, slab(dataset, mine, 1, kEach), 1) >= 0);
  }
  if (strcmp(how, "meet") == 0 || strcmp(how, "closed") == 0)
    REQUIRE(transfer(dataset, slab(dataset, next + 10, 1, 5), 1) >= 0);
  if (strcmp(how, "read") == 0) REQUIRE(transfer(dataset, slab(dataset, next + 10, 1, 5), 0) >= 0);
}

static void keep_apart(const char *how) {
  hid_t file = make_file(), dataset = make_dataset(file, "numbers");
  touch(how, dataset);
  herr_t result = 0;
  H5E_auto2_t print = NULL;
  void *data = NULL;
  H5Eget_auto2(H5E_DEFAULT, &print, &data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (strcmp(how, "closed") != 0) result = H5Fflush(file, H5F_SCOPE_GLOBAL);
  if (result < 0 || strcmp(how, "closed") != 0) tell(result);
  if (strcmp(how, "flushed") == 0) {
    const hsize_t next = (hsize_t)kEach * ((rank + 1) % ranks);
    REQUIRE(transfer(dataset, slab(dataset, next, 1, kEach), 0) >= 0);
  }
  H5Dclose(dataset);
  result = H5Fclose(file);
  if (strcmp(how, "closed") == 0)
    tell(result);
  else
    REQUIRE(result >= 0);
  H5Eset_auto2(H5E_DEFAULT, print, data);
}

static void expect(const int *values, hsize_t count, int of) {
  for (hsize_t i = 0; i < count; ++i) REQUIRE(values[i] == of * 100000 + (int)i);
}

static void read_whole(void) {
  const hsize_t all = (hsize_t)kEach * ranks;
  int *values = malloc(all * sizeof *values);
  hid_t file = make_file();
  hid_t together = H5Pcreate(H5P_DATASET_XFER);
  REQUIRE(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE) >= 0);
  hid_t sets[2] = {make_dataset(file, "a"), make_dataset(file, "b")};
  for (int i = 0; i < 2; ++i) {
    for (hsize_t k = 0; k < all; ++k) values[k] = i * 100000 + (int)k;
    hid_t space = slab(sets[i], 0, 1, rank == 0 ? all : 1);
    if (rank != 0) H5Sselect_none(space);
    hid_t memory = H5Scopy(space);
    REQUIRE(H5Dwrite(sets[i], H5T_NATIVE_INT, memory, space, together, values) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
  }
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  /* The whole, by all: shared. */
  memset(values, 0, all * sizeof *values);
  REQUIRE(H5Dread(sets[0], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values) >= 0);
  expect(values, all, 0);
  /* The first half by rank 0, the whole by the others. */
  hid_t part = slab(sets[1], 0, 1, rank == 0 ? all / 2 : all), memory = H5Scopy(part);
  REQUIRE(H5Dread(sets[1], H5T_NATIVE_INT, memory, part, together, values) >= 0);
  expect(values, rank == 0 ? all / 2 : all, 1);
  H5Sclose(part);
  H5Sclose(memory);
  /* As another type on one rank. */
  double *numbers = malloc(all * sizeof *numbers);
  if (rank == 0) {
    REQUIRE(H5Dread(sets[1], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, together, numbers) >= 0);
    REQUIRE(numbers[3] == 100003.0);
  } else {
    REQUIRE(H5Dread(sets[1], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, together, values) >= 0);
    expect(values, all, 1);
  }
  /* As another type on all: shared. */
  REQUIRE(H5Dread(sets[1], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, together, numbers) >= 0);
  for (hsize_t i = 0; i < all; ++i) REQUIRE(numbers[i] == 100000.0 + (double)i);
  free(numbers);
  free(values);
  for (int i = 0; i < 2; ++i) H5Dclose(sets[i]);
  H5Pclose(together);
  H5Fclose(file);
  tell(0);
}

static void tell_hints(void) {
  MPI_Info given, used;
  MPI_Info_create(&given);
  MPI_Info_set(given, "cb_nodes", "1");
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, given) >= 0);
  hid_t file = H5Fcreate("x.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  hid_t told = H5Fget_access_plist(file);
  MPI_Comm comm;
  REQUIRE(H5Pget_fapl_mpio(told, &comm, &used) >= 0);
  char nodes[64] = "", size[64] = "";
  int found = 0;
  if (used != MPI_INFO_NULL) {
    MPI_Info_get(used, "cb_nodes", 63, nodes, &found);
    MPI_Info_get(used, "cb_buffer_size", 63, size, &found);
    MPI_Info_free(&used);
  }
  MPI_Comm_free(&comm);
  MPI_Info_free(&given);
  hbool_t together = 1;
  REQUIRE(H5Pget_all_coll_metadata_ops(told, &together) >= 0);
  printf("{\"rank\": %d, \"cb_nodes\": \"%s\", \"cb_buffer_size\": \"%s\", \"metadata\": %d}\n",
         rank, nodes, size, (int)together);
  H5Pclose(told);
  H5Pclose(fapl);
  H5Fclose(file);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 2);
  if (strcmp(argv[1], "whole") == 0)
    read_whole();
  else if (strcmp(argv[1], "refused") == 0)
    be_refused();
  else if (strcmp(argv[1], "hints") == 0)
    tell_hints();
  else
    keep_apart(argv[1]);
  MPI_Finalize();
  return 0;
}
