// A native file in memory, of HDF5's native connector. The program's thread only; throws Error.
#pragma once

#include <memory>

#include "hdf5/id.hpp"

namespace headrace::vol {

// Of a group (a map's face, too), dataset, committed type or attribute of the native connector.
void close_native(const Id<Kind::vol>& connector, H5I_type_t type, void* object) noexcept;

// No id of it is left to programs. It may be made in a callback of any object.
class NativeFile {
 public:
  using Connector = std::shared_ptr<const Id<Kind::vol>>;
  NativeFile();
  NativeFile(const NativeFile&) = delete;
  NativeFile& operator=(const NativeFile&) = delete;
  ~NativeFile() { close_native(*connector_, H5I_GROUP, root_); }

  [[nodiscard]] const Connector& connector() const { return connector_; }
  [[nodiscard]] void* file() const { return file_; }
  [[nodiscard]] void* root() const { return root_; }

 private:
  Connector connector_;
  void* file_ = nullptr;
  void* root_ = nullptr;  // its group, which keeps the file open
};

// One with nothing in it. It takes longer to make than a small container to open, so one that was
// given back is kept for the next who asks.
std::shared_ptr<const NativeFile> empty_native_file();
// Nothing was put into it that stays.
void give_back(std::shared_ptr<const NativeFile> file) noexcept;

}  // namespace headrace::vol
