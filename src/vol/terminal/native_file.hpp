// A native file in memory, of HDF5's native connector. The program's thread only; throws Error.
#pragma once

#include <memory>
#include <vector>

#include "hdf5/id.hpp"
#include "vol/terminal/face_memory.hpp"

namespace headrace::vol {

// Of a group (a map's face, too), dataset, committed type or attribute of the native connector.
void close_native(const Id<Kind::vol>& connector, H5I_type_t type, void* object) noexcept;

// While it lives HDF5 gets objects in place of their faces, which would have to be made: it looks
// for ids, and looks into no object.
class NoFaces {
 public:
  NoFaces() { ++count_; }
  NoFaces(const NoFaces&) = delete;
  NoFaces& operator=(const NoFaces&) = delete;
  ~NoFaces() { --count_; }
  static bool any() { return count_ > 0; }

 private:
  static inline unsigned count_ = 0;
};

// No id of it is left to programs. It may be made in a callback of any object.
class NativeFile {
 public:
  using Connector = std::shared_ptr<const Id<Kind::vol>>;
  // Without a memory it has one of its own, which is nothing but HDF5's.
  explicit NativeFile(std::shared_ptr<FaceMemory> memory = nullptr);
  NativeFile(const NativeFile&) = delete;
  NativeFile& operator=(const NativeFile&) = delete;
  ~NativeFile();

  [[nodiscard]] const Connector& connector() const { return connector_; }
  [[nodiscard]] void* file() const { return file_; }
  [[nodiscard]] void* root() const { return root_; }
  [[nodiscard]] const std::shared_ptr<FaceMemory>& memory() const { return memory_; }
  // Whether nothing is in it, and no other file is of its memory.
  [[nodiscard]] bool is_unused() const;
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

// A native file takes longer to make than a small container to open, so one in which nothing was
// left is kept for the next file of a terminal connector that wants one: together with its memory,
// which one such file has at a time.

// Has it dropped before the library ends, after what is asked for later.
void drop_spare_at_end();
// The memory of a file's faces, until give_back().
std::shared_ptr<FaceMemory> new_faces();
void give_back(const std::shared_ptr<FaceMemory>& faces) noexcept;
std::shared_ptr<const NativeFile> native_file_of(const std::shared_ptr<FaceMemory>& faces);
// Whoever has its memory has it still.
void give_back(std::shared_ptr<const NativeFile> file) noexcept;

}  // namespace headrace::vol
