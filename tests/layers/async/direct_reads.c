/* Small asynchronous reads of a file that is there: direct_reads FILE WHAT [SEED]; the file and
 * what each dataset holds are described in tests/layers/async/test_direct_reads.py. It ends with
 * status 0 when every read gave what is in the file. */
#include <hdf5.h>
#include <string.h>

#include "random.h"

#define ROWS 256
#define COLUMNS 64
#define READS 1024
#define ROUND 64

/* Of the element in a row and a column of the dataset that holds `base`. */
static int32_t value(int32_t base, hsize_t row, hsize_t column) {
  return base + (int32_t)(row * COLUMNS + column) * 7;
}

struct Read {
  hsize_t start[2], count[2], at[2]; /* at: in memory of the dataset's extent */
  int dense;
  union {
    int32_t numbers[ROWS * COLUMNS];
    double wide[ROWS * COLUMNS];
  } memory;
};

static struct Read reads[ROUND];

/* Whole rows, parts of one, or any box; memory that is as dense, or another box. */
static void choose(struct Read *read) {
  const unsigned kind = below(4);
  memset(read, 0, sizeof *read);
  for (int d = 0; d < 2; ++d) {
    const unsigned extent = d == 0 ? ROWS : COLUMNS;
    read->count[d] = kind == 0 && d == 1 ? COLUMNS : kind == 1 && d == 0 ? 1 : 1 + below(8);
    read->start[d] = below(extent - (unsigned)read->count[d] + 1);
    read->at[d] = below(extent - (unsigned)read->count[d] + 1);
  }
  read->dense = below(3) != 0;
}

static void begin(hid_t dataset, struct Read *read, int wide, hid_t set) {
  const hsize_t dims[2] = {ROWS, COLUMNS}, none[2] = {0, 0};
  choose(read);
  const hid_t file = box_of(dims, read->start, read->count);
  const hid_t memory =
      read->dense ? box_of(read->count, none, read->count) : box_of(dims, read->at, read->count);
  const hid_t type = wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
  REQUIRE(H5Dread_async(dataset, type, memory, file, H5P_DEFAULT, &read->memory, set));
  REQUIRE(H5Sclose(file));
  REQUIRE(H5Sclose(memory));
}

/* `base` negative: nothing was written, and every element is -base. */
static void check(const struct Read *read, int wide, int32_t base) {
  for (hsize_t row = 0; row < read->count[0]; ++row)
    for (hsize_t column = 0; column < read->count[1]; ++column) {
      const size_t i = read->dense ? row * read->count[1] + column
                                   : (read->at[0] + row) * COLUMNS + read->at[1] + column;
      const int32_t found = wide ? (int32_t)read->memory.wide[i] : read->memory.numbers[i];
      EXPECT(found ==
             (base < 0 ? -base : value(base, read->start[0] + row, read->start[1] + column)));
    }
}

static void read_all(hid_t file, const char *name, int wide, int32_t base) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  REQUIRE(dataset);
  for (int i = 0; i < READS; i += ROUND) {
    const hid_t set = H5EScreate();
    size_t left = 1;
    hbool_t failed = 1;
    for (int j = 0; j < ROUND; ++j) begin(dataset, &reads[j], wide, set);
    REQUIRE(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed));
    EXPECT(left == 0 && !failed);
    for (int j = 0; j < ROUND; ++j) check(&reads[j], wide, base);
    REQUIRE(H5ESclose(set));
  }
  REQUIRE(H5Dclose(dataset));
}

static hid_t opened(const char *name, const char *what) {
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  if (strcmp(what, "page_buffer") == 0) REQUIRE(H5Pset_page_buffer_size(fapl, 1 << 16, 0, 0));
  const hid_t file =
      H5Fopen(name, strcmp(what, "writable") == 0 ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
  REQUIRE(file);
  REQUIRE(H5Pclose(fapl));
  return file;
}

int main(int argc, char **argv) {
  const char *what = argv[2];
  state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  const hid_t file = opened(argv[1], what);
  if (strcmp(what, "mounted") == 0) {
    char child[4096];
    snprintf(child, sizeof child, "%s.child", argv[1]);
    const hid_t other = opened(child, "");
    REQUIRE(H5Fmount(file, "mount", other, H5P_DEFAULT));
    read_all(file, "mount/contiguous", 0, 9000000);
    REQUIRE(H5Funmount(file, "mount"));
    REQUIRE(H5Fclose(other));
    REQUIRE(H5Fclose(file));
    return 0;
  }
  read_all(file, "contiguous", 0, 1000000);
  read_all(file, "contiguous", 1, 1000000);
  read_all(file, "swapped", 0, 2000000);
  read_all(file, "chunked", 0, 3000000);
  read_all(file, "external", 0, 4000000);
  read_all(file, "unwritten", 0, -5);
  REQUIRE(H5Fclose(file));
  return 0;
}
