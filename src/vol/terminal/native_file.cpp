#include "vol/terminal/native_file.hpp"

#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"

namespace headrace::vol {
namespace {

Id<Kind::plist> memory_list(hid_t native) {
  constexpr std::size_t kIncrement = 4096;
  Id<Kind::plist> list(h5.Pcopy(h5.access_list.get()));
  if (!list || h5.Pset_vol(list.get(), native, nullptr) < 0 ||
      h5.Pset_fapl_core(list.get(), kIncrement, /*backing_store=*/false) < 0)
    throw Error("HDF5 makes no access list of a file in memory");
  return list;
}

struct Spare {
  std::shared_ptr<const NativeFile> file;
  bool is_wanted = false;  // the library has not ended since one was asked for
};

// Leaked on purpose: HDF5 closes files after C++ statics are gone.
Spare& spare() {
  static auto& kept = *new Spare;
  return kept;
}

}  // namespace

void close_native(const Id<Kind::vol>& connector, H5I_type_t type, void* object) noexcept {
  const PrivateErrors own;
  const hid_t dxpl = h5.transfer_list.get();
  if (type == H5I_GROUP || type == H5I_MAP)
    h5.VLgroup_close(object, connector.get(), dxpl, nullptr);
  if (type == H5I_DATASET) h5.VLdataset_close(object, connector.get(), dxpl, nullptr);
  if (type == H5I_DATATYPE) h5.VLdatatype_close(object, connector.get(), dxpl, nullptr);
  if (type == H5I_ATTR) h5.VLattr_close(object, connector.get(), dxpl, nullptr);
}

NativeFile::NativeFile()
    : connector_(std::make_shared<const Id<Kind::vol>>(
          h5.VLregister_connector_by_value(H5_VOL_NATIVE, kDefaultPlist))) {
  const Id<Kind::plist> access = memory_list(connector_->get());
  constexpr unsigned kTruncate = 2;
  // Names of files in memory that are open must differ.
  const std::string name = "in memory " + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  // Not by H5VLfile_create(), which works within the program's own calls for files only.
  const Id<Kind::file> file(h5.Fcreate(name.c_str(), kTruncate, kDefaultPlist, access.get()));
  file_ = file ? h5.VLobject(file.get()) : nullptr;
  constexpr H5VL_loc_params_t kItself{H5I_FILE, H5VL_OBJECT_BY_SELF, {}};
  if (file_ != nullptr)
    root_ = h5.VLgroup_open(file_, &kItself, connector_->get(), "/", h5.group_access_list(),
                            h5.transfer_list.get(), nullptr);
  if (root_ == nullptr) throw Error("HDF5 makes no native file in memory: " + root_cause());
}

std::shared_ptr<const NativeFile> empty_native_file() {
  before_library_ends({[] { return spare().is_wanted; }, [] { spare() = {}; }});
  spare().is_wanted = true;
  if (auto kept = std::exchange(spare().file, nullptr)) return kept;
  return std::make_shared<const NativeFile>();
}

void give_back(std::shared_ptr<const NativeFile> file) noexcept {
  if (spare().is_wanted && spare().file == nullptr) spare().file = std::move(file);
}

}  // namespace headrace::vol
