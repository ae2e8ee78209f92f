/* What HDF5 tells of writes in their transfer lists: each rank prints a line for each case to the
 * file told.RANK, which is the same under every layer. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_require.h"

enum { PART = 40, CHUNK = 10, LAYOUTS = 3, TYPES = 5, SELECTIONS = 4 };

static const char *const layouts[] = {"contiguous", "chunked", "deflated"};
static const char *const types[] = {"alike", "swapped", "wider", "narrower", "member"};
static const char *const selections[] = {"part", "strided", "last_only", "none"};
static int rank, ranks;

/* Of a dataset, or of memory: two integers, or one of them. */
static hid_t pair_type(int both) {
  hid_t type = H5Tcreate(H5T_COMPOUND, both ? 8 : 4);
  H5Tinsert(type, "a", 0, H5T_NATIVE_INT);
  if (both) H5Tinsert(type, "b", 4, H5T_NATIVE_INT);
  return type;
}

static hid_t file_type(int type) {
  return type == 4 ? pair_type(1) : H5Tcopy(type == 1 ? H5T_STD_I32BE : H5T_STD_I32LE);
}

static hid_t memory_type(int type) {
  if (type == 4) return pair_type(0);
  return H5Tcopy(type == 2 ? H5T_NATIVE_DOUBLE : type == 3 ? H5T_NATIVE_SHORT : H5T_NATIVE_INT);
}

static hid_t make_dataset(hid_t file, int layout, int type) {
  const hsize_t size = (hsize_t)PART * ranks, chunk = CHUNK;
  char name[64];
  snprintf(name, sizeof name, "%s_%s", layouts[layout], types[type]);
  hid_t space = H5Screate_simple(1, &size, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  hid_t of = file_type(type);
  if (layout > 0) H5Pset_chunk(dcpl, 1, &chunk);
  if (layout == 2) H5Pset_deflate(dcpl, 1);
  hid_t dataset = H5Dcreate2(file, name, of, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  H5Tclose(of);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

static hid_t select_rows(hid_t dataset, int selection) {
  const hsize_t start = (hsize_t)PART * rank, stride = 2, part = PART, half = PART / 2;
  hid_t space = H5Dget_space(dataset);
  if (selection == 0) H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &part, NULL);
  if (selection == 1) H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &half, NULL);
  if (selection == 2 && rank == ranks - 1)
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &part, NULL);
  else if (selection >= 2)
    H5Sselect_none(space);
  return space;
}

static void print_told(FILE *out, const char *name, hid_t dxpl) {
  H5D_mpio_actual_io_mode_t io;
  H5D_mpio_actual_chunk_opt_mode_t chunks;
  uint32_t local, global, selection, why;
  REQUIRE(H5Pget_mpio_actual_io_mode(dxpl, &io) >= 0);
  REQUIRE(H5Pget_mpio_actual_chunk_opt_mode(dxpl, &chunks) >= 0);
  REQUIRE(H5Pget_mpio_no_collective_cause(dxpl, &local, &global) >= 0);
  REQUIRE(H5Pget_actual_selection_io_mode(dxpl, &selection) >= 0);
  REQUIRE(H5Pget_no_selection_io_cause(dxpl, &why) >= 0);
  fprintf(out, "%s: io %d chunks %d local %x global %x selection %x why %x\n", name, (int)io,
          (int)chunks, (unsigned)local, (unsigned)global, (unsigned)selection, (unsigned)why);
}

/* A list of its own for each way. `small` leaves no room for a conversion of all elements. */
static hid_t list_of(int collective, int mode, int modify, int small) {
  hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(dxpl, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  H5Pset_selection_io(dxpl, (H5D_selection_io_mode_t)mode);
  H5Pset_modify_write_buf(dxpl, modify != 0);
  if (small) H5Pset_buffer(dxpl, 64, NULL, NULL);
  return dxpl;
}

static void write_one(hid_t dataset, int type, int selection, hid_t dxpl, const void *bytes) {
  hid_t space = select_rows(dataset, selection), of = memory_type(type);
  const hsize_t elements = (hsize_t)H5Sget_select_npoints(space);
  hid_t memory = H5Screate_simple(1, &elements, NULL);
  if (elements == 0) H5Sselect_none(memory);
  REQUIRE(H5Dwrite(dataset, of, memory, space, dxpl, bytes) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Tclose(of);
}

static void write_two(const hid_t *datasets, const int *with, int selection, hid_t dxpl,
                      const void *bytes) {
  hid_t spaces[2], of[2], memory[2];
  const void *buffers[] = {bytes, bytes};
  for (int i = 0; i < 2; ++i) {
    spaces[i] = select_rows(datasets[i], selection);
    of[i] = memory_type(with[i]);
    const hsize_t elements = (hsize_t)H5Sget_select_npoints(spaces[i]);
    memory[i] = H5Screate_simple(1, &elements, NULL);
    if (elements == 0) H5Sselect_none(memory[i]);
  }
  hid_t both[] = {datasets[0], datasets[1]};
  REQUIRE(H5Dwrite_multi(2, both, of, memory, spaces, dxpl, buffers) >= 0);
  for (int i = 0; i < 2; ++i) {
    H5Sclose(memory[i]);
    H5Sclose(spaces[i]);
    H5Tclose(of[i]);
  }
}

static void all_of_one(FILE *out, hid_t file, void *bytes) {
  for (int layout = 0; layout < LAYOUTS; ++layout)
    for (int type = 0; type < TYPES; ++type) {
      hid_t dataset = make_dataset(file, layout, type);
      for (int way = 0; way < 2 * 3 * 2 * 2 * SELECTIONS; ++way) {
        const int selection = way % SELECTIONS, mode = way / SELECTIONS % 3;
        const int collective = way / (3 * SELECTIONS) % 2, modify = way / (6 * SELECTIONS) % 2;
        const int small = way / (12 * SELECTIONS);
        if (layout == 2 && !collective) continue; /* HDF5 refuses these */
        if (layout == 2 && type > 0) continue;    /* and these */
        char name[128];
        snprintf(name, sizeof name, "%s %s %s %s mode %d%s%s", layouts[layout], types[type],
                 selections[selection], collective ? "together" : "alone", mode,
                 modify ? " modify" : "", small ? " small" : "");
        hid_t dxpl = list_of(collective, mode, modify, small);
        write_one(dataset, type, selection, dxpl, bytes);
        print_told(out, name, dxpl);
        H5Pclose(dxpl);
      }
      H5Dclose(dataset);
    }
}

static void all_of_two(FILE *out, hid_t file, void *bytes) {
  static const int pairs[][4] = {{0, 0, 1, 0}, {0, 1, 1, 2}, {1, 3, 1, 0}, {0, 4, 0, 0}};
  for (int pair = 0; pair < 4; ++pair) {
    const int with[] = {pairs[pair][1], pairs[pair][3]};
    hid_t datasets[2];
    char name[128];
    for (int i = 0; i < 2; ++i) {
      snprintf(name, sizeof name, "%s_%s", layouts[pairs[pair][2 * i]], types[with[i]]);
      datasets[i] = H5Dopen2(file, name, H5P_DEFAULT);
    }
    for (int way = 0; way < 2 * 3 * SELECTIONS; ++way) {
      const int selection = way % SELECTIONS, mode = way / SELECTIONS % 3;
      const int collective = way / (3 * SELECTIONS);
      hid_t dxpl = list_of(collective, mode, 0, 0);
      snprintf(name, sizeof name, "pair %d %s %s mode %d", pair, selections[selection],
               collective ? "together" : "alone", mode);
      write_two(datasets, with, selection, dxpl, bytes);
      print_told(out, name, dxpl);
      H5Pclose(dxpl);
    }
    for (int i = 0; i < 2; ++i) H5Dclose(datasets[i]);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  char name[32];
  snprintf(name, sizeof name, "told.%d", rank);
  FILE *out = fopen(name, "w");
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  hid_t file = H5Fcreate("told.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(out != NULL && file >= 0);
  void *bytes = calloc(PART, 8);
  all_of_one(out, file, bytes);
  all_of_two(out, file, bytes);
  free(bytes);
  H5Pclose(fapl);
  REQUIRE(H5Fclose(file) >= 0 && fclose(out) == 0);
  MPI_Finalize();
}
