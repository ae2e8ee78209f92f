/* The files of the corpus that h5py cannot make.   forge DEST
 *
 * Any failing call ends the program: a corpus with a feature missing would prove less than it says.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OK(call) check((int64_t)(call), #call, __LINE__)

static int64_t check(int64_t value, const char *call, int line) {
  if (value < 0) {
    fprintf(stderr, "forge.c:%d: %s\n", line, call);
    exit(1);
  }
  return value;
}

static hid_t vector(hsize_t count) { return OK(H5Screate_simple(1, &count, NULL)); }

static hid_t open_new(const char *name, hid_t fcpl, H5F_libver_t low) {
  hid_t fapl = OK(H5Pcreate(H5P_FILE_ACCESS));
  OK(H5Pset_libver_bounds(fapl, low, H5F_LIBVER_LATEST));
  hid_t file = OK(H5Fcreate(name, H5F_ACC_TRUNC, fcpl, fapl));
  OK(H5Pclose(fapl));
  return file;
}

static hid_t put(hid_t loc, const char *name, hid_t type, hid_t space, hid_t dcpl,
                 const void *data) {
  hid_t made = OK(H5Dcreate2(loc, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  if (data) OK(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
  return made;
}

static void put_attribute(hid_t loc, const char *name, hid_t type, hid_t space, const void *data) {
  hid_t made = OK(H5Acreate2(loc, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
  OK(H5Awrite(made, type, data));
  OK(H5Aclose(made));
}

/* References as of 1.12: objects, regions and attributes, also into another file. */
static void references(void) {
  enum { kCount = 6 };
  H5R_ref_t refs[kCount];
  int numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  hsize_t start = 2, stride = 4, count = 2, block = 3, points[3] = {11, 0, 5};
  memset(refs, 0, sizeof refs); /* the last one stays null */
  hid_t other = open_new("references_target.h5", H5P_DEFAULT, H5F_LIBVER_V112);
  hid_t file = open_new("references_new.h5", H5P_DEFAULT, H5F_LIBVER_V112);
  hid_t space = vector(12),
        target = put(file, "target", H5T_STD_I32LE, space, H5P_DEFAULT, numbers);
  OK(H5Dclose(put(other, "elsewhere", H5T_STD_I32LE, space, H5P_DEFAULT, numbers)));
  put_attribute(target, "note", H5T_STD_I32LE, space, numbers);
  OK(H5Rcreate_object(file, "target", H5P_DEFAULT, &refs[0]));
  OK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, &block));
  OK(H5Rcreate_region(file, "target", space, H5P_DEFAULT, &refs[1]));
  OK(H5Sselect_elements(space, H5S_SELECT_SET, 3, points));
  OK(H5Rcreate_region(file, "target", space, H5P_DEFAULT, &refs[2]));
  OK(H5Rcreate_attr(file, "target", "note", H5P_DEFAULT, &refs[3]));
  OK(H5Rcreate_object(other, "elsewhere", H5P_DEFAULT, &refs[4]));
  hid_t all = vector(kCount);
  OK(H5Dclose(put(file, "references", H5T_STD_REF, all, H5P_DEFAULT, refs)));
  put_attribute(file, "references", H5T_STD_REF, all, refs);
  for (int i = 0; i < kCount - 1; i++) OK(H5Rdestroy(&refs[i]));
  OK(H5Sclose(all)), OK(H5Sclose(space)), OK(H5Dclose(target)), OK(H5Fclose(file)),
      OK(H5Fclose(other));
}

/* A link class of our own: readers do not know it and must say so. */
static hid_t follow(const char *name, hid_t group, const void *data, size_t size, hid_t lapl,
                    hid_t dxpl) {
  (void)name, (void)size, (void)dxpl;
  return H5Oopen(group, data, lapl);
}

static void user_defined_links(void) {
  const H5L_class_t kind = {
      .version = H5L_LINK_CLASS_T_VERS, .id = 187, .comment = "corpus", .trav_func = follow};
  OK(H5Lregister(&kind));
  hid_t file = open_new("links_user_defined.h5", H5P_DEFAULT, H5F_LIBVER_V18), space = vector(1);
  OK(H5Dclose(put(file, "data", H5T_STD_U8LE, space, H5P_DEFAULT, "\x07")));
  OK(H5Lcreate_ud(file, "user_defined", 187, "/data", 6, H5P_DEFAULT, H5P_DEFAULT));
  OK(H5Sclose(space)), OK(H5Fclose(file)), OK(H5Lunregister(187));
}

/* Messages shared in the file's own table, as lists and as B-trees. */
static void shared_messages(void) {
  for (unsigned list = 0; list < 2; list++) {
    hid_t fcpl = OK(H5Pcreate(H5P_FILE_CREATE)), space = vector(3);
    OK(H5Pset_shared_mesg_nindexes(fcpl, 2));
    OK(H5Pset_shared_mesg_index(fcpl, 0, H5O_SHMESG_DTYPE_FLAG | H5O_SHMESG_SDSPACE_FLAG, 8));
    OK(H5Pset_shared_mesg_index(
        fcpl, 1, H5O_SHMESG_ATTR_FLAG | H5O_SHMESG_FILL_FLAG | H5O_SHMESG_PLINE_FLAG, 8));
    OK(H5Pset_shared_mesg_phase_change(fcpl, list ? 100 : 0, 0));
    hid_t file = open_new(list ? "shared_list.h5" : "shared_btree.h5", fcpl, H5F_LIBVER_V18);
    hid_t type = OK(H5Tcreate(H5T_COMPOUND, 12));
    OK(H5Tinsert(type, "a_member_with_a_long_name", 0, H5T_STD_I32LE));
    OK(H5Tinsert(type, "another_member", 4, H5T_IEEE_F64LE));
    for (int i = 0; i < 15; i++) {
      char name[16], records[36] = {(char)i};
      snprintf(name, sizeof name, "data%d", i);
      hid_t made = put(file, name, type, space, H5P_DEFAULT, records);
      put_attribute(made, "the same everywhere", type, space, records + 1);
      OK(H5Dclose(made));
    }
    OK(H5Tclose(type)), OK(H5Sclose(space)), OK(H5Fclose(file)), OK(H5Pclose(fcpl));
  }
}

/* Types that h5py cannot write: times, and variable lengths within variable lengths. */
static void rare_types(void) {
  static const int32_t times[2] = {0, 1000000000};
  static signed char first[] = {1, 2, 3}, second[] = {-1};
  static hvl_t inner[2] = {{3, first}, {1, second}};
  static const hvl_t outer[2] = {{2, inner}, {0, NULL}};
  static const char *words[2] = {"one", ""};
  hid_t file = open_new("types_rare.h5", H5P_DEFAULT, H5F_LIBVER_V18), space = vector(2);
  OK(H5Dclose(put(file, "time", H5T_UNIX_D32LE, space, H5P_DEFAULT, times)));
  OK(H5Dclose(put(file, "time_big", H5T_UNIX_D32BE, space, H5P_DEFAULT, times)));
  hid_t one = OK(H5Tvlen_create(H5T_STD_I8LE)), two = OK(H5Tvlen_create(one));
  OK(H5Dclose(put(file, "vlen_of_vlen", two, space, H5P_DEFAULT, outer)));
  put_attribute(file, "vlen_of_vlen", two, space, outer);
  hid_t text = OK(H5Tcopy(H5T_C_S1));
  OK(H5Tset_size(text, H5T_VARIABLE));
  hsize_t pair = 2;
  hid_t texts = OK(H5Tarray_create2(text, 1, &pair)), scalar = OK(H5Screate(H5S_SCALAR));
  OK(H5Dclose(put(file, "array_of_vlen_strings", texts, scalar, H5P_DEFAULT, words)));
  OK(H5Tcommit2(file, "named_vlen", two, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  OK(H5Oset_comment_by_name(file, "time", "a comment", H5P_DEFAULT));
  OK(H5Tclose(texts)), OK(H5Tclose(text)), OK(H5Tclose(one)), OK(H5Tclose(two));
  OK(H5Sclose(space)), OK(H5Sclose(scalar)), OK(H5Fclose(file));
}

/* Partial edge chunks that skip the filters; n-bit of a compound; the sizes of old B-trees. */
static void storage(void) {
  hid_t fcpl = OK(H5Pcreate(H5P_FILE_CREATE)), dcpl = OK(H5Pcreate(H5P_DATASET_CREATE));
  OK(H5Pset_istore_k(fcpl, 2)), OK(H5Pset_sym_k(fcpl, 2, 1));
  hid_t files[2] = {open_new("storage_old.h5", fcpl, H5F_LIBVER_EARLIEST),
                    open_new("storage_new.h5", H5P_DEFAULT, H5F_LIBVER_V110)};
  hsize_t chunk = 7;
  hid_t space = vector(100), narrow = OK(H5Tcopy(H5T_STD_I16LE)),
        record = OK(H5Tcreate(H5T_COMPOUND, 6));
  OK(H5Tset_precision(narrow, 10)), OK(H5Tset_offset(narrow, 3));
  OK(H5Tinsert(record, "narrow", 0, narrow)), OK(H5Tinsert(record, "float", 2, H5T_IEEE_F32BE));
  unsigned char data[600];
  for (int i = 0; i < 600; i++)
    data[i] = i % 6 < 2 ? (unsigned char)(i % 6 ? 0x1f & i : i & 0xf8) : (unsigned char)(i / 50);
  for (int i = 0; i < 2; i++) {
    OK(H5Pset_chunk(dcpl, 1, &chunk));
    OK(H5Pset_nbit(dcpl));
    OK(H5Dclose(put(files[i], "nbit_record", record, space, dcpl, data)));
    OK(H5Premove_filter(dcpl, H5Z_FILTER_ALL)), OK(H5Pset_deflate(dcpl, 9));
    if (i) OK(H5Pset_chunk_opts(dcpl, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
    OK(H5Dclose(put(files[i], "edge_chunks", record, space, dcpl, data)));
    for (int n = 0; n < 12; n++) {
      char name[8];
      snprintf(name, sizeof name, "g%d", n);
      OK(H5Gclose(OK(H5Gcreate2(files[i], name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    }
    OK(H5Premove_filter(dcpl, H5Z_FILTER_ALL)), OK(H5Fclose(files[i]));
  }
  OK(H5Tclose(narrow)), OK(H5Tclose(record)), OK(H5Sclose(space)), OK(H5Pclose(dcpl)),
      OK(H5Pclose(fcpl));
}

/* A virtual dataset over numbered files (%b), and one with an unlimited stride. */
static void numbered_virtual(void) {
  hsize_t dims[2] = {0, 4}, most[2] = {H5S_UNLIMITED, 4}, start[2] = {0, 0}, one[2] = {1, 1};
  hsize_t count[2] = {H5S_UNLIMITED, 1}, block[2] = {1, 4}, row[2] = {1, 4};
  int numbers[4] = {1, 2, 3, 4};
  for (int i = 0; i < 2; i++) {
    char name[32];
    snprintf(name, sizeof name, "virtual_numbered_%d.h5", i);
    hid_t file = open_new(name, H5P_DEFAULT, H5F_LIBVER_EARLIEST),
          space = OK(H5Screate_simple(2, row, NULL));
    OK(H5Dclose(put(file, "row", H5T_STD_I32LE, space, H5P_DEFAULT, numbers)));
    OK(H5Sclose(space)), OK(H5Fclose(file));
  }
  hid_t file = open_new("virtual_numbered.h5", H5P_DEFAULT, H5F_LIBVER_V110),
        dcpl = OK(H5Pcreate(H5P_DATASET_CREATE));
  hid_t whole = OK(H5Screate_simple(2, dims, most)), source = OK(H5Screate_simple(2, row, NULL));
  OK(H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, one, count, block));
  OK(H5Pset_virtual(dcpl, whole, "virtual_numbered_%b.h5", "row", source));
  OK(H5Dclose(put(file, "rows", H5T_STD_I32LE, whole, dcpl, NULL)));
  OK(H5Sclose(whole)), OK(H5Sclose(source)), OK(H5Pclose(dcpl)), OK(H5Fclose(file));
}

/* The metadata cache kept as an image in the file; and one file in seven parts. */
static void file_forms(void) {
  H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, true, false,
                                     H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
  const char *names[2] = {"cache_image.h5", "multi"};
  for (int i = 0; i < 2; i++) {
    hid_t fapl = OK(H5Pcreate(H5P_FILE_ACCESS)), space = vector(4);
    if (i) {
      OK(H5Pset_fapl_multi(fapl, NULL, NULL, NULL, NULL, true));
    } else {
      OK(H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_LATEST));
      OK(H5Pset_mdc_image_config(fapl, &image));
    }
    hid_t file = OK(H5Fcreate(names[i], H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    OK(H5Dclose(put(file, "data", H5T_STD_I32LE, space, H5P_DEFAULT, "abcdefghijklmno")));
    OK(H5Gclose(OK(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    OK(H5Sclose(space)), OK(H5Fclose(file)), OK(H5Pclose(fapl));
  }
}

/* Groups and attributes that change form early: dense with two members, compact again with one. */
static void phase_changes(void) {
  hid_t gcpl = OK(H5Pcreate(H5P_GROUP_CREATE)),
        file = open_new("groups_dense.h5", H5P_DEFAULT, H5F_LIBVER_V18);
  OK(H5Pset_link_phase_change(gcpl, 2, 1)), OK(H5Pset_attr_phase_change(gcpl, 2, 1));
  OK(H5Pset_link_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  OK(H5Pset_attr_creation_order(gcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  OK(H5Pset_est_link_info(gcpl, 3, 40));
  hid_t group = OK(H5Gcreate2(file, "group", H5P_DEFAULT, gcpl, H5P_DEFAULT)), space = vector(1);
  const char *names[] = {"z", "a", "m", "q"};
  for (int i = 0; i < 4; i++) {
    OK(H5Gclose(OK(H5Gcreate2(group, names[i], H5P_DEFAULT, gcpl, H5P_DEFAULT))));
    put_attribute(group, names[i], H5T_STD_I8LE, space, "\x05");
  }
  OK(H5Sclose(space)), OK(H5Gclose(group)), OK(H5Pclose(gcpl)), OK(H5Fclose(file));
}

int main(int count, char **arguments) {
  if (count != 2 || chdir(arguments[1])) {
    fprintf(stderr, "usage: forge DEST\n");
    return 2;
  }
  references();
  user_defined_links();
  shared_messages();
  rare_types();
  storage();
  numbered_virtual();
  file_forms();
  phase_changes();
  return 0;
}
