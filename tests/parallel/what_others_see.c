/* What the other ranks see when a collective call returns: what_others_see FILE MILLISECONDS
 * [CASE]. Each case is tried with each rank late in turn: what it writes or reads first takes that
 * long. Rank 0 prints, as JSON, of each case how many reads on all ranks found wrong data: reads
 * that ranks make together, and reads that each makes by itself. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "late.h"
#include "mpi_require.h"

enum { kEach = 1000, kChunk = 700, kFill = 7 };

static int rank, ranks, milliseconds, number; /* number: of the try; no two write the same */
static const char *path;
static hid_t file, fapl, together, apart;
static hid_t contiguous, chunked, deflated;

static hsize_t size_of_all(void) { return (hsize_t)kEach * (hsize_t)ranks; }

static hid_t make(const char *name, hsize_t chunk, int deflate, const int *fill) {
  const hsize_t size = size_of_all(), most = H5S_UNLIMITED;
  hid_t space = H5Screate_simple(1, &size, chunk > 0 ? &most : NULL);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk > 0) REQUIRE(H5Pset_chunk(dcpl, 1, &chunk) >= 0);
  if (deflate) REQUIRE(H5Pset_deflate(dcpl, 1) >= 0);
  if (fill != NULL) REQUIRE(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, fill) >= 0);
  REQUIRE(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
  hid_t made = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(made >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  return made;
}

/* A rank's part of a dataset: a block, or every so many elements, whose chunks all ranks share. */
typedef struct {
  hid_t memory, space;
  double *numbers;
  int *values;
} part_t;

static int value(hsize_t place) { return number * 100000 + (int)place; }

static part_t part_of(int scattered, int nothing) {
  const hsize_t all = size_of_all(), count = kEach;
  const hsize_t stride = scattered ? (hsize_t)ranks : 1;
  const hsize_t start = scattered ? (hsize_t)rank : (hsize_t)rank * kEach;
  part_t part = {H5Screate_simple(1, &count, NULL), H5Screate_simple(1, &all, NULL),
                 calloc(kEach, sizeof(double)), calloc(kEach, sizeof(int))};
  REQUIRE(H5Sselect_hyperslab(part.space, H5S_SELECT_SET, &start, &stride, &count, NULL) >= 0);
  if (nothing) H5Sselect_none(part.memory), H5Sselect_none(part.space);
  for (hsize_t i = 0; i < count; ++i) {
    part.values[i] = value(start + i * stride);
    part.numbers[i] = part.values[i];
  }
  return part;
}

static void free_part(part_t part) {
  H5Sclose(part.memory);
  H5Sclose(part.space);
  free(part.numbers);
  free(part.values);
}

static void put(hid_t dataset, hid_t list, int scattered) {
  part_t part = part_of(scattered, 0);
  REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, part.memory, part.space, list, part.values) >= 0);
  free_part(part);
}

/* Whether any element differs: `values` of the first elements, then the fill value. */
static int differs(hid_t dataset, hid_t list, hsize_t values) {
  int *found = calloc(size_of_all(), sizeof *found), wrong = 0;
  REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, list, found) >= 0);
  for (hsize_t i = 0; i < size_of_all(); ++i)
    wrong = wrong || found[i] != (i < values ? value(i) : kFill);
  free(found);
  return wrong;
}

static int see(hid_t dataset, hid_t list) { return differs(dataset, list, size_of_all()); }

/* The cases: `late` is whether this rank is, `list` of the reads that follow. Return what is wrong.
 */

static int write_contiguous(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(contiguous, together, 0);
  return see(contiguous, list);
}

static int write_chunked(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(chunked, together, 1);
  return see(chunked, list);
}

static int write_deflated(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(deflated, together, 1);
  return see(deflated, list);
}

static int write_several(int late, hid_t list) {
  hid_t datasets[3] = {deflated, contiguous, chunked};
  part_t part = part_of(1, 0);
  hid_t types[3] = {H5T_NATIVE_INT, H5T_NATIVE_INT, H5T_NATIVE_INT};
  hid_t memories[3] = {part.memory, part.memory, part.memory};
  hid_t spaces[3] = {part.space, part.space, part.space};
  const void *buffers[3] = {part.values, part.values, part.values};
  if (late) delay_next(milliseconds);
  REQUIRE(H5Dwrite_multi(3, datasets, types, memories, spaces, together, buffers) >= 0);
  free_part(part);
  int wrong = 0;
  for (int i = 0; i < 3; ++i) wrong |= see(datasets[i], list);
  return wrong;
}

/* HDF5 gives these to its driver rank by rank, though the program writes them together. */
static int write_converted(int late, hid_t list) {
  hid_t without = H5Pcopy(together);
  REQUIRE(H5Pset_selection_io(without, H5D_SELECTION_IO_MODE_OFF) >= 0);
  part_t part = part_of(0, 0);
  if (late) delay_next(milliseconds);
  REQUIRE(H5Dwrite(contiguous, H5T_NATIVE_DOUBLE, part.memory, part.space, without, part.numbers) >=
          0);
  H5Pclose(without);
  free_part(part);
  return see(contiguous, list);
}

/* Two parts, of which the second is written by the late rank only; the others select nothing. */
static int write_by_one(int late, hid_t list) {
  put(chunked, together, 0);
  ++number;
  MPI_Barrier(MPI_COMM_WORLD);
  const hsize_t all = size_of_all();
  hid_t space = H5Screate_simple(1, &all, NULL);
  if (!late) H5Sselect_none(space);
  int *values = calloc(all, sizeof *values);
  for (hsize_t i = 0; i < all; ++i) values[i] = value(i);
  if (late) delay_next(milliseconds);
  REQUIRE(H5Dwrite(chunked, H5T_NATIVE_INT, space, space, together, values) >= 0);
  free(values);
  H5Sclose(space);
  return see(chunked, list);
}

static int write_apart(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(contiguous, apart, 0);
  return see(contiguous, list);
}

static int flush(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(contiguous, apart, 0);
  put(chunked, apart, 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  return see(contiguous, list) | see(chunked, list);
}

static int extend(int late, hid_t list) {
  const hsize_t half = size_of_all() / 2, all = size_of_all();
  put(chunked, together, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (late) delay_next(milliseconds);
  REQUIRE(H5Dset_extent(chunked, &half) >= 0);
  REQUIRE(H5Dset_extent(chunked, &all) >= 0);
  return differs(chunked, list, half);
}

static int create(int late, hid_t list) {
  const int fill = kFill;
  int wrong = 0;
  for (int kind = 0; kind < 3; ++kind) {
    char name[40];
    snprintf(name, sizeof name, "new_%d_%d", number, kind);
    if (late) delay_next(milliseconds);
    hid_t made = make(name, kind > 0 ? kChunk : 0, kind > 1, &fill);
    wrong |= differs(made, list, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    H5Dclose(made);
  }
  return wrong;
}

static void open_datasets(void) {
  contiguous = H5Dopen2(file, "contiguous", H5P_DEFAULT);
  chunked = H5Dopen2(file, "chunked", H5P_DEFAULT);
  deflated = H5Dopen2(file, "deflated", H5P_DEFAULT);
}

static void close_all(void) {
  H5Dclose(contiguous);
  H5Dclose(chunked);
  H5Dclose(deflated);
  REQUIRE(H5Fclose(file) >= 0);
}

static int open_again(int late, hid_t list) {
  if (late) delay_next(milliseconds);
  put(contiguous, apart, 0);
  put(chunked, apart, 0);
  close_all();
  file = H5Fopen(path, H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  open_datasets();
  return see(contiguous, list) | see(chunked, list);
}

/* What a late rank reads is not what others write together after they have read. */
static int write_after_read(int late, hid_t list) {
  put(contiguous, together, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (late) delay_next(milliseconds);
  const int wrong = see(contiguous, list);
  ++number;
  put(contiguous, together, 0);
  return wrong;
}

/* Each by itself: those that are early do not write over what a late one still reads. */
static int write_apart_after_read(int late, hid_t list) {
  put(contiguous, together, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (late) delay_next(milliseconds);
  const int wrong = see(contiguous, list);
  ++number;
  put(contiguous, apart, 0);
  return wrong;
}

static const struct {
  const char *name;
  int (*run)(int late, hid_t list);
} kCases[] = {
    {"write contiguous", write_contiguous},
    {"write chunked", write_chunked},
    {"write deflated", write_deflated},
    {"write several", write_several},
    {"write converted", write_converted},
    {"write by one", write_by_one},
    {"write apart", write_apart},
    {"flush", flush},
    {"extend", extend},
    {"create", create},
    {"open again", open_again},
    {"write after read", write_after_read},
    {"write apart after read", write_apart_after_read},
};

static int wrong_on_all(int (*run)(int late, hid_t list), hid_t list) {
  int wrong = 0, all = 0;
  for (int late = 0; late < ranks; ++late) {
    ++number;
    MPI_Barrier(MPI_COMM_WORLD);
    wrong += run(rank == late, list);
    MPI_Barrier(MPI_COMM_WORLD);
    delay_next(0);
    REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static void begin(void) {
  const int fill = kFill;
  fapl = H5Pcreate(H5P_FILE_ACCESS);
  together = H5Pcreate(H5P_DATASET_XFER);
  apart = H5Pcreate(H5P_DATASET_XFER);
  /* HDF5 does not notice that other ranks change a chunk with filters that it keeps. */
  REQUIRE(H5Pset_cache(fapl, 0, 521, 0, 0.75) >= 0);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  REQUIRE(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE) >= 0);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  contiguous = make("contiguous", 0, 0, NULL);
  chunked = make("chunked", kChunk, 0, &fill);
  deflated = make("deflated", kChunk, 1, NULL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc == 3 || argc == 4);
  path = argv[1];
  milliseconds = atoi(argv[2]);
  begin();
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (argc == 4 && strcmp(argv[3], kCases[i].name) != 0) continue;
    const int of_together = wrong_on_all(kCases[i].run, together);
    const int of_apart = wrong_on_all(kCases[i].run, apart);
    if (rank == 0)
      printf("{\"call\": \"%s\", \"together\": %d, \"apart\": %d}\n", kCases[i].name, of_together,
             of_apart);
    fflush(stdout);
  }
  close_all();
  H5Pclose(fapl);
  H5Pclose(together);
  H5Pclose(apart);
  MPI_Finalize();
  return 0;
}
