#include "layers/log/connector/opening/marker.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/id.hpp"
#include "sidecar/marker_name.hpp"

namespace headrace::log_layout {
namespace {

constexpr H5VL_loc_params_t kRoot{H5I_FILE, H5VL_OBJECT_BY_SELF, {}};

// Throws what HDF5 says of it.
[[noreturn]] void fail(const vol::BelowFile& object, H5I_type_t type, const char* what) {
  const std::string cause = root_cause();
  std::array<char, 4096> name{};
  std::size_t length = 0;
  H5VL_file_get_args_t args{H5VL_FILE_GET_NAME, {}};
  args.args.get_name = {type, name.size(), name.data(), &length};
  h5.VLfile_get(object.file, object.connector, &args, h5.transfer_list.get(), nullptr);
  throw Error("HDF5 cannot " + std::string(what) + " file " + name.data() +
              (cause.empty() ? "" : ": " + cause));
}

class Attribute {
 public:
  Attribute(const vol::BelowFile& file, void* under) : under_(under), connector_(file.connector) {
    if (under_ == nullptr)
      fail(file, H5I_FILE, "make or open attribute _headrace_log of the root group of");
  }
  Attribute(const Attribute&) = delete;
  Attribute& operator=(const Attribute&) = delete;
  ~Attribute() { h5.VLattr_close(under_, connector_, h5.transfer_list.get(), nullptr); }
  [[nodiscard]] void* under() const { return under_; }

 private:
  void* under_;
  hid_t connector_;
};

Id<Kind::datatype> owner_type() {
  Id<Kind::datatype> type(h5.Tcreate(H5T_OPAQUE, sizeof(engine::log::Owner)));
  if (!type) throw Error("HDF5 makes no datatype");
  return type;
}

bool fits(hid_t type, hid_t space) {
  return type >= 0 && space >= 0 && h5.Tget_class(type) == H5T_OPAQUE &&
         h5.Tget_size(type) == sizeof(engine::log::Owner) &&
         h5.Sget_simple_extent_npoints(space) == 1;
}

// The type of an attribute that is one element of as many bytes as an owner has; else none.
Id<Kind::datatype> type_of(const Attribute& attribute, hid_t connector) {
  const hid_t dxpl = h5.transfer_list.get();
  H5VL_attr_get_args_t args{H5VL_ATTR_GET_TYPE, {}};
  args.args.get_type.type_id = kInvalidId;
  h5.VLattr_get(attribute.under(), connector, &args, dxpl, nullptr);
  Id<Kind::datatype> type(args.args.get_type.type_id);
  args = {H5VL_ATTR_GET_SPACE, {}};
  args.args.get_space.space_id = kInvalidId;
  h5.VLattr_get(attribute.under(), connector, &args, dxpl, nullptr);
  const Id<Kind::dataspace> space(args.args.get_space.space_id);
  return fits(type.get(), space.get()) ? std::move(type) : Id<Kind::datatype>();
}

bool exists(const vol::BelowFile& file, const H5VL_loc_params_t& where) {
  bool found = false;
  H5VL_attr_specific_args_t args{H5VL_ATTR_EXISTS, {}};
  args.args.exists = {sidecar::kMarkerName, &found};
  if (h5.VLattr_specific(file.file, &where, file.connector, &args, h5.transfer_list.get(),
                         nullptr) < 0)
    fail(file, where.obj_type, "tell the attributes of the root group of");
  return found;
}

bool set_other_driver(hid_t fapl, hid_t driver) {
  if (h5.Pset_fapl_stdio(fapl) < 0) return false;
  return h5.Pget_driver(fapl) != driver || h5.Pset_fapl_sec2(fapl) >= 0;
}

Id<Kind::vol> native_connector() {
  return Id<Kind::vol>(h5.VLregister_connector_by_value(0, kDefaultPlist));
}

// For a look at a file beside all that have it open with such a list: to another driver it is
// another file. None when HDF5 has no such list. It is no copy of the program's: copying a
// communicator waits for the other ranks, and one rank may look alone.
Id<Kind::plist> access_apart(hid_t fapl, const Id<Kind::vol>& native) {
  const bool clear = true;  // of what says that the file is open for writing
  Id<Kind::plist> access(h5.Pcopy(h5.access_list.get()));
  if (native && access && h5.Pset_vol(access.get(), native.get(), nullptr) >= 0 &&
      set_other_driver(access.get(), h5.Pget_driver(fapl)) &&
      h5.Pset_file_locking(access.get(), false, false) >= 0 &&
      h5.Pset(access.get(), "clear_status_flags", &clear) >= 0)
    return access;
  return {};
}

// HDF5 crashes when a connector opens an attribute of variable length in a file that it has not
// done with opening.
void require_fitting_marker(const char* name, hid_t fapl) {
  const Id<Kind::vol> native = native_connector();
  const Id<Kind::plist> access = access_apart(fapl, native);
  Id<Kind::file> file;
  if (access) file = Id<Kind::file>(h5.Fopen(name, 0, access.get()));
  // Where that cannot be opened, being locked, say, or does not have it yet, there is no more to
  // know.
  if (!file) return;
  const hid_t list = h5.default_lists.back().get();
  const Id<Kind::attribute> attribute(
      h5.Aopen_by_name(file.get(), "/", sidecar::kMarkerName, list, list));
  if (!attribute) return;
  const Id<Kind::datatype> type(h5.Aget_type(attribute.get()));
  const Id<Kind::dataspace> space(h5.Aget_space(attribute.get()));
  if (!fits(type.get(), space.get()))
    throw Error("attribute _headrace_log of the root group of file " + std::string(name) +
                " does not name a log: it is not 16 opaque bytes");
}

// Of a file that HDF5 has opened, or one whose marker is known to fit.
std::optional<engine::log::Owner> found_marker(const vol::BelowFile& file) {
  if (!exists(file, kRoot)) return std::nullopt;
  const hid_t dxpl = h5.transfer_list.get();
  const Attribute attribute(file,
                            h5.VLattr_open(file.file, &kRoot, file.connector, sidecar::kMarkerName,
                                           h5.default_lists.back().get(), dxpl, nullptr));
  const Id<Kind::datatype> type = type_of(attribute, file.connector);
  engine::log::Owner owner{};
  if (!type || h5.VLattr_read(attribute.under(), file.connector, type.get(), owner.data(), dxpl,
                              nullptr) < 0)
    fail(file, H5I_FILE, "read 16 bytes from attribute _headrace_log of the root group of");
  return owner;
}

}  // namespace

std::optional<engine::log::Owner> read_marker(const vol::BelowFile& file, const char* name,
                                              hid_t fapl) {
  if (!exists(file, kRoot)) return std::nullopt;
  require_fitting_marker(name, fapl);
  return found_marker(file);
}

std::optional<engine::log::Owner> marker_on_storage(const char* name, hid_t fapl) {
  require_fitting_marker(name, fapl);
  const Id<Kind::vol> native = native_connector();
  const Id<Kind::plist> access = access_apart(fapl, native);
  const hid_t dxpl = h5.transfer_list.get();
  vol::BelowFile file{nullptr, native.get()};
  if (access) file.file = h5.VLfile_open(name, 0, access.get(), dxpl, nullptr);
  if (file.file == nullptr) return std::nullopt;
  const std::unique_ptr<void, std::function<void(void*)>> closing(
      file.file, [&](void* opened) { h5.VLfile_close(opened, file.connector, dxpl, nullptr); });
  return found_marker(file);
}

bool marks(const vol::BelowFile& file, const engine::log::Owner& owner) noexcept {
  try {
    return found_marker(file) == owner;
  } catch (...) {
    return false;
  }
}

bool marked(const vol::BelowFile& object, H5I_type_t type) {
  H5VL_loc_params_t root{type, H5VL_OBJECT_BY_NAME, {}};
  root.loc_data.loc_by_name = {"/", h5.default_lists.front().get()};
  return exists(object, root);
}

void write_marker(const vol::BelowFile& file, const engine::log::Owner& owner) {
  const hid_t dxpl = h5.transfer_list.get();
  const hsize_t one = 1;
  const Id<Kind::dataspace> space(h5.Screate_simple(1, &one, nullptr));
  const Id<Kind::datatype> type = owner_type();
  const Attribute attribute(
      file, h5.VLattr_create(file.file, &kRoot, file.connector, sidecar::kMarkerName, type.get(),
                             space.get(), h5.attribute_list.get(), h5.default_lists.back().get(),
                             dxpl, nullptr));
  if (h5.VLattr_write(attribute.under(), file.connector, type.get(), owner.data(), dxpl, nullptr) <
      0)
    fail(file, H5I_FILE, "write attribute _headrace_log of the root group of");
}

void remove_marker(const vol::BelowFile& file) {
  H5VL_attr_specific_args_t args{H5VL_ATTR_DELETE, {}};
  args.args.del.name = sidecar::kMarkerName;
  if (h5.VLattr_specific(file.file, &kRoot, file.connector, &args, h5.transfer_list.get(),
                         nullptr) < 0)
    fail(file, H5I_FILE, "remove attribute _headrace_log of the root group of");
}

void flush(const vol::BelowFile& file) {
  H5VL_file_specific_args_t args;
  args.op_type = H5VL_FILE_FLUSH;
  args.args.flush = {H5I_FILE, H5F_SCOPE_LOCAL};
  if (h5.VLfile_specific(file.file, file.connector, &args, h5.transfer_list.get(), nullptr) < 0)
    fail(file, H5I_FILE, "flush");
}

}  // namespace headrace::log_layout
