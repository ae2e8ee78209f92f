/* What ranks do to a file that is seldom done, each case by its name:
 *   converted   collective reads that HDF5 makes independent, of chunks that others write then
 *   anonymous   a dataset that gets its link later
 *   committed   a dataset whose datatype is an object of the file
 *   woven       chunks whose places in the file are between those of another rank's
 *   cut         a chunk of which only a part is left, and written to
 *   twice       a file that is opened again, and written through both ids
 *   linked      a dataset of a file with logs, through a link in another: that is refused
 *   grown       selections in a dataspace from before the dataset grew
 *   forked      a child writes to the file of its parent: that is refused
 *   full        one rank cannot write its log, and all write what HDF5 writes together
 *   others      a file that is open with logs is opened by other ranks: that is refused, by all
 *   long        one long run, in memory for a short one */
#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_require.h"

static int rank, ranks;
static hid_t independent, collective;

static hid_t open_file(const char *name, MPI_Comm by, int create) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(fapl, by, MPI_INFO_NULL);
  hid_t file = create ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl)
                      : H5Fopen(name, H5F_ACC_RDWR, fapl);
  H5Pclose(fapl);
  return file;
}

/* Of `n` integers; in chunks that can grow, deflated or not, unless `chunk` is 0. */
static hid_t make_dataset(hid_t file, const char *name, hsize_t n, hsize_t chunk, int deflate) {
  hsize_t most = H5S_UNLIMITED;
  hid_t space = H5Screate_simple(1, &n, chunk ? &most : NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk) H5Pset_chunk(dcpl, 1, &chunk);
  if (deflate) H5Pset_deflate(dcpl, 1);
  hid_t dataset =
      name ? H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT)
           : H5Dcreate_anon(file, H5T_NATIVE_INT, space, dcpl, H5P_DEFAULT);
  REQUIRE(dataset >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  return dataset;
}

static herr_t put(hid_t dataset, hsize_t first, hsize_t n, int value, hid_t dxpl) {
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &n, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL);
  int *values = malloc(n * sizeof *values);
  for (hsize_t i = 0; i < n; ++i) values[i] = value;
  const herr_t result = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, dxpl, values);
  free(values);
  H5Sclose(memory);
  H5Sclose(space);
  return result;
}

static int get(hid_t dataset, hsize_t at, int as_double, hid_t dxpl) {
  const hsize_t one = 1;
  int number = -1;
  double real = -1;
  hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &one, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
  REQUIRE(H5Dread(dataset, as_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT, memory, space, dxpl,
                  as_double ? (void *)&real : (void *)&number) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  return as_double ? (int)real : number;
}

static void converted(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 1000, 100, 1);
  for (int value = 1; value <= 2; ++value) {
    if (rank == 0) REQUIRE(put(d, 0, 1000, value, independent) >= 0);
    REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    if (value == 1)
      for (hsize_t i = 0; i < 1000; i += 50) REQUIRE(get(d, i, 1, collective) == 1);
  }
  /* A part of each chunk: the rest comes from what is there. */
  if (rank == 0)
    for (hsize_t i = 0; i < 1000; i += 100) REQUIRE(put(d, i, 1, 3, independent) >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (hsize_t i = 0; i < 1000; i += 25)
    REQUIRE(get(d, i, 0, independent) == (i % 100 == 0 ? 3 : 2));
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

static void anonymous(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, NULL, 100, 0, 0);
  REQUIRE(H5Olink(d, file, "d", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  hid_t again = H5Dopen2(file, "d", H5P_DEFAULT);
  const hsize_t mine = 10 * (hsize_t)rank;
  REQUIRE(put(again, mine, 10, 1, independent) >= 0);
  REQUIRE(get(d, mine, 0, independent) == 1);
  REQUIRE(put(d, mine, 10, 2, independent) >= 0);
  REQUIRE(get(again, mine, 0, independent) == 2);
  H5Dclose(again);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

/* Each rank's numbers lie between those of the others. */
static void committed(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), type = H5Tcopy(H5T_NATIVE_INT);
  REQUIRE(H5Tcommit2(file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
  const hsize_t all = 100, first = (hsize_t)rank, apart = (hsize_t)ranks, n = all / apart;
  hid_t space = H5Screate_simple(1, &all, NULL), memory = H5Screate_simple(1, &n, NULL);
  hid_t d = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, &apart, &n, NULL);
  int values[100];
  for (hsize_t i = 0; i < n; ++i) values[i] = rank + 1;
  REQUIRE(H5Dwrite(d, H5T_NATIVE_INT, memory, space, independent, values) >= 0);
  REQUIRE(get(d, first, 0, independent) == rank + 1);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(d);
  H5Tclose(type);
  REQUIRE(H5Fclose(file) >= 0);
}

/* The first two are next to each other in the dataset, and stored before and after the third. The
 * second time one write reaches over chunks in between that hold nothing of it. */
static void woven(void) {
  enum { kChunk = 4096, kChunks = 16, kWritten = 3 };
  static const hsize_t written[kWritten] = {0, 10, 1};
  static int twos[kChunk * kWritten];
  const hsize_t count = kChunk, all = kChunk * kWritten;
  for (int at_once = 0; at_once < 2; ++at_once) {
    hid_t file = open_file(at_once ? "x.h5" : "y.h5", MPI_COMM_WORLD, 1);
    hid_t d = make_dataset(file, "d", kChunk * kChunks, kChunk, 1), space = H5Dget_space(d);
    hid_t memory = H5Screate_simple(1, &all, NULL);
    H5Sselect_none(space);
    for (int i = 0; i < kWritten; ++i) {
      const hsize_t first = written[i] * kChunk;
      if (rank == 0) REQUIRE(put(d, first, kChunk, 1, independent) >= 0);
      REQUIRE(get(d, first, 0, collective) == 1); /* settles */
      H5Sselect_hyperslab(space, H5S_SELECT_OR, &first, NULL, &count, NULL);
    }
    for (hsize_t i = 0; i < all; ++i) twos[i] = 2;
    for (int i = 0; rank == 0 && !at_once && i < kWritten; ++i)
      REQUIRE(put(d, written[i] * kChunk, kChunk, 2, independent) >= 0);
    if (rank == 0 && at_once)
      REQUIRE(H5Dwrite(d, H5T_NATIVE_INT, memory, space, independent, twos) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(d);
    REQUIRE(H5Fclose(file) >= 0);
  }
}

static void cut(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 1000, 100, 0);
  if (rank == 0) REQUIRE(put(d, 0, 1000, 1, independent) >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  const hsize_t less = 950, more = 1000, first = 900 + 10 * (hsize_t)rank;
  REQUIRE(H5Dset_extent(d, &less) >= 0);
  REQUIRE(put(d, first, 10, 2, independent) >= 0);
  REQUIRE(H5Dset_extent(d, &more) >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  for (hsize_t by = 0; by < (hsize_t)ranks; ++by)
    REQUIRE(get(d, 905 + 10 * by, 0, independent) == 2);
  REQUIRE(get(d, 949, 0, independent) == 1 && get(d, 950, 0, independent) == 0);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

static void twice(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 100, 0, 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  hid_t again = open_file("x.h5", MPI_COMM_WORLD, 0);
  hid_t same = H5Dopen2(again, "d", H5P_DEFAULT);
  const hsize_t mine = 10 * (hsize_t)rank;
  REQUIRE(put(same, mine, 10, 1, independent) >= 0);
  REQUIRE(get(d, mine, 0, independent) == 1);
  REQUIRE(put(d, mine, 10, 2, independent) >= 0);
  REQUIRE(get(same, mine, 0, independent) == 2);
  H5Dclose(same);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0 && H5Fclose(again) >= 0);
}

static void linked(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 100, 0, 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  hid_t other = open_file("y.h5", MPI_COMM_WORLD, 1);
  REQUIRE(H5Lcreate_external("x.h5", "/d", other, "l", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  hid_t link = H5Dopen2(other, "l", H5P_DEFAULT);
  const hsize_t mine = 10 * (hsize_t)rank;
  REQUIRE(link >= 0 && put(d, mine, 10, 1, independent) >= 0);
  H5E_auto2_t print;
  void *to;
  H5Eget_auto2(H5E_DEFAULT, &print, &to);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (int i = 0; i < 2; ++i) REQUIRE(put(link, mine, 10, 2, independent) < 0);
  H5Eset_auto2(H5E_DEFAULT, print, to);
  H5Dclose(link);
  H5Dclose(d);
  REQUIRE(H5Fclose(other) >= 0 && H5Fclose(file) >= 0);
}

static void grown(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 100, 10, 0);
  hid_t space = H5Dget_space(d);
  hsize_t n = 200, first = 10 * (hsize_t)rank, ten = 10;
  REQUIRE(H5Dset_extent(d, &n) >= 0);
  hid_t memory = H5Screate_simple(1, &ten, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &ten, NULL);
  int values[10] = {0}, seven[10] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  REQUIRE(H5Dwrite(d, H5T_NATIVE_INT, memory, space, collective, seven) >= 0);
  REQUIRE(H5Dread(d, H5T_NATIVE_INT, memory, space, independent, values) >= 0);
  REQUIRE(memcmp(values, seven, sizeof values) == 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

static void forked(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 100, 0, 0);
  const hsize_t mine = 40 * (hsize_t)rank;
  REQUIRE(put(d, mine, 5, 1, independent) >= 0);
  REQUIRE(get(d, mine, 0, independent) == 1);
  const pid_t child = fork();
  if (child == 0) {
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    _exit(put(d, mine, 5, 9, independent) < 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
  REQUIRE(put(d, mine + 10, 5, 2, independent) >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  REQUIRE(get(d, mine, 0, independent) == 1 && get(d, mine + 10, 0, independent) == 2);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

static void fill_disk(void) {
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *one; (one = readdir(folder)) != NULL;) {
    char link[300], name[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%s", one->d_name);
    if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, "x.h5.headrace/"))
      dup2(open("/dev/full", O_RDWR), atoi(one->d_name));
  }
  closedir(folder);
}

static void full(void) {
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 100, 0, 0);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(dcpl, H5D_COMPACT);
  hid_t by_hdf5 =
      H5Dcreate2(file, "compact", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (rank == 1) {
    fill_disk();
    REQUIRE(put(d, 0, 10, 1, independent) >= 0); /* in memory */
    hid_t one = H5Dopen2(file, "d", H5P_DEFAULT);
    int value;
    const hsize_t n = 1;
    hid_t memory = H5Screate_simple(1, &n, NULL), first = H5Dget_space(one);
    H5Sselect_hyperslab(first, H5S_SELECT_SET, (hsize_t[]){0}, NULL, &n, NULL);
    REQUIRE(H5Dread(one, H5T_NATIVE_INT, memory, first, independent, &value) < 0); /* looks there */
    H5Sclose(first);
    H5Sclose(memory);
    H5Dclose(one);
  }
  const int value = 5;
  REQUIRE(H5Dwrite(by_hdf5, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, collective, &value) >= 0);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
  H5Pclose(dcpl);
  H5Sclose(space);
  H5Dclose(by_hdf5);
  H5Dclose(d);
  H5Fclose(file);
}

static void others(void) {
  MPI_Comm first, second;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &first);
  MPI_Comm_split(MPI_COMM_WORLD, rank != 1 ? 0 : MPI_UNDEFINED, rank, &second);
  hid_t file = -1, d = -1;
  if (rank < 2) {
    file = open_file("x.h5", first, 1);
    d = make_dataset(file, "d", 100, 0, 0);
    REQUIRE(put(d, 10 * (hsize_t)rank, 10, 7, independent) >= 0);
    REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (rank != 1) REQUIRE(open_file("x.h5", second, 0) < 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < 2) {
    REQUIRE(put(d, 10 * (hsize_t)rank, 10, 8, independent) >= 0);
    H5Dclose(d);
    REQUIRE(H5Fclose(file) >= 0);
  }
}

static long peak_kib(void) {
  FILE *in = fopen("/proc/self/status", "r");
  long peak = 0;
  for (char line[256]; fgets(line, sizeof line, in);) sscanf(line, "VmHWM: %ld", &peak);
  fclose(in);
  return peak;
}

/* What tells where the data belongs takes more than the data. At first what is known of patterns
 * grows, too. */
static void long_run(void) {
  enum { kPoints = 2000, kCalls = 1800, kFirst = 800 };
  hid_t file = open_file("x.h5", MPI_COMM_WORLD, 1), d = make_dataset(file, "d", 600000, 0, 0);
  const hsize_t count = kPoints;
  hid_t space = H5Dget_space(d), memory = H5Screate_simple(1, &count, NULL);
  static hsize_t points[kPoints];
  static int values[kPoints];
  long before = 0;
  srand((unsigned)rank);
  for (int call = 0; call < kCalls; ++call) {
    hsize_t at = 0;
    for (int i = 0; i < kPoints; ++i) points[i] = at += 1 + (hsize_t)(rand() % 290);
    for (int i = 0; i < kPoints; ++i) values[i] = (int)points[i];
    H5Sselect_elements(space, H5S_SELECT_SET, kPoints, points);
    REQUIRE(H5Dwrite(d, H5T_NATIVE_INT, memory, space, independent, values) >= 0);
    if (call == kFirst) before = peak_kib();
  }
  const long grown = peak_kib() - before;
  if (grown > 3072) fprintf(stderr, "rank %d has grown by %ld KiB\n", rank, grown);
  REQUIRE(grown <= 3072);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(d);
  REQUIRE(H5Fclose(file) >= 0);
}

int main(int argc, char **argv) {
  setenv("HEADRACE_LOG_BUDGET", "1MiB", 1); /* before HDF5 loads what reads it */
  static const struct {
    const char *name;
    void (*play)(void);
  } cases[] = {
      {"converted", converted}, {"anonymous", anonymous}, {"woven", woven},   {"cut", cut},
      {"twice", twice},         {"linked", linked},       {"grown", grown},   {"forked", forked},
      {"committed", committed}, {"full", full},           {"others", others}, {"long", long_run}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  independent = H5Pcreate(H5P_DATASET_XFER);
  collective = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(collective, H5FD_MPIO_COLLECTIVE);
  int played = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
      cases[i].play();
      ++played;
    }
  REQUIRE(played == 1);
  H5Pclose(independent);
  H5Pclose(collective);
  MPI_Finalize();
  return 0;
}
