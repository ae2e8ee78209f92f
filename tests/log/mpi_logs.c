/* Ranks write one file together under a model of what it must hold: the writes of an epoch in the
 * order of ranks, each rank's in its own.
 *   mpi_logs write      random programs; the file is checked by whoever starts this, too
 *   mpi_logs calls      each collective call that looks at data, in the midst of logged writes
 *   mpi_logs atomic     H5Fset_mpi_atomicity: nothing is logged from then on
 *   mpi_logs fail       one rank cannot write its log: its write or the flush says so, and all know
 *   mpi_logs lose       the same until the file is closed
 *   mpi_logs forget     leaves it to the end of MPI to close the file
 *   mpi_logs crash      ends without a word, with writes after the last flush
 * Each rank prints a line of JSON at the end. */
#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <headrace/log.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                                       \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "rank %d, line %d: not " #condition "\n", rank, __LINE__); \
      H5Eprint2(H5E_DEFAULT, stderr);                                            \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

enum { kRows = 96, kColumns = 60, kMost = 8 * kRows, kMaxRanks = 8 };

static int rank, ranks;
static hid_t independent, collective, file;
static int keeps; /* canonicalise=later */

/* The same numbers on all ranks: each knows what the others write. */
static unsigned long long seed = 1;
static unsigned below(unsigned n) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)((seed >> 33) % n);
}

typedef struct Model {
  const char *name;
  int chunked, deflate, fill;
  hid_t type;
  hsize_t rows;
  hid_t dataset;
  int now[kMost][kColumns];             /* what all see after a flush */
  int mine[kMost][kColumns];            /* what this rank sees before */
  unsigned char whose[kMost][kColumns]; /* the rank that wrote last in this epoch, and one */
} Model;

typedef struct Box {
  hsize_t start[2], stride[2], count[2];
} Box;

static Box random_box(const Model *m) {
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

/* `by` writes value, value + 1, …; all ranks know it, that one does it. */
static void put(Model *m, int by, const Box *box, int value) {
  for (hsize_t i = 0; i < box->count[0]; ++i)
    for (hsize_t j = 0; j < box->count[1]; ++j, ++value) {
      const hsize_t r = box->start[0] + i * box->stride[0], c = box->start[1] + j * box->stride[1];
      if (by == rank) m->mine[r][c] = value;
      if (m->whose[r][c] > by + 1) continue;
      m->whose[r][c] = (unsigned char)(by + 1);
      m->now[r][c] = value;
    }
}

/* As a type of memory that HDF5 converts from, and not. */
static void write_box(Model *m, const Box *box, int value, int as_double, hid_t dxpl) {
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

/* `expected`: now or mine. */
static void check(Model *m, int expected[kMost][kColumns], hid_t dxpl) {
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

static void check_box(Model *m, const Box *box) {
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

static void end_epoch(Model *m) {
  memcpy(m->mine, m->now, sizeof m->now);
  memset(m->whose, 0, sizeof m->whose);
}

static void flush(Model *models, int count) {
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (int i = 0; i < count; ++i) end_epoch(models + i);
}

/* One write of each rank, or of some; all ranks call this for the model's sake. */
static void write_round(Model *m, int together) {
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

static void extend(Model *m) {
  if (!m->chunked || m->rows + 24 > kMost) return;
  m->rows += 24;
  hsize_t dims[2] = {m->rows, kColumns};
  REQUIRE(H5Dset_extent(m->dataset, dims) >= 0);
}

/* H5Dset_extent to fewer rows is where ranks settle; what comes back then is fill values. With
   filters nothing more is logged then. */
static void shrink(Model *models, int count, Model *m) {
  if (!m->chunked || m->deflate || m->rows <= kRows) return;
  hsize_t dims[2] = {m->rows - 24, kColumns};
  REQUIRE(H5Dset_extent(m->dataset, dims) >= 0);
  for (int i = 0; i < count; ++i) end_epoch(models + i);
  for (hsize_t r = dims[0]; r < m->rows; ++r)
    for (int c = 0; c < kColumns; ++c) m->now[r][c] = m->mine[r][c] = m->fill;
  m->rows = dims[0];
}

static void reopen(Model *m) {
  REQUIRE(H5Dclose(m->dataset) >= 0);
  m->dataset = H5Dopen2(file, m->name, H5P_DEFAULT);
  REQUIRE(m->dataset >= 0);
}

static hid_t access_list(void) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  return fapl;
}

static void create_file(const char *name) {
  hid_t fapl = access_list();
  file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  H5Pclose(fapl);
}

/* What the file must hold, for a reader without plug-ins. */
static void save(const char *name, const Model *m) {
  char path[64];
  snprintf(path, sizeof path, "%s.%s.expected", name, m->name);
  FILE *out = rank == 0 ? fopen(path, "wb") : NULL;
  if (rank == 0) {
    REQUIRE(out && fwrite(m->now, sizeof m->now[0], m->rows, out) == m->rows);
    REQUIRE(fclose(out) == 0);
  }
}

enum { kModels = 4 };
static const Model kKinds[kModels] = {
    {.name = "contiguous", .chunked = 0, .deflate = 0, .fill = -7, .rows = kRows},
    {.name = "chunked", .chunked = 1, .deflate = 0, .fill = 3, .rows = kRows},
    {.name = "deflated", .chunked = 1, .deflate = 1, .fill = -1, .rows = kRows},
    {.name = "doubles", .chunked = 1, .deflate = 1, .fill = 5, .rows = kRows},
};

static Model *make_models(void) {
  Model *models = malloc(kModels * sizeof *models);
  for (int i = 0; i < kModels; ++i) {
    models[i] = kKinds[i];
    models[i].type = i == kModels - 1 ? H5T_NATIVE_DOUBLE : H5T_STD_I32BE;
    create(models + i);
  }
  return models;
}

static void close_models(Model *models) {
  for (int i = 0; i < kModels; ++i) REQUIRE(H5Dclose(models[i].dataset) >= 0);
}

static void step(Model *models, Model *m) {
  switch (below(9)) {
    case 0:
      flush(models, kModels);
      for (int i = 0; i < kModels; ++i) check(models + i, models[i].now, independent);
      MPI_Barrier(MPI_COMM_WORLD); /* before anybody writes by MPI again */
      break;
    case 1: { /* settles, as all ranks make it */
      check(m, m->now, collective);
      for (int i = 0; i < kModels; ++i) end_epoch(models + i);
      break;
    }
    case 2:
      extend(m);
      break;
    case 3:
      if (below(2) == 0) shrink(models, kModels, m);
      break;
    case 4:
      reopen(m);
      break;
    default: {
      const int together = (int)below(2);
      write_round(m, together);
      const Box box = random_box(m);
      if (below(2) == 0) check_box(m, &box);
      if (below(4) == 0) check(m, m->mine, independent);
    }
  }
}

static void write_randomly(int programs, int steps) {
  for (int p = 0; p < programs; ++p) {
    char name[32];
    snprintf(name, sizeof name, "random-%d.h5", p);
    create_file(name);
    Model *models = make_models();
    for (int i = 0; i < steps; ++i) step(models, models + below(kModels));
    close_models(models);
    REQUIRE(H5Fclose(file) >= 0);
    for (int i = 0; i < kModels; ++i) save(name, models + i);
    free(models);
  }
}

/* Compounds of which memory has one member only; the other stays. */
static void write_members(void) {
  typedef struct Both {
    int a, b;
  } Both;
  hid_t both = H5Tcreate(H5T_COMPOUND, sizeof(Both)), half = H5Tcreate(H5T_COMPOUND, sizeof(int));
  H5Tinsert(both, "a", 0, H5T_NATIVE_INT);
  H5Tinsert(both, "b", sizeof(int), H5T_NATIVE_INT);
  H5Tinsert(half, "b", 0, H5T_NATIVE_INT);
  hsize_t size = 100 * (hsize_t)ranks, start = 100 * (hsize_t)rank, count = 100;
  hid_t space = H5Screate_simple(1, &size, NULL), memory = H5Screate_simple(1, &count, NULL);
  hid_t dataset = H5Dcreate2(file, "members", both, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
  Both whole[100];
  int halves[100];
  for (int i = 0; i < 100; ++i) {
    whole[i] = (Both){1000 * rank + i, -1};
    halves[i] = i;
  }
  REQUIRE(H5Dwrite(dataset, both, memory, space, collective, whole) >= 0);
  REQUIRE(H5Dwrite(dataset, half, memory, space, independent, halves) >= 0);
  memset(whole, 0, sizeof whole);
  REQUIRE(H5Dread(dataset, both, memory, space, independent, whole) >= 0);
  for (int i = 0; i < 100; ++i) REQUIRE(whole[i].a == 1000 * rank + i && whole[i].b == i);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Sclose(memory);
  H5Tclose(both);
  H5Tclose(half);
}

/* HDF5 does these itself; they have their place among what is logged. */
static void write_transformed(Model *models) {
  Model *m = models;
  hid_t lists[2] = {H5Pcopy(independent), H5Pcopy(collective)};
  for (int i = 0; i < 2; ++i) {
    REQUIRE(H5Pset_data_transform(lists[i], "x+100") >= 0);
    Box box = {{(hsize_t)rank * 4, 0}, {1, 1}, {4, 10}};
    write_box(m, &box, 10, 0, independent);
    for (int by = 0; by < ranks; ++by) {
      Box theirs = {{(hsize_t)by * 4, 0}, {1, 1}, {4, 10}};
      put(m, by, &theirs, 10);
    }
    write_box(m, &box, 50, 0, lists[i]);
    if (i == 1) /* settles, as all ranks make it */
      for (int j = 0; j < kModels; ++j) end_epoch(models + j);
    for (int by = 0; by < ranks; ++by) {
      Box theirs = {{(hsize_t)by * 4, 0}, {1, 1}, {4, 10}};
      put(m, by, &theirs, 150);
    }
    check_box(m, &box);
    Box last = {{(hsize_t)rank * 4 + 1, 3}, {1, 1}, {1, 5}};
    write_box(m, &last, 7, 0, independent);
    for (int by = 0; by < ranks; ++by) {
      Box theirs = {{(hsize_t)by * 4 + 1, 3}, {1, 1}, {1, 5}};
      put(m, by, &theirs, 7);
    }
    check_box(m, &box);
    H5Pclose(lists[i]);
  }
}

static void check_named(const char *name, Model *m) {
  Model copy = *m;
  copy.dataset = H5Dopen2(file, name, H5P_DEFAULT);
  REQUIRE(copy.dataset >= 0);
  check(&copy, m->now, independent);
  H5Dclose(copy.dataset);
}

static void make_calls(void) {
  create_file("calls.h5");
  Model *models = make_models();
  write_members();
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  write_transformed(models);
  REQUIRE(H5Ocopy(file, "contiguous", file, "copy", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  for (int i = 0; i < kModels; ++i) end_epoch(models + i);
  check_named("copy", models);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  /* One rank asks for the file of an object, and closes that id. */
  if (rank == 0) {
    hid_t of = H5Iget_file_id(models[0].dataset);
    REQUIRE(of >= 0 && H5Fclose(of) >= 0);
  }
  REQUIRE(H5Lmove(file, "copy", file, "moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  for (int i = 0; keeps && i < kModels; ++i) end_epoch(models + i); /* logs have names */
  hid_t again = H5Freopen(file);
  REQUIRE(again >= 0);
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  REQUIRE(H5Fclose(again) >= 0); /* settles, and nothing is logged from here on */
  for (int i = 0; i < kModels; ++i) end_epoch(models + i);
  for (int i = 0; i < kModels; ++i) check(models + i, models[i].now, independent);
  MPI_Barrier(MPI_COMM_WORLD);
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);

  hid_t fapl = access_list();
  file = H5Fopen("calls.h5", H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  for (int i = 0; i < kModels; ++i) models[i].dataset = H5Dopen2(file, models[i].name, H5P_DEFAULT);
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  REQUIRE(H5Ldelete(file, "moved", H5P_DEFAULT) >= 0); /* the same */
  for (int i = 0; i < kModels; ++i) end_epoch(models + i);
  for (int i = 0; i < kModels; ++i) check(models + i, models[i].now, independent);
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);
  H5Pclose(fapl);
  for (int i = 0; i < kModels; ++i) save("calls.h5", models + i);
  free(models);
}

static void write_atomically(void) {
  create_file("atomic.h5");
  Model *models = make_models();
  write_round(models, 1);
  REQUIRE(H5Fset_mpi_atomicity(file, 1) >= 0);
  end_epoch(models);
  MPI_Barrier(MPI_COMM_WORLD);
  check(models, models->now, independent);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int by = 0; by < ranks; ++by) {
    const Box box = random_box(models);
    put(models, by, &box, 100 * by);
    if (by == rank) write_box(models, &box, 100 * by, 0, independent);
    MPI_Barrier(MPI_COMM_WORLD);
    check(models, models->now, independent);
    MPI_Barrier(MPI_COMM_WORLD);
    end_epoch(models);
  }
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);
  for (int i = 0; i < kModels; ++i) save("atomic.h5", models + i);
  free(models);
}

/* From here on there is no room for the log of the last rank. */
static void fill_disk(void) {
  DIR *open_files = rank == ranks - 1 ? opendir("/proc/self/fd") : NULL;
  int found = 0;
  for (struct dirent *one; open_files && (one = readdir(open_files)) != NULL;) {
    char path[300], name[4096] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%s", one->d_name);
    if (readlink(path, name, sizeof name - 1) < 0 || !strstr(name, "failed.h5.headrace/")) continue;
    REQUIRE(dup2(open("/dev/full", O_RDWR), atoi(one->d_name)) >= 0);
    ++found;
  }
  REQUIRE(rank < ranks - 1 || found == 1);
  if (open_files) closedir(open_files);
}

static void fail(int lose) {
  create_file("failed.h5");
  Model *models = make_models();
  Model *m = models + (lose ? 2 : 0);
  write_round(m, 1);
  flush(models, kModels);
  check(m, m->now, independent);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) write_round(m, 1);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  fill_disk();
  int one = 1;
  if (!lose) { /* told to all, whoever asks first, and from then on */
    REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
    REQUIRE(H5Dread(m->dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent, m->mine) < 0);
    REQUIRE(H5Dread(m->dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective, m->mine) < 0);
    REQUIRE(H5Dwrite(m->dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective, m->now) < 0);
  }
  close_models(models);
  const int closed = H5Fclose(file) >= 0;
  REQUIRE(closed == !lose);
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(one == ranks);
  free(models);
}

static void leave(int crash) {
  create_file("left.h5");
  Model *models = make_models();
  for (int i = 0; i < kModels; ++i) write_round(models + i, i % 2);
  flush(models, kModels);
  for (int i = 0; i < kModels; ++i) save("left.h5", models + i);
  if (crash) {
    Model *none = malloc(sizeof *none); /* not to be found in the file */
    *none = models[0];
    write_round(none, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
    fflush(stdout);
    _exit(0);
  }
  for (int i = 0; i < kModels; ++i) write_round(models + i, 1);
  for (int i = 0; i < kModels; ++i) save("left.h5", models + i);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "write";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  independent = H5Pcreate(H5P_DATASET_XFER);
  collective = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  keeps = getenv("KEEPS_LOGS") != NULL;
  if (argc > 2) seed = strtoull(argv[2], NULL, 10);
  if (strcmp(mode, "write") == 0)
    write_randomly(argc > 3 ? atoi(argv[3]) : 3, 60);
  else if (strcmp(mode, "calls") == 0)
    make_calls();
  else if (strcmp(mode, "atomic") == 0)
    write_atomically();
  else if (strcmp(mode, "fail") == 0 || strcmp(mode, "lose") == 0)
    fail(strcmp(mode, "lose") == 0);
  else
    leave(strcmp(mode, "crash") == 0);
  printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  if (strcmp(mode, "forget") != 0) {
    H5Pclose(independent);
    H5Pclose(collective);
  }
  MPI_Finalize();
  return 0;
}
