/* A program with maps, for tests/layers/object/test_maps.py: maps FILE WHAT. It ends with status 0
 * when all calls did what headrace/map.h says. */
#include <hdf5.h>
#include <headrace/map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

#define MANY 1000

static herr_t silently(hid_t stack, void *data) {
  (void)stack, (void)data;
  return 0;
}

static hid_t text_type(void) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  REQUIRE(type);
  REQUIRE(H5Tset_size(type, H5T_VARIABLE));
  return type;
}

typedef struct Seen {
  int64_t last;
  int count;
  int most;
} Seen;

static herr_t see(hid_t map, const void *key, void *data) {
  Seen *seen = (Seen *)data;
  int there = 0;
  const int64_t number = *(const int64_t *)key;
  EXPECT(headrace_map_exists(map, H5T_NATIVE_INT64, key, &there) == HEADRACE_DONE && there);
  EXPECT(seen->count == 0 || number > seen->last);
  seen->last = number;
  return ++seen->count == seen->most ? 7 : 0;
}

static void require_order(hid_t map) {
  Seen all = {0, 0, -1};
  EXPECT(headrace_map_iterate(map, NULL, H5T_NATIVE_INT64, see, &all) == HEADRACE_DONE);
  EXPECT(all.count == MANY && all.last == MANY / 2 - 1);
  Seen some = {0, 0, 300};
  const int64_t from = -10;
  EXPECT(headrace_map_iterate(map, &from, H5T_NATIVE_INT64, see, &some) == 7);
  EXPECT(some.count == 300 && some.last == 289);
}

/* Keys of 32 bits of another order of bytes than the program's. */
static void write_numbers(hid_t file) {
  static int64_t keys[MANY];
  static double values[MANY];
  uint64_t count = 0;
  const hid_t map = headrace_map_create(file, "group/numbers", H5T_STD_I32BE, H5T_IEEE_F32BE,
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT(map < 0);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  REQUIRE(H5Pset_create_intermediate_group(links, 1));
  const hid_t made = headrace_map_create(file, "group/numbers", H5T_STD_I32BE, H5T_IEEE_F32BE,
                                         links, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(made);
  for (int i = 0; i < MANY; ++i) {
    keys[i] = (i * 7919) % MANY - MANY / 2;
    values[i] = (double)keys[i] / 2;
  }
  REQUIRE(headrace_map_put_many(made, MANY, H5T_NATIVE_INT64, keys, H5T_NATIVE_DOUBLE, values));
  REQUIRE(headrace_map_count(made, &count));
  EXPECT(count == MANY);
  const int64_t too_large = (int64_t)1 << 40;
  EXPECT(headrace_map_put(made, H5T_NATIVE_INT64, &too_large, H5T_NATIVE_DOUBLE, values) ==
         HEADRACE_FAILED);
  const double half = 0.5;
  EXPECT(headrace_map_put(made, H5T_NATIVE_DOUBLE, &half, H5T_NATIVE_DOUBLE, values) ==
         HEADRACE_FAILED);
  REQUIRE(headrace_map_count(made, &count));
  EXPECT(count == MANY);
  require_order(made);
  REQUIRE(headrace_map_close(made));
  REQUIRE(H5Pclose(links));
}

static void read_numbers(hid_t file) {
  int64_t keys[3] = {-500, 12345, 499};
  double values[3] = {-1, -2, -3};
  uint8_t found[3] = {9, 9, 9};
  const hid_t map = headrace_map_open(file, "group/numbers", H5P_DEFAULT);
  REQUIRE(map);
  REQUIRE(headrace_map_get_many(map, 3, H5T_NATIVE_INT64, keys, H5T_NATIVE_DOUBLE, values, found));
  EXPECT(found[0] == 1 && found[1] == 0 && found[2] == 1);
  EXPECT(values[0] == -250 && values[1] == -2 && values[2] == 249.5);
  EXPECT(headrace_map_get(map, H5T_NATIVE_INT64, &keys[1], H5T_NATIVE_DOUBLE, values) ==
         HEADRACE_FAILED);
  EXPECT(headrace_map_delete(map, H5T_NATIVE_INT64, &keys[1]) == HEADRACE_FAILED);
  hid_t key_type = 0;
  hid_t val_type = 0;
  REQUIRE(headrace_map_types(map, &key_type, &val_type));
  EXPECT(H5Tequal(key_type, H5T_STD_I32BE) > 0 && H5Tequal(val_type, H5T_IEEE_F32BE) > 0);
  REQUIRE(H5Tclose(key_type));
  REQUIRE(H5Tclose(val_type));
  require_order(map);
  EXPECT(headrace_map_open(file, "group", H5P_DEFAULT) < 0);
  H5O_info2_t info;
  REQUIRE(H5Oget_info3(map, &info, H5O_INFO_ALL));
  EXPECT(info.type == H5O_TYPE_MAP && info.rc == 1);
  REQUIRE(headrace_map_close(map));
}

static void with_texts(hid_t file) {
  const hid_t type = text_type();
  const char *key = "key";
  const char *value = "a value";
  char *got = NULL;
  const hid_t map =
      headrace_map_create(file, "texts", type, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(map);
  REQUIRE(headrace_map_put(map, type, &key, type, &value));
  REQUIRE(headrace_map_get(map, type, &key, type, &got));
  EXPECT(strcmp(got, value) == 0);
  free(got);
  REQUIRE(headrace_map_delete(map, type, &key));
  EXPECT(headrace_map_get(map, type, &key, type, &got) == HEADRACE_FAILED);
  REQUIRE(headrace_map_put(map, type, &key, type, &value));
  REQUIRE(headrace_map_close(map));
  REQUIRE(H5Ldelete(file, "texts", H5P_DEFAULT));
  EXPECT(headrace_map_open(file, "texts", H5P_DEFAULT) < 0);
  REQUIRE(H5Tclose(type));
}

/* In no file of the layer. */
static void natively(hid_t file) {
  const int32_t key = 1;
  EXPECT(headrace_map_create(file, "map", H5T_STD_I32LE, H5T_STD_I32LE, H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT) < 0);
  EXPECT(headrace_map_put(file, H5T_NATIVE_INT32, &key, H5T_NATIVE_INT32, &key) == HEADRACE_ABSENT);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  REQUIRE(H5Eset_auto2(H5E_DEFAULT, silently, NULL));
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(file);
  if (strcmp(argv[2], "native") == 0) {
    natively(file);
  } else {
    write_numbers(file);
    with_texts(file);
    REQUIRE(H5Fclose(file));
    file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(file);
    read_numbers(file);
  }
  REQUIRE(H5Fclose(file));
  puts("good");
  return 0;
}
