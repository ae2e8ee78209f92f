// cost_ops FOLDER: small operations of a program that knows nothing of Headrace, each some times to
// warm up and then as often as it says. Under callgrind only the latter is collected, of this
// thread, and dumped under the operation's name. (CALLGRIND_ZERO_STATS keeps a part of what was
// before.)
#include <gnu/libc-version.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { kWarm = 50, kCounted = 100, kAll = kWarm + kCounted };
enum { kFewWarm = 4, kFewCounted = 12 };  // of what is dear
enum { kRows = kAll, kColumns = 8, kLong = 64, kListed = 4, kLinks = 20 };

// A negative result ends the program.
#define OK(call) checked((hid_t)(call), #call)
static hid_t checked(hid_t result, const char* call) {
  if (result >= 0) return result;
  fprintf(stderr, "failed: %s\n", call);
  exit(1);
}

static void counted(const char* name, int count) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(name);
  printf("%s %d\n", name, count);
}

// Each statement knows its number, `i`.
#define COUNT_SOME(name, warm, count, statement)               \
  do {                                                         \
    for (int i = 0; i < (warm); i++) statement;                \
    CALLGRIND_TOGGLE_COLLECT;                                  \
    for (int i = (warm); i < (warm) + (count); i++) statement; \
    counted(name, count);                                      \
  } while (0)
#define COUNT(name, statement) COUNT_SOME(name, kWarm, kCounted, statement)

static double numbers[kAll * kLong];

static hid_t selected(hsize_t row, hsize_t column, hsize_t rows, hsize_t columns, hsize_t width) {
  const hsize_t dims[2] = {kRows, width};
  const hsize_t start[2] = {row, column}, count[2] = {rows, columns};
  const hid_t space = OK(H5Screate_simple(2, dims, NULL));
  OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
  return space;
}

// Rows that do not touch, in one selection.
static hid_t listed(int first) {
  const hid_t space = selected(first, 0, 1, kColumns, kColumns);
  for (int i = 1; i < kListed; i++) {
    const hsize_t start[2] = {(first + 7 * i) % kRows, 0}, count[2] = {1, kColumns};
    OK(H5Sselect_hyperslab(space, H5S_SELECT_OR, start, NULL, count, NULL));
  }
  return space;
}

static hid_t made(const char* file) {
  return OK(H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
}

// A dataset of rows with all its values, in a file of its own, which is closed.
static void prepare(const char* file, hsize_t width, hid_t dcpl) {
  const hid_t f = made(file), space = selected(0, 0, kRows, width, width);
  const hid_t d = OK(H5Dcreate2(f, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  OK(H5Dwrite(d, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
  OK(H5Dclose(d));
  OK(H5Sclose(space));
  OK(H5Fclose(f));
}

// The selections are made before: only the transfers are counted.
#define TRANSFER(name, how, count, of_file)                                              \
  do {                                                                                   \
    hid_t spaces[kAll];                                                                  \
    for (int i = 0; i < kAll; i++) spaces[i] = of_file;                                  \
    const hsize_t length = (count);                                                      \
    const hid_t memory = OK(H5Screate_simple(1, &length, NULL));                         \
    COUNT(name, OK(how(d, H5T_NATIVE_DOUBLE, memory, spaces[i], H5P_DEFAULT, numbers))); \
    for (int i = 0; i < kAll; i++) OK(H5Sclose(spaces[i]));                              \
    OK(H5Sclose(memory));                                                                \
  } while (0)

static void write_rows(void) {
  prepare("written.h5", kColumns, H5P_DEFAULT);
  const hid_t f = OK(H5Fopen("written.h5", H5F_ACC_RDWR, H5P_DEFAULT));
  const hid_t d = OK(H5Dopen2(f, "x", H5P_DEFAULT));
  TRANSFER("row written", H5Dwrite, kColumns, selected(i, 0, 1, kColumns, kColumns));
  TRANSFER("element written", H5Dwrite, 1, selected(i, i % kColumns, 1, 1, kColumns));
  TRANSFER("column written", H5Dwrite, kRows, selected(0, i % kColumns, kRows, 1, kColumns));
  TRANSFER("list of rows written", H5Dwrite, kListed * kColumns, listed(i));
  OK(H5Dclose(d));
  OK(H5Fclose(f));
}

static void read_rows(void) {
  prepare("read.h5", kColumns, H5P_DEFAULT);
  const hid_t f = OK(H5Fopen("read.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
  const hid_t d = OK(H5Dopen2(f, "x", H5P_DEFAULT));
  TRANSFER("row read", H5Dread, kColumns, selected(i, 0, 1, kColumns, kColumns));
  TRANSFER("element read", H5Dread, 1, selected(i, i % kColumns, 1, 1, kColumns));
  TRANSFER("column read", H5Dread, kRows, selected(0, i % kColumns, kRows, 1, kColumns));
  TRANSFER("list of rows read", H5Dread, kListed * kColumns, listed(i));
  OK(H5Dclose(d));
  OK(H5Fclose(f));
}

// Rows of one chunk, which the first of them brings into memory.
static void rows_of_a_chunk(void) {
  const hsize_t chunk[2] = {kWarm, kLong};
  const hid_t dcpl = OK(H5Pcreate(H5P_DATASET_CREATE));
  OK(H5Pset_chunk(dcpl, 2, chunk));
  OK(H5Pset_deflate(dcpl, 1));
  prepare("gzip.h5", kLong, dcpl);
  OK(H5Pclose(dcpl));
  hid_t f = OK(H5Fopen("gzip.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
  hid_t d = OK(H5Dopen2(f, "x", H5P_DEFAULT));
  TRANSFER("gzip row read", H5Dread, kLong, selected(i % kWarm, 0, 1, kLong, kLong));
  OK(H5Dclose(d));
  OK(H5Fclose(f));
  f = OK(H5Fopen("gzip.h5", H5F_ACC_RDWR, H5P_DEFAULT));
  d = OK(H5Dopen2(f, "x", H5P_DEFAULT));
  TRANSFER("gzip row written", H5Dwrite, kLong, selected(i % kWarm, 0, 1, kLong, kLong));
  OK(H5Dclose(d));
  OK(H5Fclose(f));
}

static const char* number(int i) {
  static char text[16];
  snprintf(text, sizeof text, "%d", i);
  return text;
}

static void attributes(hid_t d[], hid_t space) {
  COUNT("attribute written", {
    const hid_t a = OK(H5Acreate2(d[i], "a", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT));
    OK(H5Awrite(a, H5T_NATIVE_DOUBLE, numbers));
    OK(H5Aclose(a));
  });
  COUNT("attribute read", {
    const hid_t a = OK(H5Aopen(d[i], "a", H5P_DEFAULT));
    OK(H5Aread(a, H5T_NATIVE_DOUBLE, numbers));
    OK(H5Aclose(a));
  });
}

static void datasets(void) {
  const hsize_t length = kColumns;
  const hid_t f = made("datasets.h5"), space = OK(H5Screate_simple(1, &length, NULL));
  hid_t d[kAll];
  COUNT("dataset created", d[i] = OK(H5Dcreate2(f, number(i), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                                H5P_DEFAULT, H5P_DEFAULT)));
  COUNT("dataset written",
        OK(H5Dwrite(d[i], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers)));
  OK(H5Fflush(f, H5F_SCOPE_LOCAL));  // what a layer holds back is read in pieces that vary
  COUNT("dataset closed", OK(H5Dclose(d[i])));
  COUNT("dataset opened", d[i] = OK(H5Dopen2(f, number(i), H5P_DEFAULT)));
  COUNT("dataset read",
        OK(H5Dread(d[i], H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers)));
  attributes(d, space);
  for (int i = 0; i < kAll; i++) OK(H5Dclose(d[i]));
  OK(H5Sclose(space));
  OK(H5Fclose(f));
}

static herr_t seen(hid_t group, const char* name, const H5L_info2_t* info, void* data) {
  (void)group, (void)name, (void)info;
  ++*(int*)data;
  return 0;
}

static void groups_and_links(void) {
  const hid_t f = made("groups.h5");
  COUNT("group created",
        OK(H5Gclose(OK(H5Gcreate2(f, number(i), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)))));
  COUNT("group opened", OK(H5Gclose(OK(H5Gopen2(f, number(i), H5P_DEFAULT)))));
  COUNT("link looked up", OK(H5Lexists(f, number(i), H5P_DEFAULT)));
  const hid_t links = OK(H5Gcreate2(f, "links", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t some = OK(H5Gcreate2(f, "some", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  COUNT("link created", OK(H5Lcreate_soft("/0", links, number(i), H5P_DEFAULT, H5P_DEFAULT)));
  for (int i = 0; i < kLinks; i++)
    OK(H5Lcreate_hard(f, number(i), some, number(i), H5P_DEFAULT, H5P_DEFAULT));
  int links_seen = 0;
  COUNT_SOME("20 links iterated over", kFewWarm, kFewCounted,
             OK(H5Literate2(some, H5_INDEX_NAME, H5_ITER_INC, NULL, seen, &links_seen)));
  if (links_seen != kLinks * (kFewWarm + kFewCounted)) checked(-1, "H5Literate2 sees all links");
  OK(H5Gclose(some));
  OK(H5Gclose(links));
  OK(H5Fclose(f));
}

static void files(void) {
  COUNT_SOME("file created", kFewWarm, kFewCounted, OK(H5Fclose(made("file.h5"))));
  COUNT_SOME("file opened to read", kFewWarm, kFewCounted,
             OK(H5Fclose(OK(H5Fopen("read.h5", H5F_ACC_RDONLY, H5P_DEFAULT)))));
  COUNT_SOME("file opened to write", kFewWarm, kFewCounted,
             OK(H5Fclose(OK(H5Fopen("read.h5", H5F_ACC_RDWR, H5P_DEFAULT)))));
}

int main(int count, char** words) {
  if (count != 2 || chdir(words[1]) != 0) {
    fprintf(stderr, "usage: cost_ops FOLDER\n");
    return 2;
  }
  OK(H5open());
  printf("toolchain GCC %s, glibc %s\n", __VERSION__, gnu_get_libc_version());
  CALLGRIND_START_INSTRUMENTATION;
  write_rows();
  read_rows();
  rows_of_a_chunk();
  datasets();
  groups_and_links();
  files();
  return 0;
}
