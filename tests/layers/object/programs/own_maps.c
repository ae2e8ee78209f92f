/* A program that uses HDF5's own functions for maps, for tests/layers/object/test_maps.py: own_maps
 * FILE. It says so where the library has none. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

#ifdef H5_HAVE_MAP_API

typedef struct Seen {
  int32_t keys[8];
  int count;
} Seen;

static herr_t see(hid_t map, const void *key, void *data) {
  Seen *seen = (Seen *)data;
  EXPECT(H5Iget_type(map) == H5I_MAP);
  seen->keys[seen->count++] = *(const int32_t *)key;
  return seen->count == 3;
}

static void write_map(hid_t file) {
  const int32_t keys[] = {5, -3, 12, 0};
  bool exists = 0;
  const hid_t map =
      H5Mcreate(file, "map", H5T_STD_I32LE, H5T_IEEE_F64LE, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(map);
  for (int i = 0; i < 4; ++i) {
    const double value = keys[i] * 1.5;
    REQUIRE(H5Mput(map, H5T_NATIVE_INT32, &keys[i], H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT));
  }
  REQUIRE(H5Mexists(map, H5T_NATIVE_INT32, &keys[2], &exists, H5P_DEFAULT));
  EXPECT(exists);
  REQUIRE(H5Mdelete(map, H5T_NATIVE_INT32, &keys[2], H5P_DEFAULT));
  REQUIRE(H5Mexists(map, H5T_NATIVE_INT32, &keys[2], &exists, H5P_DEFAULT));
  EXPECT(!exists);
  REQUIRE(H5Mput(map, H5T_NATIVE_INT32, &keys[2], H5T_NATIVE_INT32, &keys[2], H5P_DEFAULT));
  REQUIRE(H5Mclose(map));
  const hid_t anonymous =
      H5Mcreate_anon(file, H5T_STD_I32LE, H5T_STD_I32LE, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(anonymous);
  REQUIRE(H5Olink(anonymous, file, "linked", H5P_DEFAULT, H5P_DEFAULT));
  REQUIRE(H5Mput(anonymous, H5T_NATIVE_INT32, keys, H5T_NATIVE_INT32, keys, H5P_DEFAULT));
  REQUIRE(H5Mclose(anonymous));
}

static void read_map(hid_t file) {
  const int32_t key = 12;
  double value = 0;
  hsize_t count = 0;
  hsize_t index = 0;
  Seen seen = {{0}, 0};
  const hid_t map = H5Mopen(file, "map", H5P_DEFAULT);
  REQUIRE(map);
  REQUIRE(H5Mget(map, H5T_NATIVE_INT32, &key, H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT));
  EXPECT(value == 12);
  REQUIRE(H5Mget_count(map, &count, H5P_DEFAULT));
  EXPECT(count == 4);
  EXPECT(H5Miterate(map, &index, H5T_NATIVE_INT32, see, &seen, H5P_DEFAULT) == 1);
  EXPECT(index == 3 && seen.keys[0] == -3 && seen.keys[1] == 0 && seen.keys[2] == 5);
  EXPECT(H5Miterate_by_name(file, "map", &index, H5T_NATIVE_INT32, see, &seen, H5P_DEFAULT,
                            H5P_DEFAULT) == 0);
  EXPECT(index == 4 && seen.count == 4 && seen.keys[3] == 12);
  const hid_t key_type = H5Mget_key_type(map);
  const hid_t val_type = H5Mget_val_type(map);
  EXPECT(H5Tequal(key_type, H5T_STD_I32LE) > 0 && H5Tequal(val_type, H5T_IEEE_F64LE) > 0);
  REQUIRE(H5Tclose(key_type));
  REQUIRE(H5Tclose(val_type));
  const hid_t made = H5Mget_create_plist(map);
  const hid_t opened = H5Mget_access_plist(map);
  REQUIRE(H5Pclose(made));
  REQUIRE(H5Pclose(opened));
  REQUIRE(H5Mclose(map));
  const hid_t linked = H5Mopen(file, "linked", H5P_DEFAULT);
  REQUIRE(H5Mget_count(linked, &count, H5P_DEFAULT));
  EXPECT(count == 1);
  REQUIRE(H5Mclose(linked));
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(file);
  write_map(file);
  REQUIRE(H5Fclose(file));
  file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
  REQUIRE(file);
  read_map(file);
  REQUIRE(H5Fclose(file));
  puts("good");
  return 0;
}

#else

int main(void) {
  puts("none");
  return 0;
}

#endif
