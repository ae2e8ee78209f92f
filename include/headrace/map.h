/* Maps: values by keys, as objects of the files that the layer `object` keeps
 * (docs/guide/object.md).
 *
 * They are what HDF5 calls map objects, with the arguments of its functions H5M..., which few
 * builds of the library have. These work with each one from 1.14 on. Nothing is linked.
 *
 *     #include <headrace/map.h>
 *
 *     hid_t map = headrace_map_create(file, "runs", H5T_STD_I64LE, H5T_IEEE_F64LE, H5P_DEFAULT,
 *                                     H5P_DEFAULT, H5P_DEFAULT);
 *     int64_t key = 17;
 *     double value = 0.5;
 *     if (headrace_map_put(map, H5T_NATIVE_INT64, &key, H5T_NATIVE_DOUBLE, &value) < 0)
 *       H5Eprint(H5E_DEFAULT, stderr);
 *     headrace_map_close(map);
 *
 * Keys are integers, floats, enumerations, strings, opaque types, and compounds and arrays of
 * these; they are in order, strings byte by byte, members one after the other. A key that the map's
 * type cannot have exactly is an error. Values are of all types but references; what is of variable
 * length is returned in memory that H5Treclaim() frees. A map is an object of the file: links,
 * attributes, H5Oopen(), H5Oget_info() and H5Ldelete() are for maps, too. What is put is written as
 * all changes of the file are; where two programs have put or deleted one key, the second one's
 * flush fails and names it.
 *
 * Functions that return an int return HEADRACE_DONE, HEADRACE_FAILED with HDF5's error stack
 * telling why, or HEADRACE_ABSENT where the object is in no file of the layer. Call them wherever
 * HDF5 may be called: on one thread at a time, unless the library is thread-safe. None is
 * collective. HDF5's headers must be those of the library that is linked.
 */
#ifndef HEADRACE_MAP_H
#define HEADRACE_MAP_H

#include <headrace/operation.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of headrace_map_create(). */
typedef struct headrace_map_create_t {
  size_t size; /* of this struct, as in all below */
  const char *name;
  hid_t key_type;
  hid_t val_type;
  hid_t lcpl;
  hid_t mcpl;
} headrace_map_create_t;

/* Of what is done with `n` keys. */
typedef struct headrace_map_keys_t {
  size_t size;
  size_t n;
  hid_t key_mem_type;
  const void *keys;
  hid_t val_mem_type; /* of a put or get */
  const void *put;    /* values */
  void *get;          /* values */
  uint8_t *found;     /* whether a key was there; may be NULL */
} headrace_map_keys_t;

/* Of the entries from a key on. */
typedef struct headrace_map_scan_t {
  size_t size;
  size_t n; /* at most; set to how many there were */
  hid_t key_mem_type;
  const void *from; /* NULL: the first */
  int behind;       /* not `from` itself */
  void *keys;
  hid_t val_mem_type;
  void *values; /* NULL: not wanted */
} headrace_map_scan_t;

/* What a map is. The types are to be closed. */
typedef struct headrace_map_info_t {
  size_t size;
  uint64_t count;
  hid_t key_type;
  hid_t val_type;
} headrace_map_info_t;

/* The operations' names, for HDF5. */
#define HEADRACE_OPERATION_MAP_CREATE "headrace.object.map_create"
#define HEADRACE_OPERATION_MAP_PUT "headrace.object.map_put"
#define HEADRACE_OPERATION_MAP_GET "headrace.object.map_get"
#define HEADRACE_OPERATION_MAP_DELETE "headrace.object.map_delete"
#define HEADRACE_OPERATION_MAP_EXISTS "headrace.object.map_exists"
#define HEADRACE_OPERATION_MAP_SCAN "headrace.object.map_scan"
#define HEADRACE_OPERATION_MAP_COUNT "headrace.object.map_count"
#define HEADRACE_OPERATION_MAP_TYPES "headrace.object.map_types"

/* Used below. */
static inline int headrace_map_operation_(hid_t object, const char *name, void *args) {
#if H5_VERSION_GE(1, 14, 0)
  H5VL_optional_args_t call;
  uint64_t flags = 0;
  int there = 0;
  H5E_BEGIN_TRY {
    there = H5VLfind_opt_operation(H5VL_SUBCLS_OBJECT, name, &call.op_type) >= 0 &&
            H5VLquery_optional(object, H5VL_SUBCLS_OBJECT, call.op_type, &flags) >= 0 &&
            (flags & H5VL_OPT_QUERY_SUPPORTED) != 0;
    if (!there) H5Eclear2(H5E_DEFAULT);
  }
  H5E_END_TRY
  if (!there) return HEADRACE_ABSENT;
  call.args = args;
  return H5VLobject_optional_op(object, ".", H5P_DEFAULT, &call, H5P_DEFAULT, H5ES_NONE) < 0
             ? HEADRACE_FAILED
             : HEADRACE_DONE;
#else
  (void)object, (void)name, (void)args;
  return HEADRACE_ABSENT;
#endif
}

/* As H5Mopen(): a map that is there. Negative where it is not, or is no map. */
static inline hid_t headrace_map_open(hid_t loc, const char *name, hid_t mapl) {
  hid_t map = H5Oopen(loc, name, H5P_DEFAULT);
  (void)mapl;
  if (map >= 0 && H5Iget_type(map) != H5I_MAP) {
    H5Oclose(map);
    map = H5I_INVALID_HID;
    H5Epush2(H5E_DEFAULT, __FILE__, "headrace_map_open", __LINE__, H5E_ERR_CLS, H5E_ARGS,
             H5E_BADTYPE, "%s is not a map", name);
  }
  return map;
}

/* As H5Mclose(). */
static inline herr_t headrace_map_close(hid_t map) { return H5Oclose(map); }

/* As H5Mcreate(): a new map of that name. Negative when it fails, and where `loc` is in no file of
 * the layer. `lcpl` may have groups on the way made; `mapl` is for later. */
static inline hid_t headrace_map_create(hid_t loc, const char *name, hid_t key_type, hid_t val_type,
                                        hid_t lcpl, hid_t mcpl, hid_t mapl) {
  headrace_map_create_t args = {sizeof args, name, key_type, val_type, lcpl, mcpl};
  const int made = headrace_map_operation_(loc, HEADRACE_OPERATION_MAP_CREATE, &args);
  if (made == HEADRACE_DONE) return headrace_map_open(loc, name, mapl);
  if (made == HEADRACE_ABSENT)
    H5Epush2(H5E_DEFAULT, __FILE__, "headrace_map_create", __LINE__, H5E_ERR_CLS, H5E_ARGS,
             H5E_UNSUPPORTED, "a map needs a file of the Headrace layer `object`: %s", name);
  return H5I_INVALID_HID;
}

/* Puts `n` entries, one element of each array after the other; the later one of two with one key
 * stays. Where it fails some may have been put. */
static inline int headrace_map_put_many(hid_t map, size_t n, hid_t key_mem_type, const void *keys,
                                        hid_t val_mem_type, const void *values) {
  headrace_map_keys_t args = {sizeof args, n, key_mem_type, keys, val_mem_type, values, NULL, NULL};
  return headrace_map_operation_(map, HEADRACE_OPERATION_MAP_PUT, &args);
}

/* As H5Mput(). */
static inline int headrace_map_put(hid_t map, hid_t key_mem_type, const void *key,
                                   hid_t val_mem_type, const void *value) {
  return headrace_map_put_many(map, 1, key_mem_type, key, val_mem_type, value);
}

/* The values of `n` keys. `found[i]` becomes 1, or 0 where there is no such key, whose value stays
 * as it is in memory. Without `found` that is an error. */
static inline int headrace_map_get_many(hid_t map, size_t n, hid_t key_mem_type, const void *keys,
                                        hid_t val_mem_type, void *values, uint8_t *found) {
  headrace_map_keys_t args = {sizeof args,  n,    key_mem_type, keys,
                              val_mem_type, NULL, values,       found};
  return headrace_map_operation_(map, HEADRACE_OPERATION_MAP_GET, &args);
}

/* As H5Mget(): fails where there is no such key. */
static inline int headrace_map_get(hid_t map, hid_t key_mem_type, const void *key,
                                   hid_t val_mem_type, void *value) {
  return headrace_map_get_many(map, 1, key_mem_type, key, val_mem_type, value, NULL);
}

/* Sets `exists` to 1 or 0. */
static inline int headrace_map_exists(hid_t map, hid_t key_mem_type, const void *key, int *exists) {
  uint8_t found = 0;
  headrace_map_keys_t args = {sizeof args,     1,    key_mem_type, key,
                              H5I_INVALID_HID, NULL, NULL,         &found};
  const int result = headrace_map_operation_(map, HEADRACE_OPERATION_MAP_EXISTS, &args);
  *exists = found;
  return result;
}

/* As H5Mdelete(): fails where there is no such key. */
static inline int headrace_map_delete(hid_t map, hid_t key_mem_type, const void *key) {
  headrace_map_keys_t args = {sizeof args, 1, key_mem_type, key, H5I_INVALID_HID, NULL, NULL, NULL};
  return headrace_map_operation_(map, HEADRACE_OPERATION_MAP_DELETE, &args);
}

/* How many entries there are. This program's own changes count at once, those of others as of this
 * program's last flush. */
static inline int headrace_map_count(hid_t map, uint64_t *count) {
  headrace_map_info_t args = {sizeof args, 0, H5I_INVALID_HID, H5I_INVALID_HID};
  const int result = headrace_map_operation_(map, HEADRACE_OPERATION_MAP_COUNT, &args);
  *count = args.count;
  return result;
}

/* The types that the map was made with, which the caller closes. */
static inline int headrace_map_types(hid_t map, hid_t *key_type, hid_t *val_type) {
  headrace_map_info_t args = {sizeof args, 0, H5I_INVALID_HID, H5I_INVALID_HID};
  const int result = headrace_map_operation_(map, HEADRACE_OPERATION_MAP_TYPES, &args);
  *key_type = args.key_type;
  *val_type = args.val_type;
  return result;
}

/* The next entries in the order of keys, at most *n: from `from` on, or those behind it; from the
 * first one where it is NULL. Sets *n to how many there were; `values` may be NULL. */
static inline int headrace_map_scan(hid_t map, hid_t key_mem_type, const void *from, int behind,
                                    size_t *n, void *keys, hid_t val_mem_type, void *values) {
  headrace_map_scan_t args = {sizeof args, *n,   key_mem_type, from,
                              behind,      keys, val_mem_type, values};
  const int result = headrace_map_operation_(map, HEADRACE_OPERATION_MAP_SCAN, &args);
  *n = result == HEADRACE_DONE ? args.n : 0;
  return result;
}

/* As H5M_iterate_t. */
typedef herr_t (*headrace_map_iterate_t)(hid_t map, const void *key, void *op_data);

/* Used by headrace_map_iterate(). */
static inline void headrace_map_reclaim_(hid_t type, size_t n, void *elements) {
  const hsize_t count = n;
  const hid_t space = n == 0 ? H5I_INVALID_HID : H5Screate_simple(1, &count, NULL);
  if (space < 0) return;
  H5Treclaim(type, space, H5P_DEFAULT, elements);
  H5Sclose(space);
}

/* Calls `op` for each key in their order, from `from` on (NULL: the first), until it returns
 * another value than 0, which is the result where it is positive. `op` may change the map: keys
 * that it puts behind the one it has are met, or not. */
static inline int headrace_map_iterate(hid_t map, const void *from, hid_t key_mem_type,
                                       headrace_map_iterate_t op, void *op_data) {
  enum { AT_ONCE = 256 };
  const size_t element = H5Tget_size(key_mem_type);
  char *keys = element == 0 ? NULL : (char *)calloc(2 * AT_ONCE, element);
  char *page = keys;
  size_t before = 0;
  int result = keys == NULL ? HEADRACE_FAILED : HEADRACE_DONE;
  int last = keys == NULL;
  while (!last) {
    char *const next = page == keys ? keys + AT_ONCE * element : keys;
    size_t n = AT_ONCE;
    result =
        headrace_map_scan(map, key_mem_type, from, before > 0, &n, next, H5I_INVALID_HID, NULL);
    headrace_map_reclaim_(key_mem_type, before, page);
    page = next;
    before = n;
    for (size_t i = 0; result == 0 && i < n; ++i) result = op(map, page + i * element, op_data);
    last = result != 0 || n < AT_ONCE;
    if (n > 0) from = page + (n - 1) * element;
  }
  if (keys != NULL) headrace_map_reclaim_(key_mem_type, before, page);
  free(keys);
  return result < 0 ? HEADRACE_FAILED : result;
}

#ifdef __cplusplus
}
#endif

#endif /* HEADRACE_MAP_H */
