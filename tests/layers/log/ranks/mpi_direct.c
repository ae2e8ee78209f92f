/* Ranks write long pieces, which HDF5 writes at once, and scattered ones, which are logged, to the
 * same datasets, whole elements and members of them. A rank has slots of its own between two
 * flushes, and others after them. FILE.DATASET.expected holds what each dataset must in the end.
 *   mpi_direct FILE [SEED]
 * Each rank prints a line of JSON at the end. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_require.h"

enum { kSlot = 9000, kSlots = 6, kAll = kSlot * kSlots, kKinds = 5, kSteps = 120 };
typedef struct Element {
  int a, b;
  double c;
} Element;
typedef struct Dataset {
  const char *name;
  hsize_t chunk;
  int deflate;
  hid_t id;
  Element now[kAll];
} Dataset;

static Dataset datasets[kKinds] = {{.name = "contiguous"},
                                   {.name = "chunked", .chunk = 4500},
                                   {.name = "small_chunks", .chunk = 100},
                                   {.name = "deflated", .chunk = 4500, .deflate = 1},
                                   {.name = "late", .chunk = 4500}};
static int rank, ranks, epoch, known;       /* datasets so far */
static hid_t file, whole, only_b, lists[2]; /* independent, collective */
static unsigned long long seed = 1;
static const char *path;

static unsigned below(unsigned n) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)((seed >> 33) % n);
}

static hid_t access_list(void) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  REQUIRE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  REQUIRE(H5Pset_all_coll_metadata_ops(fapl, epoch % 2) >= 0);
  return fapl;
}

static void create(void) {
  Dataset *d = datasets + known++;
  const hsize_t all = kAll;
  hid_t space = H5Screate_simple(1, &all, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  if (d->chunk) H5Pset_chunk(dcpl, 1, &d->chunk);
  if (d->deflate) H5Pset_deflate(dcpl, 1);
  d->id = H5Dcreate2(file, d->name, whole, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  REQUIRE(d->id >= 0);
  H5Pclose(dcpl);
  H5Sclose(space);
}

/* The elements of a slot, or every `stride`-th of them. */
static hid_t select_slot(int slot, hsize_t stride, hsize_t *count) {
  const hsize_t all = kAll, start = (hsize_t)slot * kSlot;
  *count = (kSlot + stride - 1) / stride;
  hid_t space = H5Screate_simple(1, &all, NULL);
  REQUIRE(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, count, NULL) >= 0);
  return space;
}

/* All ranks know what one writes; that one does it. */
static void write_slot(Dataset *d, int by, int slot, hid_t list) {
  static Element elements[kSlot];
  static int members[kSlot];
  const int member = below(2), value = (int)below(1000000);
  const hsize_t stride = below(2) ? 1 : 2 + below(5);
  hsize_t count;
  hid_t space = select_slot(slot, stride, &count), memory = H5Screate_simple(1, &count, NULL);
  for (int i = 0; i < (int)count; ++i) {
    Element *to = d->now + slot * kSlot + i * (int)stride;
    members[i] = to->b = value + i;
    if (!member) *to = (Element){-value - i, value + i, value / 2.0};
    elements[i] = *to;
  }
  if (by == rank)
    REQUIRE(H5Dwrite(d->id, member ? only_b : whole, memory, space, list,
                     member ? (void *)members : (void *)elements) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
}

static void check_slot(const Dataset *d, int slot, hid_t list) {
  static Element found[kSlot];
  hsize_t count;
  hid_t space = select_slot(slot, 1, &count), memory = H5Screate_simple(1, &count, NULL);
  REQUIRE(H5Dread(d->id, whole, memory, space, list, found) >= 0);
  for (int i = 0; i < kSlot; ++i) {
    const Element *expected = d->now + slot * kSlot + i;
    if (memcmp(found + i, expected, sizeof found[i]) == 0) continue;
    fprintf(stderr, "rank %d, epoch %d: %s[%d][%d] is %d, %d, %g, not %d, %d, %g\n", rank, epoch,
            d->name, slot, i, found[i].a, found[i].b, found[i].c, expected->a, expected->b,
            expected->c);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  H5Sclose(memory);
  H5Sclose(space);
}

static int owner(int slot) { return (slot + epoch) % ranks; }

/* Where ranks settle or keep their logs: slots have other owners then. */
static void sync_file(int how) {
  if (how == 0) REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  if (how == 1) check_slot(datasets + below((unsigned)known), (int)below(kSlots), lists[1]);
  if (how == 1) REQUIRE(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  ++epoch;
  if (how != 2) return;
  for (int i = 0; i < known; ++i) REQUIRE(H5Dclose(datasets[i].id) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  hid_t fapl = access_list();
  REQUIRE((file = H5Fopen(path, H5F_ACC_RDWR, fapl)) >= 0);
  H5Pclose(fapl);
  for (int i = 0; i < known; ++i)
    REQUIRE((datasets[i].id = H5Dopen2(file, datasets[i].name, H5P_DEFAULT)) >= 0);
}

static void step(void) {
  Dataset *d = datasets + below((unsigned)known);
  const unsigned what = below(12);
  if (what == 0) {
    const int how = (int)below(3);
    sync_file(how);
    for (int slot = 0; slot < kSlots; ++slot) check_slot(d, slot, lists[0]);
    MPI_Barrier(MPI_COMM_WORLD); /* before anybody writes what others read by HDF5 */
    return;
  }
  if (what == 1) {
    REQUIRE(H5Dclose(d->id) >= 0);
    REQUIRE((d->id = H5Dopen2(file, d->name, H5P_DEFAULT)) >= 0);
    return;
  }
  const int together = (int)below(2), first = (int)below(kSlots);
  for (int by = 0; by < ranks; ++by) {
    int slot = first;
    while (owner(slot) != by) slot = (slot + 1) % kSlots;
    if (!together && below(3) == 0) continue;
    write_slot(d, by, slot, lists[together]);
    if (by == rank && slot % 2) check_slot(d, slot, lists[0]);
  }
}

static void save(const Dataset *d) {
  char expected[4096];
  snprintf(expected, sizeof expected, "%s.%s.expected", path, d->name);
  FILE *out = fopen(expected, "wb");
  REQUIRE(out && fwrite(d->now, sizeof d->now, 1, out) == 1 && fclose(out) == 0);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(argc > 1 && ranks <= kSlots);
  path = argv[1];
  if (argc > 2) seed = strtoull(argv[2], NULL, 10);
  lists[0] = H5Pcreate(H5P_DATASET_XFER);
  lists[1] = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(lists[1], H5FD_MPIO_COLLECTIVE);
  whole = H5Tcreate(H5T_COMPOUND, sizeof(Element));
  H5Tinsert(whole, "a", HOFFSET(Element, a), H5T_NATIVE_INT);
  H5Tinsert(whole, "b", HOFFSET(Element, b), H5T_NATIVE_INT);
  H5Tinsert(whole, "c", HOFFSET(Element, c), H5T_NATIVE_DOUBLE);
  only_b = H5Tcreate(H5T_COMPOUND, sizeof(int));
  H5Tinsert(only_b, "b", 0, H5T_NATIVE_INT);
  hid_t fapl = access_list();
  REQUIRE((file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl)) >= 0);
  H5Pclose(fapl);
  while (known < kKinds - 1) create();
  for (int i = 0; i < kSteps; ++i) {
    if (i == kSteps / 2) create(); /* after logs have been kept */
    step();
  }
  for (int i = 0; i < known; ++i) REQUIRE(H5Dclose(datasets[i].id) >= 0);
  REQUIRE(H5Fclose(file) >= 0);
  for (int i = 0; i < kKinds && rank == 0; ++i) save(datasets + i);
  printf("{\"rank\":%d,\"ranks\":%d}\n", rank, ranks);
  MPI_Finalize();
  return 0;
}
