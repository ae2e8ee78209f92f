/* Ranks write one file together under a model of what it must hold: the writes of an epoch in the
 * order of ranks, each rank's in its own.
 *   mpi_logs write      random programs; the file is checked by whoever starts this, too
 *   mpi_logs calls      each collective call that looks at data, in the midst of logged writes
 *   mpi_logs uneven     some write and read more often than others
 *   mpi_logs atomic     H5Fset_mpi_atomicity: nothing is logged from then on
 *   mpi_logs fail       one rank cannot write its log: its write or the flush says so, and all know
 *   mpi_logs lose       the same until the file is closed
 *   mpi_logs forget     leaves it to the end of MPI to close the file
 *   mpi_logs crash      ends without a word, with writes after the last flush
 * Each rank prints a line of JSON at the end. */
#include <dirent.h>
#include <fcntl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi_model.h"
#include "mpi_require.h"

static int keeps; /* canonicalise=later */

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
  if (!keeps) REQUIRE(H5Lmove(file, "copy", file, "moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  hid_t again = H5Freopen(file);
  REQUIRE(again >= 0);
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  REQUIRE(H5Fclose(again) >= 0); /* settles, and nothing is logged from here on */
  for (int i = 0; i < kModels; ++i) end_epoch(models + i);
  for (int i = 0; i < kModels; ++i) check(models + i, models[i].now, independent);
  MPI_Barrier(MPI_COMM_WORLD);
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);

  open_models("calls.h5", models);
  for (int i = 0; i < 4; ++i) write_round(models + i, i % 2);
  if (keeps) /* logs that are kept have names: nothing is logged from here on */
    REQUIRE(H5Lmove(file, "copy", file, "moved", H5P_DEFAULT, H5P_DEFAULT) >= 0);
  REQUIRE(H5Ldelete(file, "moved", H5P_DEFAULT) >= 0); /* the same */
  for (int i = 0; i < kModels; ++i) end_epoch(models + i);
  for (int i = 0; i < kModels; ++i) check(models + i, models[i].now, independent);
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);
  for (int i = 0; i < kModels; ++i) save("calls.h5", models + i);
  free(models);
}

/* The others come to a collective call while one rank still writes and reads. */
static void write_unevenly(void) {
  create_file("uneven.h5");
  Model *models = make_models();
  for (int round = 0; round < 6; ++round) {
    if (round % 2 == 0) {
      close_models(models);
      REQUIRE(H5Fclose(file) >= 0);
      for (int i = 0; i < kModels; ++i) end_epoch(models + i);
      open_models("uneven.h5", models);
    }
    for (int by = 0; by < ranks; ++by)
      for (int write = 0; write < (by + round) % ranks * 5; ++write) {
        Model *m = models + below(kModels);
        const Box box = random_box(m);
        const int value = (int)below(1000000), as_double = below(3) == 0;
        put(m, by, &box, value);
        if (by != rank) continue;
        write_box(m, &box, value, as_double, independent);
        if (write % 4 == 0) check_box(m, &box);
      }
    if (round % 2 == 0) flush(models, kModels);
  }
  close_models(models);
  REQUIRE(H5Fclose(file) >= 0);
  for (int i = 0; i < kModels; ++i) save("uneven.h5", models + i);
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
  REQUIRE(H5Fclose(file) < 0);
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(one == ranks);
  free(models);
}

/* The log of the last rank's node cannot be moved beside the file: a folder has its copy's name. */
static void flush_unmoved(void) {
  create_file("left.h5");
  Model *models = make_models();
  for (int i = 0; i < kModels; ++i) write_round(models + i, i % 2);
  for (int i = 0; i < kModels; ++i) save("left.h5", models + i);
  DIR *logs = rank == ranks - 1 ? opendir("left.h5.headrace") : NULL;
  int found = 0;
  for (struct dirent *one; logs && (one = readdir(logs)) != NULL;) {
    char path[300];
    snprintf(path, sizeof path, "left.h5.headrace/%s.part", one->d_name);
    if (strstr(one->d_name, ".n1.log")) found += mkdir(path, 0700) == 0;
  }
  if (logs) closedir(logs);
  REQUIRE(rank < ranks - 1 || found == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) < 0);
  close_models(models);
  REQUIRE(H5Fclose(file) < 0);
  free(models);
}

static void leave(int flushes, int crash) {
  create_file("left.h5");
  Model *models = make_models();
  for (int i = 0; i < kModels; ++i) write_round(models + i, i % 2);
  if (flushes) flush(models, kModels);
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
  else if (strcmp(mode, "uneven") == 0)
    write_unevenly();
  else if (strcmp(mode, "atomic") == 0)
    write_atomically();
  else if (strcmp(mode, "fail") == 0 || strcmp(mode, "lose") == 0)
    fail(strcmp(mode, "lose") == 0);
  else if (strcmp(mode, "unmoved") == 0)
    flush_unmoved();
  else
    leave(strcmp(mode, "unflushed") != 0, strcmp(mode, "crash") == 0);
  printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  if (strcmp(mode, "forget") != 0 && strcmp(mode, "unflushed") != 0) {
    H5Pclose(independent);
    H5Pclose(collective);
  }
  MPI_Finalize();
  return 0;
}
