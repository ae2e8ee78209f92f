#include "vol/terminal/object.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

// All objects of this module. Leaked on purpose: HDF5 closes files after C++ statics are gone.
std::unordered_set<const void*>& all_objects() {
  static auto& objects = *new std::unordered_set<const void*>();
  return objects;
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
    case H5I_DATATYPE:
      return H5F_OBJ_DATATYPE;
    case H5I_ATTR:
      return H5F_OBJ_ATTR;
    case H5I_MAP:
      return kMapObjects;
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
  const void* const found = h5.VLobject(id);
  const bool wanted = std::ranges::any_of(search.file->file().objects(), [&](const auto* object) {
    return object == found && (search.types & flag_of(object->type())) != 0 &&
           ((search.types & H5F_OBJ_LOCAL) == 0 || object->opening() == search.file->opening());
  });
  if (wanted && search.found.size() < search.most) search.found.push_back(id);
  return 0;
}

}  // namespace

// While the library ends HDF5 asks for faces, also where the spare file is closed, and makes no
// files any more.
FileHandle::FileHandle(std::shared_ptr<TerminalFile> of, unsigned flags)
    : file(std::move(of)), flags_(flags) {
  drop_spare_at_end();
  before_library_ends({any_without_native, make_all_native});
}

FileHandle::FileHandle(std::shared_ptr<TerminalFile> of, unsigned flags,
                       std::shared_ptr<const NativeFile> native)
    : file(std::move(of)), flags_(flags), native_(std::move(native)), shares_native_(true) {
  drop_spare_at_end();
}

FileHandle::~FileHandle() {
  if (native_ != nullptr && is_empty_ && !shares_native_) give_back(std::move(native_));
}

bool FileHandle::any_without_native() {
  return std::ranges::any_of(all_objects(), [](const void* one) {
    return TerminalObject::from(one).opening()->native_ == nullptr;
  });
}

void FileHandle::make_all_native() {
  for (const void* const one : all_objects()) TerminalObject::from(one).opening()->native_file();
}

const NativeFile& FileHandle::native_file() {
  if (native_ == nullptr) native_ = native_file_of(file->faces());
  return *native_;
}

const H5VL_class_t* FileHandle::native() {
  const NativeFile& asked = native_file();
  if (native_class_ == nullptr &&
      h5.VLintrospect_get_conn_cls(asked.file(), asked.connector()->get(), H5VL_GET_CONN_LVL_CURR,
                                   &native_class_) < 0)
    throw Error("HDF5 does not tell its native class: " + root_cause());
  return native_class_;
}

void* FileHandle::open_face(H5I_type_t type) {
  const PrivateErrors own;
  if (type == H5I_FILE) {
    // HDF5 tells files apart by their faces.
    if (std::exchange(shares_native_, false)) native_ = native_file_of(file->faces());
    return native_file().file();
  }
  constexpr H5VL_loc_params_t kItself{H5I_GROUP, H5VL_OBJECT_BY_SELF, {}};
  void* const root = native_file().root();
  const hid_t native = native_file().connector()->get();
  is_empty_ = is_empty_ && (type == H5I_GROUP || type == H5I_MAP);
  const hid_t dxpl = h5.transfer_list.get();
  constexpr hsize_t kOne = 1;
  const Id<Kind::datatype> byte(h5.Tcreate(H5T_OPAQUE, 1));
  const Id<Kind::dataspace> one(h5.Screate_simple(1, &kOne, nullptr));
  void* face = nullptr;
  if (type == H5I_GROUP || type == H5I_MAP)  // natively there are no maps
    face = h5.VLgroup_open(root, &kItself, native, "/", h5.group_access_list(), dxpl, nullptr);
  if (type == H5I_DATASET)  // without a name it goes with its close
    face =
        h5.VLdataset_create(root, &kItself, native, nullptr, kDefaultPlist, byte.get(), one.get(),
                            h5.dataset_list.get(), h5.dataset_access_list(), dxpl, nullptr);
  if (type == H5I_DATATYPE)
    face = h5.VLdatatype_commit(root, &kItself, native, nullptr, byte.get(), kDefaultPlist,
                                h5.datatype_list.get(), kDefaultPlist, dxpl, nullptr);
  if (type == H5I_ATTR)  // another one each time: an opening would look at the faces of all others
    face = h5.VLattr_create(
        root, &kItself, native, std::to_string(file->faces()->next_attribute()).c_str(), byte.get(),
        one.get(), h5.attribute_list.get(), h5.attribute_access_list(), dxpl, nullptr);
  if (face == nullptr) throw Error("an object has no native face: " + root_cause());
  return face;
}

TerminalObject::TerminalObject(H5I_type_t type, std::shared_ptr<FileHandle> opening)
    : type_(type), opening_(std::move(opening)) {
  all_objects().insert(this);
  file().objects_.insert(this);
}

// HDF5 has the id still, and where a native file is closed it looks at the native objects of all
// ids: the face must be there for as long, so it is the last to go, and its file with it.
TerminalObject::~TerminalObject() {
  file().objects_.erase(this);
  const NativeFile::Connector connector =
      opening_->native_ == nullptr ? nullptr : opening_->native_->connector();
  if (connector != nullptr && type_ != H5I_FILE && face_ == nullptr && opening_.use_count() == 1)
    static_cast<void>(error_of([this] { face(); }));
  opening_.reset();
  if (type_ != H5I_FILE && face_ != nullptr) close_native(*connector, type_, face_);
  all_objects().erase(this);
}

void* TerminalObject::face() {
  if (face_ == nullptr && opening_ != nullptr) face_ = opening_->open_face(type_);
  return face_;
}

bool TerminalObject::is(const void* memory) { return all_objects().contains(memory); }

void* TerminalObject::face_of(const void* object) {
  auto* const memory = const_cast<void*>(object);
  if (NoFaces::any() || !is(object)) return memory;
  void* const face = from(object).face();
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
  // Of programs that have many ids few are of one file.
  unsigned open = 0;
  for (const TerminalObject* const one : file.file().objects()) open |= flag_of(one->type());
  const NoFaces looks_at_ids;
  for (const H5I_type_t type : {H5I_FILE, H5I_GROUP, H5I_DATASET, H5I_DATATYPE, H5I_ATTR, H5I_MAP})
    if ((types & open & flag_of(type)) != 0) h5.Iiterate(type, look_at, &search);
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
              : info.type == H5O_TYPE_MAP     ? H5G_UNKNOWN
                                              : H5G_TYPE;
  return stat;
}

H5G_stat_t stat_of(const H5L_info2_t& link) {
  H5G_stat_t stat{};
  stat.type = link.type == H5L_TYPE_SOFT ? H5G_LINK : H5G_UDLINK;
  stat.linklen = link.u.val_size;
  return stat;
}

bool is_same_file(const TerminalObject& object, const void* other) {
  return std::ranges::any_of(object.file().objects(), [&](const TerminalObject* one) {
    return one == other || (one->type() == H5I_FILE && one->has_face(other));
  });
}

}  // namespace headrace::vol
