/* Ranks open a file together, write and read it, and each prints a line of JSON about itself.
 *   open_together world|halves|self|forget|alone [LIBHDF5]
 * alone: rank 0 by itself, with a list that was for all ranks before. world, halves, self: the
 * communicator of the file. forget: as world, and leaves it to the end of MPI to close the file.
 * LIBHDF5: another libhdf5 that opens a file of its own first. */
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition)                                        \
  do {                                                            \
    if (!(condition)) {                                           \
      fprintf(stderr, "line %d: not " #condition "\n", __LINE__); \
      exit(1); /* MPI ends the other ranks */                     \
    }                                                             \
  } while (0)

/* The serial HDF5 of a Python package, say. It must call itself, not the HDF5 of this program,
   whose symbols are in the global scope. */
static void open_elsewhere(const char *library) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  REQUIRE(handle);
  hid_t (*create)(const char *, unsigned, hid_t, hid_t) = NULL;
  herr_t (*close)(hid_t) = NULL;
  *(void **)&create = dlsym(handle, "H5Fcreate");
  *(void **)&close = dlsym(handle, "H5Fclose");
  REQUIRE(create && close);
  char name[64];
  snprintf(name, sizeof name, "elsewhere-%d.h5", (int)getpid());
  hid_t file = create(name, 2 /* H5F_ACC_TRUNC */, 0, 0);
  REQUIRE(file >= 0);
  REQUIRE(close(file) >= 0);
}

/* One integer a rank, written and read collectively. */
static void transfer(hid_t file, int rank, int ranks, int reading) {
  hsize_t size = (hsize_t)ranks, start = (hsize_t)rank, one = 1;
  hid_t space = H5Screate_simple(1, &size, NULL);
  hid_t dataset = reading ? H5Dopen2(file, "ranks", H5P_DEFAULT)
                          : H5Dcreate2(file, "ranks", H5T_NATIVE_INT, space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT);
  hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
  REQUIRE(dataset >= 0 && H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE) >= 0);
  if (reading) {
    int *all = calloc((size_t)ranks, sizeof *all);
    REQUIRE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, dxpl, all) >= 0);
    for (int i = 0; i < ranks; ++i) REQUIRE(all[i] == 100 + i);
    free(all);
  } else {
    int mine = 100 + rank;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL);
    REQUIRE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, dxpl, &mine) >= 0);
    H5Sclose(memory);
  }
  /* Natively the library takes these through the driver's own struct. */
  hbool_t atomic = 0;
  REQUIRE(H5Fset_mpi_atomicity(file, 1) >= 0);
  REQUIRE(H5Fget_mpi_atomicity(file, &atomic) >= 0);
  REQUIRE(atomic);
  H5Pclose(dxpl);
  H5Sclose(space);
  H5Dclose(dataset);
}

/* Whether the superblock says that somebody has the file open for writing. */
static int marked(hid_t file, const char *name) {
  unsigned char block[32];
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  FILE *bytes = fopen(name, "rb");
  REQUIRE(bytes && fread(block, sizeof block, 1, bytes) == 1 && fclose(bytes) == 0);
  const int version = block[8];
  return version < 2 ? block[20] : block[11];
}

static void open_alone(hid_t fapl) {
  REQUIRE(H5Pset_fapl_sec2(fapl) >= 0);
  hid_t file = H5Fcreate("alone.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0 && H5Fclose(file) >= 0);
  file = H5Fopen("alone.h5", H5F_ACC_RDWR, fapl);
  REQUIRE(file >= 0);
  hid_t access = H5Fget_access_plist(file);
  REQUIRE(access >= 0 && H5Pclose(access) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  REQUIRE(H5Fis_accessible("alone.h5", fapl) > 0);
  REQUIRE(H5Fdelete("alone.h5", fapl) >= 0);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "world";
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int group = strcmp(mode, "halves") == 0 ? rank % 2 : strcmp(mode, "self") == 0 ? rank : 0;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, group, rank, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (argc > 2) open_elsewhere(argv[2]);

  char name[64];
  snprintf(name, sizeof name, "together-%d.h5", group);
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, comm, MPI_INFO_NULL) >= 0);
  if (strcmp(mode, "alone") == 0) {
    if (rank == 0) open_alone(fapl);
    MPI_Barrier(comm);
    REQUIRE(H5Pset_fapl_mpio(fapl, comm, MPI_INFO_NULL) >= 0);
  }
  hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  REQUIRE(file >= 0);
  transfer(file, rank, ranks, 0);
  const int mark = marked(file, name);
  if (strcmp(mode, "forget") != 0) {
    REQUIRE(H5Fclose(file) >= 0);
    file = H5Fopen(name, H5F_ACC_RDONLY, fapl);
    REQUIRE(file >= 0);
    transfer(file, rank, ranks, 1);
    REQUIRE(H5Fclose(file) >= 0);
  }
  H5Pclose(fapl);
  printf("{\"pid\":%d,\"group\":%d,\"rank\":%d,\"ranks\":%d,\"marked\":%d}\n", (int)getpid(), group,
         rank, ranks, mark);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
