#include "conformance/exercise.hpp"

#include <array>
#include <numeric>

namespace headrace::test {
namespace {

constexpr hsize_t kRows = 8;

struct Program {
  std::string path;
  hid_t fapl;
  hid_t file = H5I_INVALID_HID;
  int failures = 0;

  // Notes a failed call. Returns its argument.
  template <typename T>
  T check(T result) {
    if (result < 0) ++failures;
    return result;
  }
  // Closes an id of any kind; an invalid one was counted when it was made.
  void close(hid_t id) {
    if (id >= 0) check(H5Idec_ref(id));
  }
};

void files(Program& p) {
  p.check(H5Fflush(p.file, H5F_SCOPE_GLOBAL));
  hsize_t size = 0;
  p.check(H5Fget_filesize(p.file, &size));
  std::array<char, 256> name{};
  p.check(H5Fget_name(p.file, name.data(), name.size()));
  p.check(H5Fget_obj_count(p.file, H5F_OBJ_ALL));
  hbool_t native = false;
  p.check(H5VLobject_is_native(p.file, &native));
  p.close(p.check(H5Fget_access_plist(p.file)));
  p.close(p.check(H5Freopen(p.file)));
  p.check(H5Fis_accessible(p.path.c_str(), p.fapl));
  const std::string other = p.path + ".mounted";
  const hid_t child = p.check(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, p.fapl));
  p.close(p.check(H5Gcreate2(p.file, "mount", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  if (p.check(H5Fmount(p.file, "mount", child, H5P_DEFAULT)) >= 0)
    p.check(H5Funmount(p.file, "mount"));
  p.close(child);
  p.check(H5Fdelete(other.c_str(), p.fapl));
}

void groups_and_links(Program& p) {
  const hid_t group = p.check(H5Gcreate2(p.file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5G_info_t info;
  p.check(H5Gget_info(group, &info));
  p.check(H5Lcreate_soft("/g", p.file, "soft", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lcreate_hard(p.file, "g", p.file, "hard", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lcreate_hard(group, ".", H5L_SAME_LOC, "self", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lcreate_external("none.h5", "/x", p.file, "ext", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lcopy(p.file, "soft", group, "copied", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lmove(group, "copied", H5L_SAME_LOC, "moved", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Lexists(p.file, "soft", H5P_DEFAULT));
  H5L_info2_t link;
  p.check(H5Lget_info2(p.file, "soft", &link, H5P_DEFAULT));
  p.check(H5Literate2(
      p.file, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char*, const H5L_info2_t*, void*) -> herr_t { return 0; }, nullptr));
  p.check(H5Ldelete(p.file, "soft", H5P_DEFAULT));
  p.check(H5Gflush(group));
  p.close(group);
  p.close(p.check(H5Gopen2(p.file, "g", H5P_DEFAULT)));
}

void datasets(Program& p) {
  const std::array<hsize_t, 1> now{kRows};
  const std::array<hsize_t, 1> most{H5S_UNLIMITED};
  const hid_t space = H5Screate_simple(1, now.data(), most.data());
  const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 1, now.data());
  H5Pset_deflate(dcpl, 1);
  hid_t dset =
      p.check(H5Dcreate2(p.file, "d", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  std::array<int, kRows> data{};
  std::iota(data.begin(), data.end(), 1);
  p.check(H5Dwrite(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()));
  std::array<int, kRows> back{};
  p.check(H5Dread(dset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back.data()));
  if (back != data) ++p.failures;
  const std::array<hsize_t, 1> more{2 * kRows};
  p.check(H5Dset_extent(dset, more.data()));
  p.close(p.check(H5Dget_space(dset)));
  p.close(p.check(H5Dget_type(dset)));
  hsize_t chunks = 0;
  p.check(H5Dget_num_chunks(dset, H5S_ALL, &chunks));
  p.check(H5Dflush(dset));
  p.close(dset);
  p.close(p.check(H5Dopen2(p.file, "d", H5P_DEFAULT)));
  H5Pclose(dcpl);
  H5Sclose(space);
}

// Variable-length data goes through the blob callbacks.
void strings(Program& p) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t dset =
      p.check(H5Dcreate2(p.file, "s", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  const char* text = "headrace";
  p.check(H5Dwrite(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(&text)));
  char* back = nullptr;
  p.check(H5Dread(dset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&back)));
  H5free_memory(back);
  p.close(dset);
  H5Tclose(type);
  H5Sclose(space);
}

void attributes(Program& p) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attr =
      p.check(H5Acreate2(p.file, "a", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
  int value = 7;
  p.check(H5Awrite(attr, H5T_NATIVE_INT, &value));
  p.check(H5Aread(attr, H5T_NATIVE_INT, &value));
  p.close(p.check(H5Aget_type(attr)));
  p.close(attr);
  p.close(p.check(H5Aopen(p.file, "a", H5P_DEFAULT)));
  p.check(H5Aexists(p.file, "a"));
  p.check(H5Arename(p.file, "a", "b"));
  p.check(H5Aiterate2(
      p.file, H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char*, const H5A_info_t*, void*) -> herr_t { return 0; }, nullptr));
  p.check(H5Adelete(p.file, "b"));
  H5Sclose(space);
}

void types(Program& p) {
  const hid_t type = H5Tcopy(H5T_NATIVE_INT);
  p.check(H5Tcommit2(p.file, "t", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Tflush(type));
  p.close(p.check(H5Tget_create_plist(type)));
  p.close(type);
  p.close(p.check(H5Topen2(p.file, "t", H5P_DEFAULT)));
}

void objects(Program& p) {
  p.close(p.check(H5Gcreate2(p.file, "o", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
  const hid_t object = p.check(H5Oopen(p.file, "o", H5P_DEFAULT));
  H5O_info2_t info;
  p.check(H5Oget_info3(object, &info, H5O_INFO_ALL));
  H5O_native_info_t native;
  p.check(H5Oget_native_info(object, &native, H5O_NATIVE_INFO_ALL));
  p.check(H5Oset_comment(object, "comment"));
  p.check(H5Oexists_by_name(p.file, "o", H5P_DEFAULT));
  p.check(H5Ocopy(p.file, "o", p.file, "o2", H5P_DEFAULT, H5P_DEFAULT));
  p.check(H5Ovisit3(
      p.file, H5_INDEX_NAME, H5_ITER_INC,
      [](hid_t, const char*, const H5O_info2_t*, void*) -> herr_t { return 0; }, nullptr,
      H5O_INFO_BASIC));
  int order = 0;
  p.check(H5Otoken_cmp(p.file, &info.token, &info.token, &order));
  char* text = nullptr;
  if (p.check(H5Otoken_to_str(p.file, &info.token, &text)) >= 0) {
    p.check(H5Otoken_from_str(p.file, text, &info.token));
    H5free_memory(text);
  }
  p.check(H5Orefresh(object));
  p.close(object);
  H5R_ref_t reference;
  if (p.check(H5Rcreate_object(p.file, "o2", H5P_DEFAULT, &reference)) >= 0) {
    p.close(p.check(H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT)));
    p.check(H5Rdestroy(&reference));
  }
}

}  // namespace

int exercise(const std::string& path, hid_t fapl) {
  Program p{path, fapl};
  p.file = p.check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
  for (auto* step : {&files, &groups_and_links, &datasets, &strings, &attributes, &types, &objects})
    step(p);
  p.close(p.file);
  p.file = p.check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fapl));
  p.close(p.file);
  return p.failures;
}

}  // namespace headrace::test
