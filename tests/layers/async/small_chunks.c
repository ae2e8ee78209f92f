/* Datasets of many small chunks, written here and there and read in many ways: small_chunks FILE
 * SEED. It ends with status 0 when every read gave what was written, or the fill value. */
#include <hdf5.h>
#include <string.h>

#include "random.h"

#define MOST 4096
#define UNTOUCHED (-77)

struct Kind {
  const char *name;
  int latest, unlimited[2], early;
};

static const struct Kind kinds[] = {
    {"v1", 0, {1, 1}, 0},       {"v1 fixed", 0, {0, 0}, 0},
    {"v2", 1, {1, 1}, 0},       {"extensible", 1, {1, 0}, 0},
    {"fixed", 1, {0, 0}, 0},    {"implicit", 1, {0, 0}, 1},
    {"early v1", 0, {1, 0}, 1}, {"extensible in columns", 1, {0, 1}, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds, FILTERS = 4 };

struct Made {
  hsize_t dims[2], chunk[2];
  int32_t fill, model[MOST];
} made[KINDS][FILTERS];

static hid_t file_of(const char *name, int latest, hsize_t user_block) {
  const hid_t fcpl = H5Pcreate(H5P_FILE_CREATE), fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_userblock(fcpl, user_block));
  REQUIRE(H5Pset_libver_bounds(fapl, latest ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST,
                               H5F_LIBVER_LATEST));
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, fcpl, fapl);
  REQUIRE(file);
  REQUIRE(H5Pclose(fcpl));
  REQUIRE(H5Pclose(fapl));
  return file;
}

static hid_t list_of(const struct Kind *kind, int filter, const struct Made *one) {
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  REQUIRE(H5Pset_chunk(dcpl, 2, one->chunk));
  if (one->fill != 0) REQUIRE(H5Pset_fill_value(dcpl, H5T_NATIVE_INT32, &one->fill));
  if (kind->early) REQUIRE(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY));
  if (filter == 1 || filter == 3) REQUIRE(H5Pset_shuffle(dcpl));
  if (filter == 1) REQUIRE(H5Pset_deflate(dcpl, 3));
  if (filter >= 2) REQUIRE(H5Pset_fletcher32(dcpl));
  return dcpl;
}

static void write_some(hid_t dataset, struct Made *one) {
  static int32_t values[MOST];
  hsize_t start[2], count[2];
  for (int d = 0; d < 2; ++d) {
    count[d] = 1 + below((unsigned)one->dims[d] / 3);
    start[d] = below((unsigned)(one->dims[d] - count[d] + 1));
  }
  for (hsize_t i = 0; i < count[0] * count[1]; ++i) values[i] = (int32_t)below(1 << 30);
  for (hsize_t i = 0; i < count[0]; ++i)
    for (hsize_t j = 0; j < count[1]; ++j)
      one->model[(start[0] + i) * one->dims[1] + start[1] + j] = values[i * count[1] + j];
  const hsize_t none[2] = {0, 0};
  const hid_t space = box_of(one->dims, start, count), memory = box_of(count, none, count);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, values));
  REQUIRE(H5Sclose(space));
  REQUIRE(H5Sclose(memory));
}

/* All, a box, every so many, a union of rows, or points; `order` has the elements in HDF5's order.
 */
static hsize_t choose(const struct Made *one, hid_t space, hsize_t *order) {
  const hsize_t *dims = one->dims;
  const unsigned how = below(6);
  hsize_t start[2] = {0, 0}, step[2] = {1, 1}, count[2] = {dims[0], dims[1]}, found = 0;
  if (how == 5) {
    hsize_t points[600][2];
    const hsize_t many = 100 + below(500);
    for (hsize_t i = 0; i < many; ++i) {
      for (int d = 0; d < 2; ++d) points[i][d] = below((unsigned)dims[d]);
      order[found++] = points[i][0] * dims[1] + points[i][1];
    }
    REQUIRE(H5Sselect_elements(space, H5S_SELECT_SET, many, &points[0][0]));
    return found;
  }
  if (how == 4) {
    REQUIRE(H5Sselect_none(space));
    for (hsize_t row = 0; row < dims[0]; ++row) {
      if (below(4) == 0) continue;
      const hsize_t at[2] = {row, below(2) ? 0 : dims[1] / 5}, size[2] = {1, dims[1] - at[1]};
      REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_OR, at, NULL, size, NULL));
      for (hsize_t j = at[1]; j < dims[1]; ++j) order[found++] = row * dims[1] + j;
    }
    return found;
  }
  for (int d = 0; d < 2 && how > 0; ++d) {
    start[d] = below((unsigned)dims[d] / 3 + 1);
    step[d] = how == 1 ? 1 : 1 + below(how == 2 ? 3 : 9);
    const hsize_t most = (dims[d] - start[d] - 1) / step[d] + 1;
    count[d] = most - below((unsigned)most / 3 + 1);
  }
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, NULL));
  for (hsize_t i = 0; i < count[0]; ++i)
    for (hsize_t j = 0; j < count[1]; ++j)
      order[found++] = (start[0] + i * step[0]) * dims[1] + start[1] + j * step[1];
  return found;
}

static void read_some(hid_t dataset, const struct Made *one) {
  static hsize_t order[MOST];
  static union {
    int32_t numbers[2 * MOST];
    double wide[2 * MOST];
  } buffer;
  const hid_t space = H5Screate_simple(2, one->dims, NULL);
  const hsize_t found = choose(one, space, order);
  const int wide = below(4) == 0;
  const hsize_t apart = 1 + below(2), room = found * apart;
  const hid_t memory = H5Screate_simple(1, &room, NULL);
  if (apart > 1) {
    const hsize_t first = 0;
    REQUIRE(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &first, &apart, &found, NULL));
  }
  for (hsize_t i = 0; i < room; ++i)
    if (wide)
      buffer.wide[i] = UNTOUCHED;
    else
      buffer.numbers[i] = UNTOUCHED;
  if (found > 0)
    REQUIRE(H5Dread(dataset, wide ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32, memory, space,
                    H5P_DEFAULT, &buffer));
  for (hsize_t i = 0; i < room; ++i) {
    const double value = wide ? buffer.wide[i] : (double)buffer.numbers[i];
    EXPECT(value == (i % apart == 0 ? (double)one->model[order[i / apart]] : UNTOUCHED));
  }
  REQUIRE(H5Sclose(space));
  REQUIRE(H5Sclose(memory));
}

static void choose_shape(struct Made *one) {
  hsize_t chunks;
  do {
    for (int d = 0; d < 2; ++d) {
      one->dims[d] = 8 + below(56);
      one->chunk[d] = 1 + below(6);
    }
    chunks = ((one->dims[0] - 1) / one->chunk[0] + 1) * ((one->dims[1] - 1) / one->chunk[1] + 1);
  } while (chunks < 100);
  one->fill = below(2) ? 0 : -5;
  for (int i = 0; i < MOST; ++i) one->model[i] = one->fill;
}

/* As it is written, through a second id, too; and when it has been opened again. */
static void use(const char *name, const struct Kind *kind, hsize_t user_block, struct Made *all) {
  hid_t file = file_of(name, kind->latest, user_block);
  for (int filter = 0; filter < FILTERS; ++filter) {
    struct Made *one = &all[filter];
    choose_shape(one);
    if (kind->early && filter > 0 && kind->latest) continue; /* no implicit index */
    const char label[2] = {(char)('a' + filter), 0};
    hsize_t most[2];
    for (int d = 0; d < 2; ++d)
      most[d] = kind->unlimited[d] ? H5S_UNLIMITED : one->dims[d] + below(2) * below(20);
    const hid_t dcpl = list_of(kind, filter, one), space = H5Screate_simple(2, one->dims, most);
    const hid_t dataset =
        H5Dcreate2(file, label, H5T_NATIVE_INT32, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    const hid_t again = H5Dopen2(file, label, H5P_DEFAULT);
    REQUIRE(again);
    for (int i = 0; i < 30; ++i) {
      if (below(3) == 0) write_some(below(2) ? dataset : again, one);
      read_some(below(2) ? dataset : again, one);
    }
    REQUIRE(H5Dclose(again));
    REQUIRE(H5Dclose(dataset));
    REQUIRE(H5Sclose(space));
    REQUIRE(H5Pclose(dcpl));
  }
  REQUIRE(H5Fclose(file));
  file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file);
  for (int filter = 0; filter < FILTERS; ++filter) {
    if (kind->early && filter > 0 && kind->latest) continue;
    const char label[2] = {(char)('a' + filter), 0};
    const hid_t dataset = H5Dopen2(file, label, H5P_DEFAULT);
    for (int i = 0; i < 20; ++i) read_some(dataset, &all[filter]);
    REQUIRE(H5Dclose(dataset));
  }
  REQUIRE(H5Fclose(file));
}

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  state = strtoull(argv[2], NULL, 10);
  for (int kind = 0; kind < KINDS; ++kind)
    use(argv[1], &kinds[kind], kind % 2 ? 512 : 0, made[kind]);
  return 0;
}
