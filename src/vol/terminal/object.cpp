#include "vol/terminal/object.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "hdf5/error_stack.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

// All objects of this module. Leaked on purpose: HDF5 closes files after C++ statics are gone.
std::unordered_set<const void*>& all_objects() {
  static auto& objects = *new std::unordered_set<const void*>();
  return objects;
}

constexpr H5VL_loc_params_t self(H5I_type_t type) { return {type, H5VL_OBJECT_BY_SELF, {}}; }

Id<Kind::plist> memory_list(hid_t native) {
  constexpr std::size_t kIncrement = 4096;
  Id<Kind::plist> list(h5.Pcopy(h5.access_list.get()));
  if (!list || h5.Pset_vol(list.get(), native, nullptr) < 0 ||
      h5.Pset_fapl_core(list.get(), kIncrement, /*backing_store=*/false) < 0)
    throw Error("HDF5 makes no access list of a file in memory");
  return list;
}

// H5F_OBJ_* of a type of objects.
unsigned flag_of(H5I_type_t type) {
  switch (type) {
    case H5I_FILE:
      return H5F_OBJ_FILE;
    case H5I_GROUP:
      return H5F_OBJ_GROUP;
    case H5I_DATASET:
      return H5F_OBJ_DATASET;
    case H5I_ATTR:
      return H5F_OBJ_ATTR;
    default:
      return 0;
  }
}

struct Search {
  const TerminalObject* file;
  unsigned types;
  std::size_t most;
  std::vector<hid_t> found;
};

herr_t look_at(hid_t id, void* data) {
  auto& search = *static_cast<Search*>(data);
  const void* const face = h5.VLobject(id);
  const bool wanted = std::ranges::any_of(search.file->file().objects(), [&](const auto* object) {
    return face != nullptr && TerminalObject::face_of(object) == face &&
           (search.types & flag_of(object->type())) != 0 &&
           ((search.types & H5F_OBJ_LOCAL) == 0 || object->opening() == search.file->opening());
  });
  if (wanted && search.found.size() < search.most) search.found.push_back(id);
  return 0;
}

}  // namespace

FileHandle::FileHandle(std::shared_ptr<TerminalFile> of, unsigned flags, hid_t fcpl)
    : file(std::move(of)),
      flags_(flags),
      native_(h5.VLregister_connector_by_value(H5_VOL_NATIVE, kDefaultPlist)),
      type_(h5.Tcreate(H5T_OPAQUE, 1)) {
  constexpr hsize_t kOne = 1;
  space_ = Id<Kind::dataspace>(h5.Screate_simple(1, &kOne, nullptr));
  const Id<Kind::plist> access = memory_list(native_.get());
  constexpr unsigned kTruncate = 2;
  // Names of files in memory that are open must differ.
  const std::string name = "face " + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  native_file_ = h5.VLfile_create(name.c_str(), kTruncate, fcpl, access.get(),
                                  h5.transfer_list.get(), nullptr);
  if (native_file_ == nullptr ||
      h5.VLintrospect_get_conn_cls(native_file_, native_.get(), H5VL_GET_CONN_LVL_CURR,
                                   &native_class_) < 0)
    throw Error("HDF5 makes no native file in memory: " + root_cause());
}

FileHandle::~FileHandle() {
  if (native_file_ != nullptr) close_face(H5I_FILE, native_file_);
}

void* FileHandle::open_face(H5I_type_t type) const {
  if (type == H5I_FILE) return native_file_;
  if (type == H5I_ATTR) return nullptr;
  const PrivateErrors own;
  const H5VL_loc_params_t file_itself = self(H5I_FILE);
  void* face = nullptr;
  if (type == H5I_GROUP)
    face = h5.VLgroup_open(native_file_, &file_itself, native_.get(), "/", h5.group_access_list(),
                           h5.transfer_list.get(), nullptr);
  if (type == H5I_DATASET)  // without a name it goes with its close
    face = h5.VLdataset_create(native_file_, &file_itself, native_.get(), nullptr, kDefaultPlist,
                               type_.get(), space_.get(), h5.dataset_list.get(),
                               h5.dataset_access_list(), h5.transfer_list.get(), nullptr);
  if (face == nullptr) throw Error("an object has no native face: " + root_cause());
  return face;
}

void FileHandle::close_face(H5I_type_t type, void* face) const {
  const PrivateErrors own;
  const hid_t dxpl = h5.transfer_list.get();
  if (type == H5I_FILE) h5.VLfile_close(face, native_.get(), dxpl, nullptr);
  if (type == H5I_GROUP) h5.VLgroup_close(face, native_.get(), dxpl, nullptr);
  if (type == H5I_DATASET) h5.VLdataset_close(face, native_.get(), dxpl, nullptr);
}

TerminalObject::TerminalObject(H5I_type_t type, std::shared_ptr<FileHandle> opening)
    : type_(type), opening_(std::move(opening)), face_(opening_->open_face(type)) {
  all_objects().insert(this);
  file().objects_.insert(this);
}

TerminalObject::~TerminalObject() {
  all_objects().erase(this);
  file().objects_.erase(this);
  if (type_ != H5I_FILE && face_ != nullptr) opening_->close_face(type_, face_);
}

void* TerminalObject::face_of(const void* object) {
  auto* const memory = const_cast<void*>(object);
  if (!all_objects().contains(object)) return memory;
  void* const face = from(object).face_;
  return face == nullptr ? memory : face;
}

void* open_file_of(const TerminalObject& object) {
  for (TerminalObject* one : object.file().objects())
    if (one->type() == H5I_FILE && one->opening() == object.opening()) return one->face();
  return nullptr;
}

std::vector<hid_t> open_ids(const TerminalObject& file, unsigned types, std::size_t most) {
  const PrivateErrors own;
  Search search{&file, types, most, {}};
  for (const H5I_type_t type : {H5I_FILE, H5I_GROUP, H5I_DATASET, H5I_ATTR})
    if ((types & flag_of(type)) != 0) h5.Iiterate(type, look_at, &search);
  return search.found;
}

bool follows_links(const H5VL_loc_params_t& where, bool follow) {
  return follow || where.type != H5VL_OBJECT_BY_NAME ||
         std::string_view(where.loc_data.loc_by_name.name) == ".";
}

H5G_stat_t stat_of(const H5O_info2_t& info) {
  H5G_stat_t stat{};
  stat.fileno[0] = info.fileno;
  static_assert(sizeof stat.objno <= sizeof info.token);
  std::memcpy(stat.objno, &info.token, sizeof stat.objno);
  stat.nlink = info.rc;
  stat.mtime = info.mtime;
  stat.type = info.type == H5O_TYPE_GROUP     ? H5G_GROUP
              : info.type == H5O_TYPE_DATASET ? H5G_DATASET
                                              : H5G_TYPE;
  return stat;
}

bool is_same_file(const TerminalObject& object, const void* other) {
  return std::ranges::any_of(object.file().objects(), [&](const TerminalObject* one) {
    return one == other || (one->type() == H5I_FILE && one->face() == other);
  });
}

}  // namespace headrace::vol
