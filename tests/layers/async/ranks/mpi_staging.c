/* Ranks write one file together, with compute in between, read what the others have written after
 * H5Fflush and a barrier, and overwrite it.
 *   mpi_staging write     each kind of write; the file is checked by whoever starts this
 *   mpi_staging fail      a rank cannot write: its next flush says so, once, and nobody waits
 *   mpi_staging lose      the same until the file is closed
 *   mpi_staging grow      the same before a dataset grows: all ranks are told then, and none waits
 *   mpi_staging early     ranks read what others write before it is flushed: none waits
 *   mpi_staging atomic    with H5Fset_mpi_atomicity: a barrier is enough
 *   mpi_staging measure MIB STEPS MILLISECONDS
 * Each rank prints a line of JSON at the end. */
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi_require.h"
#include "mpi_rows.h"

static hid_t independent, collective;

typedef struct Kind {
  const char *name;
  int chunked, deflate, fill;
  hid_t type;
} Kind;

static hid_t create(hid_t file, Kind kind) {
  hsize_t dims[2] = {(hsize_t)ranks * kRows, kColumns}, chunk[2] = {kChunk, kColumns / 2};
  hsize_t most[2] = {H5S_UNLIMITED, kColumns};
  hid_t space = H5Screate_simple(2, dims, kind.chunked ? most : NULL);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (kind.chunked) H5Pset_chunk(dcpl, 2, chunk);
  if (kind.deflate) H5Pset_deflate(dcpl, 1);
  if (kind.fill) {
    H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &kind.fill);
    H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_LATE);
  }
  hid_t dataset = H5Dcreate2(file, kind.name, kind.type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

static void flush(hid_t file) {
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The same in each kind of dataset; `spread`: ranks share pages and chunks row by row. */
static void write_kind(hid_t file, Kind kind, int id, int spread, hid_t dxpl) {
  Rows (*rows)(int) = spread ? every : slab;
  hid_t dataset = create(file, kind);
  for (hsize_t step = 0; step < kSteps; ++step) {
    Rows part = rows(rank);
    part.start += step * part.stride * part.count / kSteps;
    part.count /= kSteps;
    write_rows(dataset, id, part, dxpl);
    check_rows(dataset, id, part, dxpl);     /* a rank sees what it has written */
    write_rows(dataset, id + 5, part, dxpl); /* and writes in its order */
    write_rows(dataset, id, part, dxpl);
  }
  flush(file);
  for (int r = 0; r < ranks; ++r) check_rows(dataset, id, rows(r), independent);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks; /* another rank's place, and only a half of it */
  Rows half = rows(next);
  half.count /= 2;
  write_rows(dataset, id + 1, half, dxpl);
  REQUIRE(H5Dclose(dataset) >= 0);
}

static void write_extended(hid_t file) {
  Kind kind = {"extended", 1, 0, -7, H5T_NATIVE_INT};
  hid_t dataset = create(file, kind);
  for (int step = 0; step < kSteps; ++step) {
    hsize_t dims[2] = {(hsize_t)((step + 1) * ranks * kRows), kColumns};
    REQUIRE(H5Dset_extent(dataset, dims) >= 0);
    write_rows(dataset, 50, slab(step * ranks + rank), step % 2 ? collective : independent);
  }
  hsize_t dims[2] = {(hsize_t)((kSteps + 1) * ranks * kRows), kColumns};
  REQUIRE(H5Dset_extent(dataset, dims) >= 0); /* the rest is fill values */
  REQUIRE(H5Dclose(dataset) >= 0);
}

/* A dataset of its own for each rank, written as a whole: no selections, dense memory. */
static void write_whole(hid_t file, const char *format, hid_t type) {
  char name[32];
  hsize_t dims[2] = {kRows, kColumns};
  hid_t space = H5Screate_simple(2, dims, NULL), mine = -1;
  for (int r = 0; r < ranks; ++r) {
    snprintf(name, sizeof name, format, r);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    if (r == rank)
      mine = dataset;
    else
      H5Dclose(dataset);
  }
  int *data = malloc(sizeof(int) * kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) data[i] = value(60 + rank, 0, (hsize_t)i);
  REQUIRE(H5Dwrite(mine, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, independent, data) >= 0);
  free(data);
  H5Dclose(mine);
  H5Sclose(space);
}

/* What is not staged, because HDF5 converts it, replaces what was; and the other way round. Memory
   is dense: with no selection I/O HDF5 gives the driver the program's buffer and an MPI datatype.
 */
static void write_dense(hid_t file) {
  Kind kind = {"dense", 0, 0, 0, H5T_NATIVE_INT};
  hid_t dataset = create(file, kind), space = select_rows(dataset, slab(rank));
  hsize_t dims[2] = {kRows, kColumns};
  hid_t memory = H5Screate_simple(2, dims, NULL);
  int *data = malloc(sizeof *data * kRows * kColumns);
  double *converted = malloc(sizeof *converted * kRows * kColumns);
  for (int id = 80; id < 84; ++id) {
    for (hsize_t i = 0; i < kRows * kColumns; ++i)
      converted[i] = data[i] = value(id, slab(rank).start, i);
    const hid_t dxpl = id < 82 ? independent : collective;
    if (id == 80 || id == 83)
      REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
    else
      REQUIRE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, dxpl, converted) >= 0);
    if (id == 81) check_rows(dataset, id, slab(rank), independent);
  }
  free(converted);
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
}

/* A call that may free space leaves nothing staged, and the space is used for other data. */
static void write_again(hid_t file) {
  Kind kind = {"unlinked", 0, 0, 0, H5T_NATIVE_INT};
  hid_t dataset = create(file, kind);
  write_rows(dataset, 70, slab(rank), independent);
  REQUIRE(H5Ldelete(file, "unlinked", H5P_DEFAULT) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check_rows(dataset, 70, slab(r), independent);
  MPI_Barrier(MPI_COMM_WORLD);
  write_rows(dataset, 70, slab(rank), independent); /* still open */
  MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(H5Dclose(dataset) >= 0);
  kind.name = "again";
  dataset = create(file, kind);
  const int other = (rank + 1) % ranks;
  write_rows(dataset, 71, slab(other), collective);
  REQUIRE(H5Dclose(dataset) >= 0);
}

static hid_t open_new(const char *name, hsize_t user_block) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  H5Pset_userblock(fcpl, user_block);
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, fcpl, fapl);
  REQUIRE(file >= 0);
  H5Pclose(fcpl);
  H5Pclose(fapl);
  return file;
}

static void write_everything(void) {
  hid_t files[2] = {open_new("one.h5", 0), open_new("two.h5", 1024)};
  for (int f = 0; f < 2; ++f) {
    hid_t file = files[f], modes[2] = {independent, collective};
    for (int m = 0; m < 2; ++m) {
      const char *names[2][3] = {{"contiguous_0", "spread_0", "fill_0"},
                                 {"contiguous_1", "spread_1", "fill_1"}};
      write_kind(file, (Kind){names[m][0], 0, 0, 0, H5T_NATIVE_INT}, 10, 0, modes[m]);
      write_kind(file, (Kind){names[m][1], 0, 0, 0, H5T_NATIVE_INT}, 20, 1, modes[m]);
      write_kind(file, (Kind){names[m][2], 1, 0, -7, H5T_NATIVE_INT}, 30, 1, modes[m]);
    }
    write_kind(file, (Kind){"deflated", 1, 1, 0, H5T_NATIVE_INT}, 40, 0, collective);
    write_kind(file, (Kind){"shared_deflated", 1, 1, 0, H5T_NATIVE_INT}, 42, 1, collective);
    write_kind(file, (Kind){"converted", 0, 0, 0, H5T_NATIVE_DOUBLE}, 44, 1, collective);
    write_extended(file);
    write_whole(file, "whole_%d", H5T_NATIVE_INT);
    write_dense(file);
    write_again(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int f = 0; f < 2; ++f) REQUIRE(H5Fclose(files[f]) >= 0);
}

/* From here on the last rank can write nothing beyond `size` bytes of a file. */
static void limit(rlim_t size) {
  struct rlimit of = {size, RLIM_INFINITY};
  signal(SIGXFSZ, SIG_IGN);
  if (rank == ranks - 1) REQUIRE(setrlimit(RLIMIT_FSIZE, &of) == 0);
}

static void fail(int lose) {
  const int hit = rank == ranks - 1;
  hid_t file = open_new("failed.h5", 0);
  Kind kind = {"x", 0, 0, 0, H5T_NATIVE_INT};
  hid_t dataset = create(file, kind);
  write_rows(dataset, 80, slab(rank), independent);
  flush(file);
  /* The last rank's part ends the file. Its address is not asked: that would end its staging. */
  struct stat file_now;
  REQUIRE(stat("failed.h5", &file_now) == 0);
  limit((rlim_t)file_now.st_size - kRows * kColumns * sizeof(int));
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  write_rows(dataset, 81, slab(rank), collective);
  const int flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  if (!lose) {
    REQUIRE(flushed == !hit);
    limit(RLIM_INFINITY);
    flush(file); /* told once, and the data is still there */
    check_rows(dataset, 81, slab(rank), independent);
  }
  H5Dclose(dataset);
  const int closed = H5Fclose(file) >= 0;
  REQUIRE(closed == !(lose && hit));
  limit(RLIM_INFINITY);
}

/* H5Dset_extent changes what all ranks know of the dataset. */
static void fail_to_grow(void) {
  hid_t file = open_new("grown.h5", 0);
  hid_t dataset = create(file, (Kind){"x", 1, 0, -7, H5T_NATIVE_INT});
  write_rows(dataset, 80, slab(rank), independent);
  flush(file);
  limit(4096);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  write_rows(dataset, 81, slab(rank), collective);
  const hsize_t dims[2] = {2 * (hsize_t)ranks * kRows, kColumns};
  REQUIRE(H5Dset_extent(dataset, dims) < 0);
  limit(RLIM_INFINITY);
  REQUIRE(H5Dset_extent(dataset, dims) >= 0);
  flush(file);
  check_rows(dataset, 81, slab(rank), independent);
  H5Dclose(dataset);
  REQUIRE(H5Fclose(file) >= 0);
}

/* Each row is as it was before or after a write that all ranks have made. */
static void check_either(hid_t dataset, int id, Rows rows) {
  hid_t space = select_rows(dataset, rows), memory = ghosted(rows.count);
  int *data = calloc(rows.count * (kColumns + 2), sizeof *data);
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, independent, data) >= 0);
  for (hsize_t r = 0; r < rows.count; ++r)
    for (hsize_t c = 0; c < kColumns; ++c) {
      const int found = data[r * (kColumns + 2) + c + 1], new = value(id, rows.start + r, c);
      REQUIRE(found == new || found == value(id - 1, rows.start + r, c));
    }
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
}

static void read_early(void) {
  hid_t file = open_new("early.h5", 0);
  hid_t datasets[2];
  datasets[0] = create(file, (Kind){"x", 0, 0, 0, H5T_NATIVE_INT});
  datasets[1] = create(file, (Kind){"y", 1, 0, 0, H5T_NATIVE_INT});
  for (int id = 100; id < 108; ++id) {
    for (int d = 0; d < 2; ++d) {
      write_rows(datasets[d], id, slab(rank), collective);
      check_rows(datasets[d], id, slab(rank), independent);
      if (id > 100) check_either(datasets[d], id, slab((rank + 1) % ranks));
    }
    flush(file);
    for (int d = 0; d < 2; ++d)
      for (int r = 0; r < ranks; ++r) check_rows(datasets[d], id, slab(r), independent);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int d = 0; d < 2; ++d) REQUIRE(H5Dclose(datasets[d]) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
}

static void write_atomically(void) {
  hid_t file = open_new("atomic.h5", 0);
  Kind kind = {"x", 0, 0, 0, H5T_NATIVE_INT};
  hid_t dataset = create(file, kind);
  write_rows(dataset, 90, slab(rank), collective); /* staged: found in the file from here on */
  REQUIRE(H5Fset_mpi_atomicity(file, 1) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check_rows(dataset, 90, slab(r), independent);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 91; i < 96; ++i) {
    write_rows(dataset, i, slab(rank), i % 2 ? collective : independent);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) check_rows(dataset, i, slab(r), independent);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  H5Dclose(dataset);
  REQUIRE(H5Fclose(file) >= 0);
}

static void measure(int mib, int steps, int milliseconds) {
  hid_t file = open_new("measured.h5", 0);
  hsize_t size = (hsize_t)mib << 20;
  hsize_t dims[1] = {size * (hsize_t)(ranks * steps)}, start[1], count[1] = {size};
  hid_t space = H5Screate_simple(1, dims, NULL), memory = H5Screate_simple(1, count, NULL);
  hid_t dataset =
      H5Dcreate2(file, "x", H5T_NATIVE_UCHAR, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  unsigned char *data = malloc(size);
  double blocked = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    memset(data, step * ranks + rank + 1, size);
    start[0] = (hsize_t)(step * ranks + rank) * size;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    const double before = MPI_Wtime();
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_UCHAR, memory, space, collective, data) >= 0);
    blocked += MPI_Wtime() - before;
    usleep((useconds_t)milliseconds * 1000);
  }
  H5Dclose(dataset);
  const double before = MPI_Wtime();
  REQUIRE(H5Fclose(file) >= 0);
  const double end = MPI_Wtime();
  printf("{\"rank\":%d,\"blocked\":%.4f,\"close\":%.4f,\"total\":%.4f}\n", rank, blocked,
         end - before, end - begin);
  free(data);
  H5Sclose(memory);
  H5Sclose(space);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "write";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  independent = H5Pcreate(H5P_DATASET_XFER);
  collective = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  if (getenv("SELECTION_IO_OFF") != NULL) {
    H5Pset_selection_io(independent, H5D_SELECTION_IO_MODE_OFF);
    H5Pset_selection_io(collective, H5D_SELECTION_IO_MODE_OFF);
  }
  if (strcmp(mode, "measure") == 0) {
    measure(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
  } else {
    if (strcmp(mode, "write") == 0)
      write_everything();
    else if (strcmp(mode, "atomic") == 0)
      write_atomically();
    else if (strcmp(mode, "early") == 0)
      read_early();
    else if (strcmp(mode, "grow") == 0)
      fail_to_grow();
    else
      fail(strcmp(mode, "lose") == 0);
    printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  }
  H5Pclose(independent);
  H5Pclose(collective);
  MPI_Finalize();
  return 0;
}
