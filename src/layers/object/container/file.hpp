// What is open of a container, once for all openings of its file in this process.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "layers/object/container/mounts.hpp"
#include "layers/object/elements/elements.hpp"
#include "layers/object/elements/native_filters.hpp"
#include "layers/object/regions/regions.hpp"
#include "layers/object/virtual/virtual_dataset.hpp"
#include "objects/container.hpp"
#include "objects/heaps.hpp"
#include "store/store.hpp"
#include "vol/terminal/object.hpp"

namespace headrace::object {

// A dataset, for all of its handles.
struct Dataset {
  objects::Handle object;
  Types types;
  Elements elements;
  VirtualDataset* sources = nullptr;  // where it is a virtual dataset
  // By which it was opened last, for errors.
  std::string path = {};  // NOLINT(readability-redundant-member-init): -Wextra asks for it
};

class File : public vol::TerminalFile {
 public:
  // `path`: as the program gave it. `connector`: as HDF5 knows it.
  File(std::shared_ptr<store::Store> store, const std::string& container, std::string path,
       const char* connector);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override;

  // Writes all that is pending; nothing in a child after fork(), as it is the parent's. Throws
  // Error.
  void flush();
  // Throws Error in such a child.
  void require_own_process() const;
  // A dataset's elements, or an object, have changed. Flushes what is too much.
  void note_pending(const std::shared_ptr<Dataset>& dataset);
  void note_change();

  // The type as a file has it: its conversion puts what has variable length into blobs of the file.
  // Region references of HDF5 1.8 are sequences there.
  [[nodiscard]] Id<Kind::datatype> file_type(hid_t type) const;
  // Of a dataset that is open already, or not.
  std::shared_ptr<Dataset> dataset(const objects::Handle& object);
  // A file object of the program's but that one, or null.
  [[nodiscard]] vol::TerminalObject* file_object(const vol::TerminalObject* but = nullptr) const;
  // Whether an object is the file as types know it, which is no program's.
  [[nodiscard]] bool is_for_types(const void* object) const { return object == for_types_.get(); }
  // Objects that belong to no opening of the program's; made while HDF5 opens the file.
  void prepare();

 private:
  [[nodiscard]] Id<Kind::datatype> located(hid_t type) const;
  // Of the dataset of a token.
  [[nodiscard]] std::optional<vol::FaceExtent> extent_of(std::uint64_t token);

  std::shared_ptr<store::Store> store_;
  const char* connector_;
  std::map<objects::ObjectId, std::weak_ptr<Dataset>> datasets_;
  std::size_t most_datasets_ = 64;  // before those are forgotten that are closed
  std::map<std::shared_ptr<Dataset>, std::size_t> pending_;  // and their bytes
  std::size_t pending_bytes_ = 0;
  std::uint64_t changes_ = 0;
  const unsigned process_;                          // that may change it, as forks() says
  std::unique_ptr<vol::TerminalObject> for_types_;  // the file, as types know it

 public:
  const std::string path;
  const std::string folder;  // that it was opened in, from the root on
  const unsigned long fileno;
  objects::Container container;
  objects::Heaps heaps;
  Regions regions;
  bool has_changed = false;  // since the last close of an opening that may write
  const std::shared_ptr<vol::NativeFile> native;  // for what HDF5 alone knows of datasets
  std::shared_ptr<const Descriptor> stub;
  bool is_writable = false;
  std::shared_ptr<const void> kept;  // the container's name, where this may write it
  int descriptor = -1;               // that one's, where the program has asked for it
  Id<Kind::plist> creation;          // list
  Id<Kind::plist> access;            // list, with the connector and its options
  Mounts mounts;
};

inline File& file_of(const Opening& opening) { return static_cast<File&>(*opening->file); }

// Keeps who cleans or removes a container from those who may write it, by whatever copy of its stub
// (store::Store::keep). `path`: of the file, for the Error where others keep it.
std::shared_ptr<const void> kept_name(store::Store& store, const std::string& container,
                                      const std::string& path, store::Keeping how);

// The file of a container that is open in this process; null where it is not.
std::shared_ptr<File> open_file(const store::Store& store, const std::string& container);
// All that is noted is flushed before the library ends: what HDF5 does for filters and types it
// does not do then any more.
void note_open(const store::Store& store, const std::string& container,
               const std::shared_ptr<File>& file);

}  // namespace headrace::object
