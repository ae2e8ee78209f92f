/* A program of large asynchronous reads, beside which it goes on, for
 * tests/layers/async/test_large_requests.py: large_requests FILE WHAT [SEED]. It ends with status 0
 * when all is as it must be. */
#include <hdf5.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"
#include "require.h"

enum { ROWS = 48, LARGE = 65536, MOST = 256 };

/* Reads of whole rows into memory of their own, while rows are written. With `level` in compressed
 * chunks. */
static void large(const char *name, unsigned level) {
  static int32_t rows_of_file[ROWS][LARGE];
  const hsize_t all[2] = {ROWS, LARGE};
  int32_t *memory[MOST], *expected[MOST];
  size_t sizes[MOST];
  int count = 0;
  hid_t set = H5EScreate();
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(2, all, NULL);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {2, LARGE / 4};
  if (level > 0) {
    REQUIRE(H5Pset_chunk(dcpl, 2, chunk));
    REQUIRE(H5Pset_deflate(dcpl, level));
  }
  hid_t dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(dataset);
  for (int32_t i = 0; i < ROWS * LARGE; ++i) rows_of_file[i / LARGE][i % LARGE] = i * 7;
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows_of_file));
  for (int step = 0; step < 400; ++step) {
    const hsize_t start[2] = {below(ROWS), 0};
    const hsize_t size[2] = {1 + below(4 < ROWS - (unsigned)start[0] ? 4 : 1), LARGE};
    const size_t bytes = (size_t)size[0] * LARGE * sizeof **memory;
    const hsize_t elements = size[0] * LARGE;
    hid_t part = box_of(all, start, size);
    hid_t lines = H5Screate_simple(1, &elements, NULL);
    const unsigned what = below(10);
    if (count + 2 > MOST || what == 0) {
      size_t left = 1;
      hbool_t failed = 1;
      REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
      EXPECT(left == 0 && !failed);
      for (; count > 0; --count) {
        EXPECT(memcmp(memory[count - 1], expected[count - 1], sizes[count - 1]) == 0);
        free(memory[count - 1]);
        free(expected[count - 1]);
      }
    }
    if (what == 1) REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL));
    memory[count] = malloc(bytes);
    expected[count] = malloc(bytes);
    sizes[count] = bytes;
    if (what < 8) {
      memset(memory[count], 0x5a, bytes);
      memcpy(expected[count], rows_of_file[start[0]], bytes);
      REQUIRE(
          H5Dread_async(dataset, H5T_NATIVE_INT32, lines, part, H5P_DEFAULT, memory[count], set));
    } else {
      for (size_t i = 0; i < elements; ++i) memory[count][i] = (int32_t)below(1 << 30);
      memcpy(expected[count], memory[count], bytes);
      memcpy(rows_of_file[start[0]], memory[count], bytes);
      REQUIRE(H5Dwrite_async(dataset, H5T_NATIVE_INT32, lines, part, H5P_DEFAULT, memory[count],
                             what == 8 ? set : H5ES_NONE));
    }
    ++count;
    REQUIRE(H5Sclose(part));
    REQUIRE(H5Sclose(lines));
    if (step == 200) {
      const pid_t child = fork();
      int status = 1;
      if (child == 0) _exit(0);
      EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
  }
  REQUIRE(H5Dclose(dataset)); /* what is under way goes on */
  REQUIRE(H5Fclose(file));
  size_t left = 1;
  hbool_t failed = 1;
  REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
  EXPECT(left == 0 && !failed);
  for (; count > 0; --count)
    EXPECT(memcmp(memory[count - 1], expected[count - 1], sizes[count - 1]) == 0);
  REQUIRE(H5ESclose(set));
  REQUIRE(H5Pclose(dcpl));
  REQUIRE(H5Sclose(space));
}

enum how { WAITS, CLOSES, WRITES, SHRINKS };

/* A file that was made before, of which one chunk is damaged: one request fails, whatever the
 * program does to its datasets before it waits. */
static void damaged(const char *name, enum how how) {
  const hsize_t rows[2] = {ROWS, LARGE}, none[2] = {0, LARGE};
  static int32_t all[2][ROWS][LARGE], ones[ROWS][LARGE];
  hid_t set = H5EScreate();
  hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t first = H5Dopen2(file, "d", H5P_DEFAULT), second = H5Dopen2(file, "e", H5P_DEFAULT);
  size_t left = 0, told = 0;
  hbool_t failed = 0;
  H5ES_err_info_t info;
  REQUIRE(H5Dread_async(first, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all[0], set));
  REQUIRE(H5Dread_async(second, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all[1], set));
  memset(ones, 1, sizeof ones);
  if (how == WRITES) {
    REQUIRE(H5Dwrite(second, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones));
    REQUIRE(H5Fflush(file, H5F_SCOPE_LOCAL));
  }
  if (how == CLOSES) {
    REQUIRE(H5Dclose(first));
    REQUIRE(H5Dclose(second));
  }
  if (how == SHRINKS) {
    REQUIRE(H5Dset_extent(first, none));
    REQUIRE(H5Dset_extent(second, none));
    REQUIRE(H5Dset_extent(first, rows));
  }
  REQUIRE(H5ESwait(set, 1000000, &left, &failed));
  if (!failed) REQUIRE(H5ESwait(set, 3600000000000, &left, &failed));
  EXPECT(failed);
  REQUIRE(H5ESget_err_info(set, 1, &info, &told));
  EXPECT(told == 1);
  H5Eprint2(info.err_stack_id, stdout);
  REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
  EXPECT(left == 0);
  for (int32_t i = 0; i < ROWS * LARGE; ++i) EXPECT(all[1][i / LARGE][i % LARGE] == i);
}

/* Another dataset takes the place of one that is still being read. */
static void deleted(const char *name) {
  static int32_t all[ROWS][LARGE], found[ROWS][LARGE];
  const hsize_t rows[2] = {ROWS, LARGE};
  hid_t set = H5EScreate();
  hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t space = H5Screate_simple(2, rows, NULL);
  size_t left = 1;
  hbool_t failed = 1;
  for (int32_t i = 0; i < ROWS * LARGE; ++i) all[i / LARGE][i % LARGE] = i;
  for (hsize_t step = 1; step <= 8; ++step) {
    const hsize_t chunk[2] = {step, LARGE / step};
    hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    REQUIRE(H5Dread_async(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, found, set));
    REQUIRE(H5Dclose(dataset));
    REQUIRE(H5Ldelete(file, "d", H5P_DEFAULT));
    REQUIRE(H5Pset_chunk(dcpl, 2, chunk));
    REQUIRE(H5Pset_deflate(dcpl, 1));
    dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, all));
    REQUIRE(H5Dclose(dataset));
    REQUIRE(H5Pclose(dcpl));
    REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
    EXPECT(left == 0 && !failed && memcmp(all, found, sizeof all) == 0);
  }
  REQUIRE(H5Sclose(space));
  REQUIRE(H5Fclose(file));
}

int main(int argc, char **argv) {
  const char *what = argc > 2 ? argv[2] : "";
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  if (strcmp(what, "large") == 0)
    large(argv[1], 0);
  else if (strcmp(what, "large_chunks") == 0)
    large(argv[1], 1);
  else if (strcmp(what, "damaged") == 0)
    damaged(argv[1], WAITS);
  else if (strcmp(what, "damaged_closed") == 0)
    damaged(argv[1], CLOSES);
  else if (strcmp(what, "damaged_written") == 0)
    damaged(argv[1], WRITES);
  else if (strcmp(what, "damaged_shrunk") == 0)
    damaged(argv[1], SHRINKS);
  else if (strcmp(what, "deleted") == 0)
    deleted(argv[1]);
  else
    return 2;
  return 0;
}
