#include "mpi_model.h"

#include <headrace/log.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_require.h"

int rank, ranks;
hid_t independent, collective, file;
unsigned long long seed = 1;

unsigned below(unsigned n) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)((seed >> 33) % n);
}

Box random_box(const Model *m) {
  Box box;
  const hsize_t extent[2] = {m->rows, kColumns};
  for (int d = 0; d < 2; ++d) {
    box.stride[d] = 1 + below(4);
    box.start[d] = below((unsigned)extent[d]);
    const hsize_t most = (extent[d] - box.start[d] + box.stride[d] - 1) / box.stride[d];
    box.count[d] = 1 + below((unsigned)(most < 24 ? most : 24));
  }
  return box;
}

static hid_t select_box(const Model *m, const Box *box) {
  hid_t space = H5Dget_space(m->dataset);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, box->start, box->stride, box->count, NULL) >=
          0);
  return space;
}

static void create(Model *m) {
  hsize_t dims[2] = {m->rows, kColumns}, most[2] = {H5S_UNLIMITED, kColumns}, chunk[2] = {16, 20};
  hid_t space = H5Screate_simple(2, dims, m->chunked ? most : NULL);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (m->chunked) H5Pset_chunk(dcpl, 2, chunk);
  if (m->deflate) H5Pset_deflate(dcpl, 1);
  H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &m->fill);
  m->dataset = H5Dcreate2(file, m->name, m->type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(m->dataset >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  for (int r = 0; r < kMost; ++r)
    for (int c = 0; c < kColumns; ++c) m->now[r][c] = m->mine[r][c] = m->fill;
  memset(m->whose, 0, sizeof m->whose);
}

void put(Model *m, int by, const Box *box, int value) {
  for (hsize_t i = 0; i < box->count[0]; ++i)
    for (hsize_t j = 0; j < box->count[1]; ++j, ++value) {
      const hsize_t r = box->start[0] + i * box->stride[0], c = box->start[1] + j * box->stride[1];
      if (by == rank) m->mine[r][c] = value;
      if (m->whose[r][c] > by + 1) continue;
      m->whose[r][c] = (unsigned char)(by + 1);
      m->now[r][c] = value;
    }
}

void write_box(Model *m, const Box *box, int value, int as_double, hid_t dxpl) {
  const hsize_t n = box->count[0] * box->count[1], rows = n * 2;
  const hsize_t zero = 0, two = 2;
  hid_t space = select_box(m, box), memory = H5Screate_simple(1, &rows, NULL);
  REQUIRE(H5Sselect_hyperslab(memory, H5S_SELECT_SET, &zero, &two, &n, NULL) >= 0);
  int *data = malloc(rows * sizeof *data);
  double *doubles = malloc(rows * sizeof *doubles);
  for (hsize_t i = 0; i < rows; ++i) doubles[i] = data[i] = i % 2 ? -1 : value + (int)(i / 2);
  if (as_double)
    REQUIRE(H5Dwrite(m->dataset, H5T_NATIVE_DOUBLE, memory, space, dxpl, doubles) >= 0);
  else
    REQUIRE(H5Dwrite(m->dataset, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
  memset(data, 0xAA, rows * sizeof *data); /* it is ours again */
  memset(doubles, 0xAA, rows * sizeof *doubles);
  free(data);
  free(doubles);
  H5Sclose(memory);
  H5Sclose(space);
}

/* The same by headrace_write_n(): a box for each element, and one of none. */
static void write_boxes(Model *m, const Box *box, int value, int as_double) {
  const size_t n = box->count[0] * box->count[1];
  hsize_t(*start)[2] = calloc(n + 1, sizeof *start), (*count)[2] = calloc(n + 1, sizeof *count);
  int *data = malloc(n * sizeof *data);
  double *doubles = malloc(n * sizeof *doubles);
  for (size_t i = 0; i < n; ++i) {
    start[i][0] = box->start[0] + i / box->count[1] * box->stride[0];
    start[i][1] = box->start[1] + i % box->count[1] * box->stride[1];
    count[i][0] = count[i][1] = 1;
    doubles[i] = data[i] = value + (int)i;
  }
  REQUIRE(headrace_write_n(m->dataset, as_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, n + 1,
                           start[0], count[0],
                           as_double ? (void *)doubles : (void *)data) == HEADRACE_DONE);
  free(start);
  free(count);
  free(data);
  free(doubles);
}

static void write_none(Model *m, hid_t dxpl) {
  hsize_t one = 1;
  hid_t space = H5Dget_space(m->dataset), memory = H5Screate_simple(1, &one, NULL);
  H5Sselect_none(space);
  H5Sselect_none(memory);
  REQUIRE(H5Dwrite(m->dataset, H5T_NATIVE_INT, memory, space, dxpl, NULL) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
}

void check(Model *m, int expected[kMost][kColumns], hid_t dxpl) {
  int *data = malloc(m->rows * kColumns * sizeof *data);
  REQUIRE(H5Dread(m->dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, data) >= 0);
  for (hsize_t r = 0; r < m->rows; ++r)
    for (int c = 0; c < kColumns; ++c)
      if (data[r * kColumns + (hsize_t)c] != expected[r][c]) {
        fprintf(stderr, "rank %d: %s[%d][%d] is %d, not %d\n", rank, m->name, (int)r, c,
                data[r * kColumns + (hsize_t)c], expected[r][c]);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
  free(data);
}

void check_box(Model *m, const Box *box) {
  const hsize_t n = box->count[0] * box->count[1];
  hid_t space = select_box(m, box), memory = H5Screate_simple(1, &n, NULL);
  double *data = malloc(n * sizeof *data);
  REQUIRE(H5Dread(m->dataset, H5T_NATIVE_DOUBLE, memory, space, independent, data) >= 0);
  for (hsize_t i = 0; i < n; ++i) {
    const hsize_t r = box->start[0] + i / box->count[1] * box->stride[0];
    const hsize_t c = box->start[1] + i % box->count[1] * box->stride[1];
    REQUIRE(data[i] == m->mine[r][c]);
  }
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
}

void end_epoch(Model *m) {
  memcpy(m->mine, m->now, sizeof m->now);
  memset(m->whose, 0, sizeof m->whose);
}

void flush(Model *models, int count) {
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (int i = 0; i < count; ++i) end_epoch(models + i);
}

void write_round(Model *m, int together) {
  const int quiet = below(3) == 0 ? (int)below((unsigned)ranks) : -1;
  for (int by = 0; by < ranks; ++by) {
    const Box box = random_box(m);
    const int value = (int)below(1000000), as_double = below(3) == 0, boxes = below(3) == 0;
    if (by == quiet) {
      if (by == rank && together) write_none(m, collective);
      continue;
    }
    put(m, by, &box, value);
    if (by != rank) continue;
    if (boxes && !together)
      write_boxes(m, &box, value, as_double);
    else
      write_box(m, &box, value, as_double, together ? collective : independent);
  }
}

void extend(Model *m) {
  if (!m->chunked || m->rows + 24 > kMost) return;
  m->rows += 24;
  hsize_t dims[2] = {m->rows, kColumns};
  REQUIRE(H5Dset_extent(m->dataset, dims) >= 0);
}

void shrink(Model *models, int count, Model *m) {
  if (!m->chunked || m->deflate || m->rows <= kRows) return;
  hsize_t dims[2] = {m->rows - 24, kColumns};
  REQUIRE(H5Dset_extent(m->dataset, dims) >= 0);
  for (int i = 0; i < count; ++i) end_epoch(models + i);
  for (hsize_t r = dims[0]; r < m->rows; ++r)
    for (int c = 0; c < kColumns; ++c) m->now[r][c] = m->mine[r][c] = m->fill;
  m->rows = dims[0];
}

void reopen(Model *m) {
  REQUIRE(H5Dclose(m->dataset) >= 0);
  m->dataset = H5Dopen2(file, m->name, H5P_DEFAULT);
  REQUIRE(m->dataset >= 0);
}

hid_t access_list(void) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  if (getenv("COLLECTIVE_METADATA"))
    REQUIRE(H5Pset_all_coll_metadata_ops(fapl, 1) >= 0 &&
            H5Pset_coll_metadata_write(fapl, 1) >= 0 &&
            H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0);
  return fapl;
}

void create_file(const char *name) {
  hid_t fapl = access_list();
  file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  H5Pclose(fapl);
}

void open_models(const char *name, Model *models) {
  hid_t fapl = access_list();
  file = H5Fopen(name, H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  H5Pclose(fapl);
  for (int i = 0; i < kModels; ++i) models[i].dataset = H5Dopen2(file, models[i].name, H5P_DEFAULT);
}

void save(const char *name, const Model *m) {
  char path[64];
  snprintf(path, sizeof path, "%s.%s.expected", name, m->name);
  FILE *out = rank == 0 ? fopen(path, "wb") : NULL;
  if (rank == 0) {
    REQUIRE(out && fwrite(m->now, sizeof m->now[0], m->rows, out) == m->rows);
    REQUIRE(fclose(out) == 0);
  }
}

static const Model kKinds[kModels] = {
    {.name = "contiguous", .chunked = 0, .deflate = 0, .fill = -7, .rows = kRows},
    {.name = "chunked", .chunked = 1, .deflate = 0, .fill = 3, .rows = kRows},
    {.name = "deflated", .chunked = 1, .deflate = 1, .fill = -1, .rows = kRows},
    {.name = "doubles", .chunked = 1, .deflate = 1, .fill = 5, .rows = kRows},
};

Model *make_models(void) {
  Model *models = malloc(kModels * sizeof *models);
  for (int i = 0; i < kModels; ++i) {
    models[i] = kKinds[i];
    models[i].type = i == kModels - 1 ? H5T_NATIVE_DOUBLE : H5T_STD_I32BE;
    create(models + i);
  }
  return models;
}

void close_models(Model *models) {
  for (int i = 0; i < kModels; ++i) REQUIRE(H5Dclose(models[i].dataset) >= 0);
}
