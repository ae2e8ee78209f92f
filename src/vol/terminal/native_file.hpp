// A native file in memory, of HDF5's native connector. The program's thread only; throws Error.
#pragma once

#include <memory>
#include <vector>

#include "hdf5/id.hpp"
#include "vol/terminal/face_memory.hpp"

namespace headrace::vol {

// Of a group (a map's face, too), dataset, committed type or attribute of the native connector.
void close_native(const Id<Kind::vol>& connector, H5I_type_t type, void* object) noexcept;

// No id of it is left to programs. It may be made in a callback of any object.
class NativeFile {
 public:
  using Connector = std::shared_ptr<const Id<Kind::vol>>;
  // Without a memory it has one of its own, which is nothing but HDF5's.
  explicit NativeFile(hid_t fcpl = kDefaultPlist, std::shared_ptr<FaceMemory> memory = nullptr);
  NativeFile(const NativeFile&) = delete;
  NativeFile& operator=(const NativeFile&) = delete;
  ~NativeFile();

  [[nodiscard]] const Connector& connector() const { return connector_; }
  [[nodiscard]] void* file() const { return file_; }
  [[nodiscard]] void* root() const { return root_; }
  // All that HDF5 keeps of it goes to the memory.
  void flush() const;
  // Of the dataset whose header is at the address.
  void set_extent(haddr_t address, const std::vector<hsize_t>& dims) const;

 private:
  Connector connector_;
  std::shared_ptr<FaceMemory> memory_;
  void* file_ = nullptr;
  void* root_ = nullptr;  // its group, which keeps the file open
};

}  // namespace headrace::vol
