/* A program that ends HDF5 and begins it anew, with files open and closed, for test_library.py:
 * again FOLDER [faces]. With `faces` it calls what HDF5 asks native objects for. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#include "require.h"

enum { kRounds = 6, kElements = 8 };

typedef struct Files {
  char names[2][4096];
  hid_t files[2];
  hid_t dataset;
  hid_t group;
} Files;

static void make(Files *all, int in_order) {
  const hsize_t dim = kElements;
  const double data[kElements] = {1, 2, 3, 4, 5, 6, 7, 8};
  const hid_t list = H5Pcreate(H5P_FILE_CREATE);
  const hid_t space = H5Screate_simple(1, &dim, NULL);
  if (in_order)
    REQUIRE(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  for (int i = 0; i < 2; ++i)
    REQUIRE(all->files[i] = H5Fcreate(all->names[i], H5F_ACC_TRUNC, list, H5P_DEFAULT));
  all->dataset = H5Dcreate2(all->files[0], "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT,
                            H5P_DEFAULT);
  REQUIRE(H5Dwrite(all->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  REQUIRE(all->group = H5Gcreate2(all->files[1], "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

static void open_both(Files *all) {
  double data[kElements] = {0};
  for (int i = 0; i < 2; ++i)
    REQUIRE(all->files[i] = H5Fopen(all->names[i], H5F_ACC_RDONLY, H5P_DEFAULT));
  REQUIRE(all->dataset = H5Dopen2(all->files[0], "x", H5P_DEFAULT));
  REQUIRE(H5Dread(all->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  EXPECT(data[kElements - 1] == kElements);
  REQUIRE(all->group = H5Gopen2(all->files[1], "g", H5P_DEFAULT));
}

static void ask_for_faces(const Files *all) {
  const hid_t objects[] = {all->dataset, all->group};
  for (int i = 0; i < 2; ++i) {
    const hid_t file = H5Iget_file_id(objects[i]);
    H5O_info1_t info;
    EXPECT(file == all->files[i]);
    REQUIRE(H5Fclose(file));
    REQUIRE(H5Oget_info1(objects[i], &info));
    EXPECT(info.rc == 1);
  }
}

static void count(const Files *all) {
  hid_t ids[4];
  EXPECT(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 4);
  EXPECT(H5Fget_obj_count(all->files[0], H5F_OBJ_ALL) == 2);
  EXPECT(H5Fget_obj_count(all->files[0], H5F_OBJ_GROUP) == 0);
  EXPECT(H5Fget_obj_ids(all->files[1], H5F_OBJ_GROUP, 4, ids) == 1);
  EXPECT(ids[0] == all->group);
}

static void close_some(const Files *all, int how) {
  if (how == 0) return;
  REQUIRE(H5Fclose(all->files[0]));
  if (how == 1) return;
  REQUIRE(H5Dclose(all->dataset));
  REQUIRE(H5Gclose(all->group));
  REQUIRE(H5Fclose(all->files[1]));
}

int main(int argc, char **argv) {
  const int faces = argc > 2;
  Files all;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i)
      snprintf(all.names[i], sizeof all.names[i], "%s/%d-%d.h5", argv[1], round, i);
    make(&all, round % 2);
    if (faces) ask_for_faces(&all);
    count(&all);
    close_some(&all, round % 3);
    REQUIRE(H5close());
    open_both(&all);
    if (faces) ask_for_faces(&all);
    count(&all);
    close_some(&all, (round + 1) % 3);
    REQUIRE(H5close());
  }
  printf("good\n");
  return 0;
}
