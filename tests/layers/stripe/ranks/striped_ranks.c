/* Ranks with one file in pieces: striped_ranks DRIVER CASE FILE. Each prints a line of JSON with
 * its rank. DRIVER: `mpio`, which a layer may stand in for, `subfiling`, HDF5's own, or `default`.
 * CASE:
 *   write    makes the datasets below; row r is written by rank r % ranks
 *   rewrite  writes what is there to one of them again
 *   append   writes to some of them again, and makes one more
 *   read     compares all of them, together and each rank by itself
 *   atomic   tells what was said to a wish for atomic transfers
 *   asked    tells which subfiles this rank has written to, and asks for one file at the close
 *   address  makes one of the datasets; the last rank asks where it lies
 *   delete   removes the file
 *   open     tells what was said to opening a file that exists
 *   fail     tells what was said to opening, writing, flushing and closing a file
 *   fail_together  the same, of a write that ranks make together
 * An element is its place, 1000 * row + column, plus 7 where it was appended. */
#include <hdf5.h>
#include <headrace/stripe.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_require.h"

enum { kRows = 50, kColumns = 1000, kAppended = 7 };

static int rank, ranks;
static const char *driver, *path;

static hid_t access_list(void) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  if (strcmp(driver, "mpio") == 0) {
    REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  } else {
    REQUIRE(H5Pset_mpi_params(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    if (strcmp(driver, "subfiling") == 0) REQUIRE(H5Pset_fapl_subfiling(fapl, NULL) >= 0);
  }
  return fapl;
}

static hid_t transfer_list(int together) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  REQUIRE(H5Pset_dxpl_mpio(list, together ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT) >= 0);
  return list;
}

/* Every so many rows, from this rank's on. */
static hid_t rows_of_mine(hid_t dataset, hsize_t *count) {
  hid_t space = H5Dget_space(dataset);
  const hsize_t start[2] = {(hsize_t)rank, 0};
  const hsize_t stride[2] = {(hsize_t)ranks, 1};
  const hsize_t counts[2] = {(hsize_t)(kRows - rank + ranks - 1) / ranks, kColumns};
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, counts, NULL) >= 0);
  *count = counts[0];
  return space;
}

static void fill(double *values, hsize_t rows, int add) {
  for (hsize_t i = 0; i < rows; ++i)
    for (int j = 0; j < kColumns; ++j)
      values[i * kColumns + j] = (double)(1000 * (rank + i * ranks) + j + add);
}

static hid_t make(hid_t file, const char *name, hid_t type, int chunked, int deflated) {
  const hsize_t size[2] = {kRows, kColumns}, chunk[2] = {7, 300};
  hid_t space = H5Screate_simple(2, size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) REQUIRE(H5Pset_chunk(dcpl, 2, chunk) >= 0);
  if (deflated) REQUIRE(H5Pset_deflate(dcpl, 1) >= 0);
  hid_t made = H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Sclose(space);
  H5Pclose(dcpl);
  return made;
}

static char wrote[400]; /* what the last write has said */

/* The description of the first error, without quotation marks. */
static herr_t note_cause(unsigned n, const H5E_error2_t *error, void *text) {
  if (n == 0) snprintf(text, 400, "%s", error->desc);
  for (char *at = text; *at != '\0'; ++at)
    if (*at == '"' || *at == '\\') *at = '\'';
  return 0;
}

static void told(herr_t result, char *text) {
  text[0] = '\0';
  if (result < 0) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, note_cause, text);
}

static herr_t write_rows(hid_t dataset, int together, int add) {
  hsize_t rows = 0;
  hid_t space = rows_of_mine(dataset, &rows), list = transfer_list(together);
  const hsize_t size[2] = {rows, kColumns};
  hid_t memory = H5Screate_simple(2, size, NULL);
  double *values = malloc((rows + 1) * kColumns * sizeof *values);
  fill(values, rows, add);
  const herr_t done = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, list, values);
  told(done, wrote);
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(list);
  return done;
}

static void write_new(hid_t file, const char *name, hid_t type, int kind, int together) {
  hid_t made = make(file, name, type, kind > 0, kind > 1);
  REQUIRE(write_rows(made, together, 0) >= 0);
  H5Dclose(made);
}

/* Datasets with filters and without in one call. */
static void write_several(hid_t file) {
  hid_t made[2] = {make(file, "several_deflated", H5T_NATIVE_DOUBLE, 1, 1),
                   make(file, "several_plain", H5T_NATIVE_DOUBLE, 1, 0)};
  hsize_t rows = 0;
  hid_t space = rows_of_mine(made[0], &rows), list = transfer_list(1);
  const hsize_t size[2] = {rows, kColumns};
  hid_t memory = H5Screate_simple(2, size, NULL);
  hid_t types[2] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE};
  hid_t memories[2] = {memory, memory}, spaces[2] = {space, space};
  double *values = malloc((rows + 1) * kColumns * sizeof *values);
  fill(values, rows, 0);
  const void *buffers[2] = {values, values};
  REQUIRE(H5Dwrite_multi(2, made, types, memories, spaces, list, buffers) >= 0);
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(list);
  H5Dclose(made[0]);
  H5Dclose(made[1]);
}

static void write_all(void) {
  hid_t fapl = access_list();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  /* HDF5's own subfiling refuses collective transfers that it cannot take as selections. */
  write_new(file, "contiguous", H5T_NATIVE_DOUBLE, 0, 1);
  write_new(file, "alone", H5T_NATIVE_DOUBLE, 0, 0);
  write_new(file, "chunked", H5T_NATIVE_DOUBLE, 1, 1);
  write_new(file, "chunked_alone", H5T_NATIVE_DOUBLE, 1, 0);
  write_new(file, "deflated", H5T_NATIVE_DOUBLE, 2, 1);
  write_new(file, "converted", H5T_STD_I32BE, 0, 1);
  if (strcmp(driver, "mpio") == 0) write_several(file);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

static void rewrite(void) {
  hid_t fapl = access_list();
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  hid_t again = H5Dopen2(file, "contiguous", H5P_DEFAULT);
  REQUIRE(write_rows(again, 0, 0) >= 0);
  H5Dclose(again);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

static void append(void) {
  hid_t fapl = access_list();
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  hid_t again = H5Dopen2(file, "contiguous", H5P_DEFAULT);
  REQUIRE(write_rows(again, 0, kAppended) >= 0);
  H5Dclose(again);
  again = H5Dopen2(file, "deflated", H5P_DEFAULT);
  REQUIRE(write_rows(again, 1, kAppended) >= 0);
  H5Dclose(again);
  write_new(file, "later", H5T_NATIVE_DOUBLE, 1, 1);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

static void compare(hid_t file, const char *name, int together, int add) {
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), list = transfer_list(together);
  double *values = calloc((size_t)kRows * kColumns, sizeof *values);
  REQUIRE(dataset >= 0);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, list, values) >= 0);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      if (values[i * kColumns + j] != (double)(1000 * i + j + add)) {
        fprintf(stderr, "%s together %d: [%d, %d] is %g\n", name, together, i, j,
                values[i * kColumns + j]);
        REQUIRE(!"equal");
      }
  hsize_t rows = 0; /* and those of this rank only */
  hid_t space = rows_of_mine(dataset, &rows);
  const hsize_t size[2] = {rows, kColumns};
  hid_t memory = H5Screate_simple(2, size, NULL);
  memset(values, 0, (size_t)kRows * kColumns * sizeof *values);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, list, values) >= 0);
  for (hsize_t i = 0; i < rows; ++i)
    for (int j = 0; j < kColumns; ++j)
      REQUIRE(values[i * kColumns + j] == (double)(1000 * (rank + i * ranks) + j + add));
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  H5Pclose(list);
  H5Dclose(dataset);
}

static herr_t compare_one(hid_t file, const char *name, const H5L_info2_t *info, void *appended) {
  (void)info;
  const int later = H5Lexists(file, "later", H5P_DEFAULT) > 0;
  const int again = strcmp(name, "contiguous") == 0 || strcmp(name, "deflated") == 0;
  const int own = strcmp(driver, "subfiling") == 0;
  /* HDF5's own subfiling refuses some collective reads. */
  if (!own) compare(file, name, 1, later && again ? kAppended : 0);
  compare(file, name, 0, later && again ? kAppended : 0);
  ++*(int *)appended;
  return 0;
}

static void read_all(void) {
  hid_t fapl = access_list();
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
  int count = 0;
  REQUIRE(file >= 0);
  REQUIRE(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, compare_one, &count) >= 0);
  REQUIRE(count >= 6);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

static void fail(int together) {
  char opened[400], flushed[400] = "", closed[400] = "";
  hid_t fapl = access_list();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  told(file < 0 ? -1 : 0, opened);
  if (file >= 0) {
    hid_t made = make(file, "contiguous", H5T_NATIVE_DOUBLE, 0, 0);
    write_rows(made, together, 0);
    told(H5Fflush(file, H5F_SCOPE_GLOBAL), flushed);
    H5Dclose(made);
    told(H5Fclose(file), closed);
  }
  H5Pclose(fapl);
  // At once: those of other ranks come in between.
  printf(
      "{\"rank\": %d, \"opened\": \"%s\", \"wrote\": \"%s\", "
      "\"flushed\": \"%s\", \"closed\": \"%s\"}\n",
      rank, opened, wrote, flushed, closed);
}

static void open_only(void) {
  char opened[400];
  hid_t fapl = access_list();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, fapl);
  told(file < 0 ? -1 : 0, opened);
  if (file >= 0) H5Fclose(file);
  H5Pclose(fapl);
  printf("{\"rank\": %d, \"opened\": \"%s\"}\n", rank, opened);
}

static void atomic(void) {
  char said[400];
  hid_t fapl = access_list();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  told(H5Fset_mpi_atomicity(file, 1), said);
  REQUIRE(H5Fset_mpi_atomicity(file, 0) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
  printf("{\"rank\": %d, \"said\": \"%s\"}\n", rank, said);
}

static void delete_file(void) {
  hid_t fapl = access_list();
  REQUIRE(H5Fdelete(path, fapl) >= 0);
  H5Pclose(fapl);
}

static void asked(void) {
  char written[20] = "";
  headrace_subfiles_t subfiles;
  hid_t fapl = access_list();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  write_new(file, "contiguous", H5T_NATIVE_DOUBLE, 0, 0);
  const int told_of = headrace_subfiles(file, &subfiles);
  REQUIRE(subfiles.count < sizeof written);
  for (size_t k = 0; k < subfiles.count; ++k) {
    REQUIRE(strstr(subfiles.path[k], path) != NULL);
    written[k] = subfiles.written[k] ? '1' : '0';
  }
  const int stripe = (int)subfiles.stripe;
  const int fuse = headrace_fuse(file, HEADRACE_FUSE_CLOSE), wrong = headrace_fuse(file, 7);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
  printf("{\"rank\": %d, \"told\": [%d, %d, %d], \"written\": \"%s\", \"stripe\": %d}\n", rank,
         told_of, fuse, wrong, written, stripe);
}

static void address(void) {
  hid_t fapl = access_list();
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  write_new(file, "contiguous", H5T_NATIVE_DOUBLE, 0, 0);
  if (rank == ranks - 1) {
    hid_t dataset = H5Dopen2(file, "contiguous", H5P_DEFAULT);
    REQUIRE(H5Dget_offset(dataset) != HADDR_UNDEF);
    H5Dclose(dataset);
  }
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

int main(int argc, char **argv) {
  int provided = 0;
  driver = argc == 4 ? argv[1] : "";
  const int own = strcmp(driver, "subfiling") == 0;
  if (own)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  REQUIRE(argc == 4);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char *todo = argv[2];
  path = argv[3];
  if (strcmp(todo, "write") == 0)
    write_all();
  else if (strcmp(todo, "append") == 0)
    append();
  else if (strcmp(todo, "rewrite") == 0)
    rewrite();
  else if (strcmp(todo, "read") == 0)
    read_all();
  else if (strcmp(todo, "atomic") == 0)
    atomic();
  else if (strcmp(todo, "asked") == 0)
    asked();
  else if (strcmp(todo, "address") == 0)
    address();
  else if (strcmp(todo, "delete") == 0)
    delete_file();
  else if (strcmp(todo, "open") == 0)
    open_only();
  else
    fail(strcmp(todo, "fail_together") == 0);
  if (strncmp(todo, "fail", 4) != 0 && strcmp(todo, "atomic") != 0 && strcmp(todo, "asked") != 0 &&
      strcmp(todo, "open") != 0)
    printf("{\"rank\": %d}\n", rank);
  H5close();
  MPI_Finalize();
  return 0;
}
