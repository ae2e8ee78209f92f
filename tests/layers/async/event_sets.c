/* A program with event sets, for tests/layers/async/test_event_sets.py: event_sets FILE WHAT.
 * It prints one line for each thing it finds out, and ends with status 0 when all calls did what
 * HDF5's manual says. */
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "require.h"

#define ROWS 64
#define COLUMNS 65536
#define BLOCKS 16

static int32_t value(size_t block, size_t i) { return (int32_t)(block * 7919 + i * 31); }

static int32_t *filled(size_t block, size_t count) {
  int32_t *data = malloc(count * sizeof *data);
  for (size_t i = 0; i < count; ++i) data[i] = value(block, i);
  return data;
}

static hid_t rows(hid_t dataset, size_t first, size_t count) {
  hsize_t start[2] = {first, 0};
  hsize_t size[2] = {count, COLUMNS};
  hid_t space = H5Dget_space(dataset);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL));
  return space;
}

static hid_t created(hid_t file, const char *name) {
  hsize_t size[2] = {ROWS, COLUMNS};
  hid_t space = H5Screate_simple(2, size, NULL);
  hid_t dataset =
      H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(dataset);
  REQUIRE(H5Sclose(space));
  return dataset;
}

static void wait_for_all(hid_t set) {
  size_t left = 1;
  hbool_t failed = 1;
  REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
  EXPECT(left == 0 && !failed);
}

/* Rows of blocks lent one after the other, in two files; nothing is touched before the wait. */
static void lend(const char *name) {
  char second[4096];
  snprintf(second, sizeof second, "%s.second", name);
  hid_t set = H5EScreate();
  hid_t files[2] = {H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    H5Fcreate(second, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)};
  hid_t datasets[2] = {created(files[0], "d"), created(files[1], "d")};
  const size_t each = ROWS / BLOCKS;
  int32_t *data[BLOCKS];
  size_t most = 0;
  for (size_t block = 0; block < BLOCKS; ++block) {
    hsize_t count = each * COLUMNS;
    data[block] = filled(block, count);
    for (int i = 0; i < 2; ++i) {
      hid_t space = rows(datasets[i], block * each, each);
      hid_t memory = H5Screate_simple(1, &count, NULL);
      REQUIRE(H5Dwrite_async(datasets[i], H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, data[block],
                             set));
      REQUIRE(H5Sclose(memory));
      REQUIRE(H5Sclose(space));
    }
    size_t now = 0;
    REQUIRE(H5ESget_count(set, &now));
    most = now > most ? now : most;
  }
  printf("requests %s\n", most > 0 ? "some" : "none");
  wait_for_all(set);
  for (size_t block = 0; block < BLOCKS; ++block) {
    memset(data[block], 0, each * COLUMNS * sizeof **data);
    free(data[block]);
  }
  REQUIRE(H5ESclose(set));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(H5Dclose(datasets[i]));
    REQUIRE(H5Fclose(files[i]));
  }
}

/* A one-dimensional memory selection that does not start at 0, rewritten while under way, read
 * back at once through the same file. */
static void offsets(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t dataset = created(file, "d");
  hsize_t all = (hsize_t)ROWS * COLUMNS, start = 12345, count = 4 * COLUMNS;
  int32_t *old = filled(1, all), *new = filled(2, all), *seen = malloc(all * sizeof *seen);
  hid_t memory = H5Screate_simple(1, &all, NULL);
  REQUIRE(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &start, NULL, &count, NULL));
  hid_t space = rows(dataset, 3, 4);
  REQUIRE(H5Dwrite_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, old, set));
  REQUIRE(H5Dwrite_async(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, new, set));
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen));
  for (size_t i = 0; i < all; ++i) {
    const int inside = i >= 3 * COLUMNS && i < 7 * COLUMNS;
    EXPECT(seen[i] == (inside ? value(2, i - 3 * COLUMNS + start) : value(1, i)));
  }
  wait_for_all(set);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

/* The file ends before the program has waited. */
static void close_first(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate_async(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT, set);
  hid_t dataset = created(file, "d");
  int32_t *data = filled(5, (size_t)ROWS * COLUMNS);
  REQUIRE(H5Dwrite_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data, set));
  REQUIRE(H5Dclose_async(dataset, set));
  REQUIRE(H5Fclose_async(file, set));
  wait_for_all(set);
  free(data);
  REQUIRE(H5ESclose(set));
}

/* A slow device: a limit on the wait is kept, then all ends well. */
static void limits(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t dataset = created(file, "d");
  int32_t *data = filled(6, (size_t)ROWS * COLUMNS);
  size_t left = 0;
  hbool_t failed = 1;
  H5ES_status_t status;
  REQUIRE(H5Dwrite_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data, set));
  REQUIRE(H5ESwait(set, 1000, &left, &failed));
  EXPECT(!failed);
  printf("after a microsecond %s\n", left > 0 ? "some" : "none");
  if (left > 0) {
    size_t not_canceled = 0;
    REQUIRE(H5EScancel(set, &not_canceled, &failed));
    EXPECT(not_canceled == left && !failed);
  }
  (void)status;
  wait_for_all(set);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

enum { PARTS = 4, PART = 128 };

/* Small reads far from one another, into `found`, by the event set or, for H5ES_NONE, at once. In
 * microseconds, what each took. */
static double read_parts(hid_t dataset, int32_t found[][PART], hid_t set) {
  const hsize_t size = PART;
  hid_t memory = H5Screate_simple(1, &size, NULL), space = H5Dget_space(dataset);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (size_t i = 0; i < ROWS * PARTS; ++i) {
    const hsize_t start[2] = {i / PARTS, i % PARTS * (COLUMNS / PARTS)}, count[2] = {1, PART};
    REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    REQUIRE(H5Dread_async(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, found[i], set));
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  REQUIRE(H5Sclose(space));
  REQUIRE(H5Sclose(memory));
  const double seconds = difftime(end.tv_sec, begin.tv_sec);
  return (seconds * 1e6 + (double)(end.tv_nsec - begin.tv_nsec) / 1e3) / (ROWS * PARTS);
}

/* Whether there is a request for each small read in every round, and how long reads without an
 * event set take at best. */
static void paces(const char *name) {
  enum { ROUNDS = 5 };
  static int32_t found[ROWS * PARTS][PART];
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t dataset = created(file, "d");
  int32_t *data = filled(7, (size_t)ROWS * COLUMNS);
  size_t least = ROWS * PARTS;
  double fastest = 1e6;
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL));
  for (int round = 0; round < ROUNDS && least == ROWS * PARTS; ++round) {
    memset(found, 0, sizeof found);
    read_parts(dataset, found, set);
    size_t requests = 0;
    REQUIRE(H5ESget_count(set, &requests));
    if (requests < least) least = requests;
    wait_for_all(set);
    for (size_t i = 0; i < ROWS * PARTS; ++i)
      EXPECT(memcmp(found[i], &data[i * COLUMNS / PARTS], sizeof found[i]) == 0);
    const double each = read_parts(dataset, found, H5ES_NONE);
    if (each < fastest) fastest = each;
  }
  printf("%s\n%.1f\n", least == ROWS * PARTS ? "requests" : "at once", fastest);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Dclose(dataset));
  REQUIRE(H5Fclose(file));
}

/* Every write to the device fails: the event set tells which call and why. */
static void fails(const char *name) {
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t dataset = created(file, "d");
  int32_t *data = filled(6, (size_t)ROWS * COLUMNS);
  size_t left = 0, failures = 0, told = 0;
  hbool_t failed = 0;
  H5ES_err_info_t info[4];
  H5E_BEGIN_TRY {
    if (H5Dwrite_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, data, set) < 0) {
      printf("failed at once\n");
      exit(0);
    }
  }
  H5E_END_TRY
  REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
  EXPECT(failed);
  REQUIRE(H5ESget_err_count(set, &failures));
  EXPECT(failures == 1);
  REQUIRE(H5ESget_err_info(set, 4, info, &told));
  EXPECT(told == 1);
  printf("failed: %s\n", info[0].api_name);
  H5Eprint2(info[0].err_stack_id, stdout);
  fflush(stdout);
  H5E_BEGIN_TRY {
    printf("flush %s\n", H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? "fails" : "succeeds");
    H5ESclose(set);
    H5Dclose(dataset);
    H5Fclose(file);
  }
  H5E_END_TRY
}

/* A file that was made before: reads of its first row, so fast that the next are made at once, then
 * of the last, which HDF5 cannot decode. Who is told, at once or by the event set, is told why. */
static void damaged(const char *name) {
  static int32_t row[1024];
  hid_t set = H5EScreate(), file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT), space = H5Dget_space(dataset);
  const hsize_t count[2] = {1, 1024};
  hid_t memory = H5Screate_simple(1, &count[1], NULL), stack = H5I_INVALID_HID;
  hsize_t rows[2];
  REQUIRE(H5Sget_simple_extent_dims(space, rows, NULL));
  for (hsize_t i = 0; i < rows[0]; ++i) {
    const hsize_t start[2] = {i + 1 < rows[0] ? 0 : i, 0};
    size_t left = 0, told = 0;
    hbool_t failed = 0;
    H5ES_err_info_t info;
    REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
    H5E_BEGIN_TRY {
      if (H5Dread_async(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, row, set) < 0)
        stack = H5Eget_current_stack();
    }
    H5E_END_TRY
    if (i + 1 < rows[0] && i % 64 < 63) continue;
    REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
    if (!failed) continue;
    REQUIRE(H5ESget_err_info(set, 1, &info, &told));
    stack = info.err_stack_id;
  }
  EXPECT(stack != H5I_INVALID_HID);
  H5Eprint2(stack, stdout);
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[2] : "";
  if (strcmp(what, "lend") == 0)
    lend(argv[1]);
  else if (strcmp(what, "offsets") == 0)
    offsets(argv[1]);
  else if (strcmp(what, "close_first") == 0)
    close_first(argv[1]);
  else if (strcmp(what, "limits") == 0)
    limits(argv[1]);
  else if (strcmp(what, "paces") == 0)
    paces(argv[1]);
  else if (strcmp(what, "damaged") == 0)
    damaged(argv[1]);
  else if (strcmp(what, "fails") == 0)
    fails(argv[1]);
  else
    return 2;
  return 0;
}
