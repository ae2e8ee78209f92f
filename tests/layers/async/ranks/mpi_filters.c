/* Ranks write compressed chunks together, read them each on its own and together, overwrite them,
 * and read again, at the end from a file that is open for reading only; for
 * tests/layers/async/ranks/test_mpi_filters.py: mpi_filters FILE. Rank 0 prints what HDF5 tells of
 * how reads were made. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 64, kColumns = 500, kChunkRows = 16, kChunkColumns = 128 };

static int rank, ranks;
static hid_t together, alone;

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      fprintf(stderr, "rank %d, line %d: not %s\n", rank, __LINE__, #condition); \
      H5Eprint2(H5E_DEFAULT, stderr);                                            \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

static int value(int id, hsize_t row, hsize_t column) {
  return id * 1000003 + (int)(row * kColumns + column);
}

typedef struct {
  hsize_t start[2], count[2];
} box_t;

static box_t all_rows(void) { return (box_t){{0, 0}, {(hsize_t)ranks * kRows, kColumns}}; }
static box_t rows_of(int of) { return (box_t){{(hsize_t)of * kRows, 0}, {kRows, kColumns}}; }

static hid_t selected(hid_t dataset, const box_t *box) {
  hid_t space = H5Dget_space(dataset);
  EXPECT(H5Sselect_hyperslab(space, H5S_SELECT_SET, box->start, NULL, box->count, NULL) >= 0);
  return space;
}

static void write_mine(hid_t dataset, int id) {
  const box_t box = rows_of(rank);
  int(*data)[kColumns] = malloc(sizeof(int[kRows][kColumns]));
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c)
      data[r][c] = value(id, box.start[0] + (hsize_t)r, (hsize_t)c);
  hid_t space = selected(dataset, &box), memory = H5Screate_simple(2, box.count, NULL);
  EXPECT(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, together, data) >= 0);
  H5Sclose(space);
  H5Sclose(memory);
  free(data);
}

/* id 0: never written, the fill value. */
static void check(hid_t dataset, int id, box_t box, hid_t dxpl) {
  const size_t count = (size_t)(box.count[0] * box.count[1]);
  int *data = malloc(count * sizeof *data);
  memset(data, 0x55, count * sizeof *data);
  hid_t space = selected(dataset, &box), memory = H5Screate_simple(2, box.count, NULL);
  EXPECT(H5Dread(dataset, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
  for (size_t i = 0; i < count; ++i)
    EXPECT(data[i] ==
           (id == 0 ? -7
                    : value(id, box.start[0] + i / box.count[1], box.start[1] + i % box.count[1])));
  H5Sclose(space);
  H5Sclose(memory);
  free(data);
}

static void check_alone(hid_t dataset, int id) {
  const box_t part = {{kRows - 5, 100}, {8, 300}}; /* no whole chunk */
  const box_t chunks = {{kChunkRows, kChunkColumns}, {2 * kChunkRows, kChunkColumns}};
  check(dataset, id, all_rows(), H5P_DEFAULT);
  check(dataset, id, rows_of(ranks - 1 - rank), alone);
  if (rank == 0) check(dataset, id, chunks, H5P_DEFAULT); /* the others do not */
  check(dataset, id, rank == 0 ? chunks : part, H5P_DEFAULT);
}

/* Together, then alone with the same list, in which HDF5 leaves how it was done. */
static void check_together(hid_t dataset, int id) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  const H5FD_mpio_xfer_t ways[] = {H5FD_MPIO_COLLECTIVE, H5FD_MPIO_INDEPENDENT};
  for (int i = 0; i < 2; ++i) {
    H5D_mpio_actual_io_mode_t mode = H5D_MPIO_NO_COLLECTIVE;
    H5D_mpio_actual_chunk_opt_mode_t chunks = H5D_MPIO_NO_CHUNK_OPTIMIZATION;
    uint32_t local = 0, global = 0;
    EXPECT(H5Pset_dxpl_mpio(list, ways[i]) >= 0);
    check(dataset, id, rows_of(ranks - 1 - rank), list);
    EXPECT(H5Pget_mpio_actual_io_mode(list, &mode) >= 0);
    EXPECT(H5Pget_mpio_actual_chunk_opt_mode(list, &chunks) >= 0);
    EXPECT(H5Pget_mpio_no_collective_cause(list, &local, &global) >= 0);
    if (rank == 0) printf("%d %d %u %u\n", (int)mode, (int)chunks, local, global);
  }
  H5Pclose(list);
}

static hid_t access_list(int collective_metadata) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  EXPECT(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  if (collective_metadata) EXPECT(H5Pset_all_coll_metadata_ops(fapl, 1) >= 0);
  return fapl;
}

static hid_t created(hid_t file) {
  const hsize_t size[2] = {(hsize_t)ranks * kRows, kColumns}, most[2] = {H5S_UNLIMITED, kColumns};
  const hsize_t chunk[2] = {kChunkRows, kChunkColumns};
  const int fill = -7;
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, size, most);
  EXPECT(H5Pset_chunk(dcpl, 2, chunk) >= 0 && H5Pset_shuffle(dcpl) >= 0);
  EXPECT(H5Pset_deflate(dcpl, 4) >= 0 && H5Pset_fletcher32(dcpl) >= 0);
  EXPECT(H5Pset_fill_value(dcpl, H5T_NATIVE_INT, &fill) >= 0);
  EXPECT(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_INCR) >= 0);
  /* HDF5 (1.14.5 to 2.2.0) reads a chunk from its cache that has been overwritten together. */
  hid_t dapl = H5Pcreate(H5P_DATASET_ACCESS);
  EXPECT(H5Pset_chunk_cache(dapl, 0, 0, 1) >= 0);
  hid_t dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, dapl);
  EXPECT(dataset >= 0);
  H5Pclose(dapl);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

static void run(const char *name) {
  const hsize_t larger[2] = {(hsize_t)(ranks + 1) * kRows, kColumns};
  hid_t fapl = access_list(0);
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  EXPECT(file >= 0);
  hid_t dataset = created(file);
  check_alone(dataset, 0);
  for (int id = 1; id < 4; ++id) {
    MPI_Barrier(MPI_COMM_WORLD);
    write_mine(dataset, id);
    MPI_Barrier(MPI_COMM_WORLD); /* that is all a rank needs to see what others wrote */
    check_alone(dataset, id);
    check_together(dataset, id);
  }
  EXPECT(H5Dset_extent(dataset, larger) >= 0);
  check(dataset, 0, rows_of(ranks), H5P_DEFAULT);
  check(dataset, 3, all_rows(), H5P_DEFAULT);
  H5Dclose(dataset);
  EXPECT(H5Fclose(file) >= 0);
  for (int collective_metadata = 0; collective_metadata < 2; ++collective_metadata) {
    hid_t list = access_list(collective_metadata);
    file = H5Fopen(name, H5F_ACC_RDONLY, list);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    check_alone(dataset, 3);
    check_together(dataset, 3);
    H5Dclose(dataset);
    EXPECT(H5Fclose(file) >= 0);
    H5Pclose(list);
  }
  H5Pclose(fapl);
}

/* A file with a damaged chunk in the last rows: who reads it is told, and nobody waits. */
static void damaged(const char *name) {
  hid_t fapl = access_list(0), file = H5Fopen(name, H5F_ACC_RDONLY, fapl);
  hid_t dataset = H5Dopen2(file, "d", H5P_DEFAULT);
  if (rank == ranks - 1) {
    const box_t mine = rows_of(rank);
    int *data = malloc(sizeof(int[kRows][kColumns]));
    hid_t space = selected(dataset, &mine), memory = H5Screate_simple(2, mine.count, NULL);
    herr_t result = 0;
    H5E_BEGIN_TRY { result = H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, data); }
    H5E_END_TRY
    EXPECT(result < 0);
    H5Sclose(space);
    H5Sclose(memory);
    free(data);
  } else {
    check(dataset, 3, rows_of(rank), H5P_DEFAULT);
  }
  H5Dclose(dataset);
  EXPECT(H5Fclose(file) >= 0);
  H5Pclose(fapl);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  together = H5Pcreate(H5P_DATASET_XFER);
  alone = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  H5Pset_buffer(alone, 1 << 16, NULL, NULL);
  if (argc > 2 && strcmp(argv[2], "damaged") == 0)
    damaged(argv[1]);
  else
    run(argv[1]);
  H5Pclose(together);
  H5Pclose(alone);
  if (rank == 0) printf("good\n");
  MPI_Finalize();
  return 0;
}
