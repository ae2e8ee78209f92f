/* A program that writes and selects many boxes, for tests/layers/log/test_boxes.py: boxes FILE.
 * It ends with status 0 when all calls did what headrace/log.h says. */
#include <hdf5.h>
#include <headrace/log.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

#define ROWS 97
#define COLUMNS 61
#define BOXES 500

static hsize_t start[BOXES][2], count[BOXES][2];
static int32_t expected[ROWS][COLUMNS];

/* Overlapping boxes, some of them empty; fills what a dataset holds after them. Returns the
 * elements, which the caller frees. */
static void *boxes(int seed, int wide, size_t *elements) {
  int32_t *narrow = malloc(sizeof(int32_t) * BOXES * 16);
  int64_t *broad = malloc(sizeof(int64_t) * BOXES * 16);
  size_t n = 0;
  EXPECT(narrow != NULL && broad != NULL);
  srand((unsigned)seed);
  for (size_t i = 0; i < BOXES; ++i) {
    start[i][0] = (hsize_t)(rand() % (ROWS - 4));
    start[i][1] = (hsize_t)(rand() % (COLUMNS - 4));
    count[i][0] = (hsize_t)(rand() % 5);
    count[i][1] = (hsize_t)(1 + rand() % 4);
    for (hsize_t y = 0; y < count[i][0]; ++y)
      for (hsize_t x = 0; x < count[i][1]; ++x, ++n) {
        narrow[n] = (int32_t)n * 3 + seed;
        broad[n] = narrow[n];
        expected[start[i][0] + y][start[i][1] + x] = narrow[n];
      }
  }
  *elements = n;
  free(wide ? (void *)narrow : (void *)broad);
  return wide ? (void *)broad : (void *)narrow;
}

static hid_t created(hid_t file, const char *name, int chunked) {
  const hsize_t extent[2] = {ROWS, COLUMNS}, chunk[2] = {16, 16};
  const hid_t space = H5Screate_simple(2, extent, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) REQUIRE(H5Pset_chunk(list, 2, chunk));
  const hid_t dataset =
      H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  REQUIRE(dataset);
  REQUIRE(H5Pclose(list));
  REQUIRE(H5Sclose(space));
  return dataset;
}

/* Twice, so that later calls win; the second time converted. */
static void write_and_compare(hid_t file, const char *name, int chunked) {
  static int32_t found[ROWS][COLUMNS];
  const hid_t dataset = created(file, name, chunked);
  memset(expected, 0, sizeof expected);
  for (int wide = 0; wide < 2; ++wide) {
    size_t elements = 0;
    void *values = boxes(1 + wide + 2 * chunked, wide, &elements);
    EXPECT(headrace_write_n(dataset, wide ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32, BOXES,
                            &start[0][0], &count[0][0], values) == HEADRACE_DONE);
    free(values);
  }
  EXPECT(headrace_write_n(dataset, H5T_NATIVE_INT32, 0, NULL, NULL, NULL) == HEADRACE_DONE);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found));
  EXPECT(memcmp(found, expected, sizeof found) == 0);
  REQUIRE(H5Dclose(dataset));
}

/* The last one reaches beyond the extent. */
static void refuse(hid_t file) {
  const int32_t values[4] = {1, 2, 3, 4};
  const hsize_t from[2][2] = {{0, 0}, {ROWS - 1, COLUMNS - 1}}, size[2][2] = {{1, 2}, {1, 2}};
  const hsize_t far[1][2] = {{(hsize_t)-1, 0}};
  const hid_t dataset = created(file, "refused", 0);
  H5E_BEGIN_TRY {
    EXPECT(headrace_write_n(dataset, H5T_NATIVE_INT32, 2, &from[0][0], &size[0][0], values) ==
           HEADRACE_FAILED);
    EXPECT(headrace_write_n(dataset, H5T_NATIVE_INT32, 1, &far[0][0], &size[0][0], values) ==
           HEADRACE_FAILED);
    EXPECT(headrace_write_n(dataset, -1, 1, &from[0][0], &size[0][0], values) == HEADRACE_FAILED);
    EXPECT(headrace_write_n(-1, H5T_NATIVE_INT32, 1, &from[0][0], &size[0][0], values) ==
           HEADRACE_FAILED);
  }
  H5E_END_TRY
  REQUIRE(H5Dclose(dataset));
}

/* The union by halves is the one that HDF5 builds box by box. */
static void select_boxes(void) {
  const hsize_t extent[2] = {ROWS, COLUMNS};
  const hid_t space = H5Screate_simple(2, extent, NULL);
  size_t elements = 0;
  free(boxes(9, 0, &elements));
  for (size_t i = 0; i < BOXES; ++i) ++count[i][0];
  for (size_t n = 1; n <= BOXES; n = n * 3 + 1) {
    const hid_t halves = headrace_select_n(space, n, &start[0][0], &count[0][0]);
    REQUIRE(halves);
    REQUIRE(H5Sselect_none(space));
    for (size_t i = 0; i < n; ++i)
      REQUIRE(H5Sselect_hyperslab(space, i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start[i], NULL,
                                  count[i], NULL));
    EXPECT(H5Sget_select_npoints(halves) == H5Sget_select_npoints(space));
    /* HDF5 1.14.5 crashes where nothing is left, as in the difference. */
    const hid_t both = H5Scombine_select(halves, H5S_SELECT_AND, space);
    EXPECT(H5Sget_select_npoints(both) == H5Sget_select_npoints(space));
    REQUIRE(H5Sclose(both));
    REQUIRE(H5Sclose(halves));
  }
  REQUIRE(H5Sclose(space));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(file);
  select_boxes();
  write_and_compare(file, "contiguous", 0);
  write_and_compare(file, "chunked", 1);
  refuse(file);
  REQUIRE(H5Fclose(file));
  return 0;
}
