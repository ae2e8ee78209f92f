#include "vol/terminal/native_file.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "hdf5/lifecycle.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/terminal/face_driver.hpp"

namespace headrace::vol {
namespace {

Id<Kind::plist> memory_list(hid_t native, FaceMemory* memory) {
  constexpr std::size_t kIncrement = 4096;
  Id<Kind::plist> list(h5.Pcopy(h5.access_list.get()));
  if (!list || h5.Pset_vol(list.get(), native, nullptr) < 0 ||
      (memory == nullptr && h5.Pset_fapl_core(list.get(), kIncrement, /*backing_store=*/false) < 0))
    throw Error("HDF5 makes no access list of a file in memory");
  if (memory != nullptr) set_face_driver(list.get(), *memory);
  return list;
}

struct Spare {
  std::shared_ptr<const NativeFile> file;
  bool is_lent = false;    // somebody has its memory
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

NativeFile::NativeFile(std::shared_ptr<FaceMemory> memory)
    : connector_(std::make_shared<const Id<Kind::vol>>(
          h5.VLregister_connector_by_value(H5_VOL_NATIVE, kDefaultPlist))),
      memory_(std::move(memory)) {
  const Id<Kind::plist> access = memory_list(connector_->get(), memory_.get());
  constexpr unsigned kReadWrite = 1;
  constexpr unsigned kTruncate = 2;
  const void* const place = memory_ == nullptr ? static_cast<void*>(this) : memory_.get();
  // Names of files in memory that are open must differ.
  const std::string name = "in memory " + std::to_string(reinterpret_cast<std::uintptr_t>(place));
  const bool is_open = memory_ != nullptr && !memory_->open_.empty();
  if (memory_ != nullptr && !is_open) memory_->restart();
  const NoFaces closes_id;  // HDF5 looks for another one of the file
  // Not by H5VLfile_create(), which works within the program's own calls for files only.
  const Id<Kind::file> file(is_open
                                ? h5.Fopen(name.c_str(), kReadWrite, access.get())
                                : h5.Fcreate(name.c_str(), kTruncate, kDefaultPlist, access.get()));
  file_ = file ? h5.VLobject(file.get()) : nullptr;
  constexpr H5VL_loc_params_t kItself{H5I_FILE, H5VL_OBJECT_BY_SELF, {}};
  if (file_ != nullptr)
    root_ = h5.VLgroup_open(file_, &kItself, connector_->get(), "/", h5.group_access_list(),
                            h5.transfer_list.get(), nullptr);
  if (root_ == nullptr) throw Error("HDF5 makes no native file in memory: " + root_cause());
  if (memory_ == nullptr) return;
  memory_->open_.insert(this);
  if (!is_open) memory_->settled_ = memory_->body_.size();
}

NativeFile::~NativeFile() {
  if (memory_ != nullptr) memory_->open_.erase(this);
  close_native(*connector_, H5I_GROUP, root_);
}

void NativeFile::flush() const {
  H5VL_file_specific_args_t args;
  args.op_type = H5VL_FILE_FLUSH;
  args.args.flush = {H5I_FILE, H5F_SCOPE_LOCAL};
  if (h5.VLfile_specific(file_, connector_->get(), &args, h5.transfer_list.get(), nullptr) < 0)
    throw Error("HDF5 does not flush a native file in memory: " + root_cause());
}

void NativeFile::set_extent(haddr_t address, const std::vector<hsize_t>& dims) const {
  H5O_token_t token{};
  std::memcpy(&token, &address, sizeof address);
  H5VL_loc_params_t where{H5I_GROUP, H5VL_OBJECT_BY_TOKEN, {}};
  where.loc_data.loc_by_token.token = &token;
  H5I_type_t type = H5I_BADID;
  void* const dataset =
      h5.VLobject_open(root_, &where, connector_->get(), &type, h5.transfer_list.get(), nullptr);
  H5VL_dataset_specific_args_t args{H5VL_DATASET_SET_EXTENT, {}};
  args.args.set_extent.size = dims.data();
  const bool done = dataset != nullptr && type == H5I_DATASET &&
                    h5.VLdataset_specific(dataset, connector_->get(), &args, h5.transfer_list.get(),
                                          nullptr) >= 0;
  const std::string cause = done ? "" : root_cause();
  if (dataset != nullptr) close_native(*connector_, type, dataset);
  if (!done) throw Error("HDF5 does not take the extent of a dataset: " + cause);
}

bool NativeFile::is_unused() const {
  return memory_ != nullptr && !memory_->was_used_ && memory_->open_.size() == 1 &&
         memory_->body_.size() == memory_->settled_;
}

void drop_spare_at_end() {
  before_library_ends({[] { return spare().is_wanted; }, [] { spare() = {}; }});
}

std::shared_ptr<FaceMemory> new_faces() {
  if (spare().file == nullptr || std::exchange(spare().is_lent, true))
    return std::make_shared<FaceMemory>();
  return spare().file->memory();
}

void give_back(const std::shared_ptr<FaceMemory>& faces) noexcept {
  if (spare().file == nullptr || spare().file->memory() != faces) return;
  spare().is_lent = false;
  if (!spare().file->is_unused()) spare().file = nullptr;  // references were put into the memory
}

std::shared_ptr<const NativeFile> native_file_of(const std::shared_ptr<FaceMemory>& faces) {
  spare().is_wanted = true;
  if (spare().file != nullptr && spare().file->memory() == faces)
    return std::exchange(spare().file, nullptr);
  return std::make_shared<const NativeFile>(faces);
}

void give_back(std::shared_ptr<const NativeFile> file) noexcept {
  if (!spare().is_wanted || spare().file != nullptr || !file->is_unused()) return;
  spare().file = std::move(file);
  spare().is_lent = true;
}

}  // namespace headrace::vol
