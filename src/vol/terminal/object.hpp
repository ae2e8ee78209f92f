// What a terminal connector, one with nothing below it, hands to HDF5: objects of its own types.
//
// h5py and other programs call functions that HDF5 lets through for native objects only
// (H5Literate1, H5Oget_info1): it asks the connector for the native object of an id, and looks into
// that one's memory. So each object has a native face, an object of its type in an empty native
// file that lies in memory; see docs/decisions/0017. Nothing else is ever asked of the face. Both
// are made when they are first asked for: programs that call no such function need none.
//
// The application's thread only. What these functions cannot do they throw as Error.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.hpp"
#include "hdf5/id.hpp"
#include "vol/terminal/native_file.hpp"

namespace headrace::vol {

class TerminalObject;

// What a connector keeps of a file, one for all openings of it: connectors derive theirs.
class TerminalFile {
 public:
  TerminalFile() = default;
  TerminalFile(const TerminalFile&) = delete;
  TerminalFile& operator=(const TerminalFile&) = delete;
  virtual ~TerminalFile() { give_back(faces_); }
  // The objects of the file that HDF5 holds now, files among them.
  [[nodiscard]] const std::unordered_set<TerminalObject*>& objects() const { return objects_; }

  // An error that the close of a dataset cannot carry (vol/closing.hpp); the first one is kept for
  // the next flush or close of the file.
  void defer(std::exception_ptr error) {
    if (deferred_ == nullptr) deferred_ = std::move(error);
  }
  void throw_deferred() {
    if (deferred_ != nullptr) std::rethrow_exception(std::exchange(deferred_, nullptr));
  }

  // The bytes of the native files of the faces.
  [[nodiscard]] const std::shared_ptr<FaceMemory>& faces() const { return faces_; }

 protected:
  // Another file's may be taken over, once none of it is open.
  explicit TerminalFile(std::shared_ptr<FaceMemory> faces) : faces_(std::move(faces)) {}

 private:
  friend class TerminalObject;
  std::shared_ptr<FaceMemory> faces_ = new_faces();
  std::unordered_set<TerminalObject*> objects_;
  std::exception_ptr deferred_;
};

// One H5Fopen or H5Fcreate, shared by all objects that are opened through it.
class FileHandle {
 public:
  // `flags`: the program's.
  FileHandle(std::shared_ptr<TerminalFile> file, unsigned flags);
  // One that the program has not opened: a native file, which takes long to make, serves several.
  FileHandle(std::shared_ptr<TerminalFile> file, unsigned flags,
             std::shared_ptr<const NativeFile> native);
  FileHandle(const FileHandle&) = delete;
  FileHandle& operator=(const FileHandle&) = delete;
  ~FileHandle();

  const std::shared_ptr<TerminalFile> file;
  [[nodiscard]] bool writable() const { return (flags_ & kReadWrite) != 0; }
  [[nodiscard]] unsigned intent() const { return flags_ & (kReadWrite | kSwmr); }
  // The program has gone over to single-writer, multiple-reader access.
  void start_swmr_write() { flags_ |= kSwmrWrite; }
  // HDF5's native class struct.
  [[nodiscard]] const H5VL_class_t* native();

 private:
  friend class TerminalObject;
  static constexpr unsigned kReadWrite = 1;
  static constexpr unsigned kSwmrWrite = 0x20;
  static constexpr unsigned kSwmr = kSwmrWrite | 0x40;
  static bool any_without_native();
  static void make_all_native();
  const NativeFile& native_file();
  void* open_face(H5I_type_t type);

  unsigned flags_;
  std::shared_ptr<const NativeFile> native_;  // null until it is asked for
  bool shares_native_ = false;                // other files have it, too
  bool is_empty_ = true;                      // nothing was made in it
  const H5VL_class_t* native_class_ = nullptr;
};

// A file, group, dataset, committed type, attribute or map that HDF5 holds; connectors derive
// theirs. HDF5 owns it: an open or create gives it away by handed(), a close that succeeds deletes
// it.
class TerminalObject {
 public:
  TerminalObject(H5I_type_t type, std::shared_ptr<FileHandle> opening);
  TerminalObject(const TerminalObject&) = delete;
  TerminalObject& operator=(const TerminalObject&) = delete;
  virtual ~TerminalObject();

  [[nodiscard]] H5I_type_t type() const { return type_; }
  [[nodiscard]] const std::shared_ptr<FileHandle>& opening() const { return opening_; }
  [[nodiscard]] TerminalFile& file() const { return *opening_->file; }
  // What HDF5 takes for the object where it looks for a native one; made when it is first asked
  // for.
  void* face();
  // Whether that is the memory, which may be any.
  [[nodiscard]] bool has_face(const void* memory) const {
    return memory != nullptr && memory == face_;
  }

  // Whether memory is an object of this module that HDF5 holds.
  static bool is(const void* memory);

  static TerminalObject& from(const void* object) {
    if (object == nullptr) throw Error("called without an object");
    return *static_cast<TerminalObject*>(const_cast<void*>(object));
  }
  // The face of the object; of memory that is no object (any more) the memory. While the library
  // ends it asks for the objects of files that it has closed.
  static void* face_of(const void* object);

 private:
  H5I_type_t type_;
  std::shared_ptr<FileHandle> opening_;
  void* face_ = nullptr;
};

// The object as one of the connector's type T.
template <typename T>
T& as(const void* object) {
  auto* const found = dynamic_cast<T*>(&TerminalObject::from(object));
  if (found == nullptr) throw Error("called with an object of another type");
  return *found;
}

// Gives an object to HDF5.
template <typename T>
void* handed(std::unique_ptr<T> object) {
  TerminalObject* const given = object.release();
  return given;
}

// What HDF5 asks of the file of an object (H5VL_OBJECT_GET_FILE): the one it was opened through, as
// HDF5 finds it among its ids; null when the program has closed that one.
void* open_file_of(const TerminalObject& object);

// HDF5 has no such flag for maps.
inline constexpr unsigned kMapObjects = 1U << 30U;
// The ids of `types` (H5F_OBJ_*, kMapObjects) that the program has of the file, all or, with
// H5F_OBJ_LOCAL, those opened through this opening; at most `most`.
std::vector<hid_t> open_ids(const TerminalObject& file, unsigned types, std::size_t most);

// Whether a location asked about by H5Gget_objinfo is an object, where it may also be a link.
bool follows_links(const H5VL_loc_params_t& where, bool follow);
// An object's info as H5Gget_objinfo tells it.
H5G_stat_t stat_of(const H5O_info2_t& info);
// And a link's that is no hard one.
H5G_stat_t stat_of(const H5L_info2_t& link);

// Whether the memory that HDF5 passes for another file is the file of `object`.
bool is_same_file(const TerminalObject& object, const void* other);

}  // namespace headrace::vol
