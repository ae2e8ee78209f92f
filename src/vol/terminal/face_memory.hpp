// The bytes of the native files of one file's faces, of which HDF5 may open several. Besides what
// HDF5 writes there, it finds
// - at addresses that are tokens: headers with the extents of the datasets that have these tokens,
// - the heaps of region references (hdset_reg_ref_t): those of the program, and those put here.
// With these HDF5's functions for region references of HDF5 1.8 work: they look for a selection in
// a heap of the native file, and for the dataset's extent at the address that its token is.
//
// Tokens of datasets are 2^36 and above. The program's thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "vol/terminal/face_format.hpp"

namespace headrace::vol {

class NativeFile;

class FaceMemory : public std::enable_shared_from_this<FaceMemory> {
 public:
  FaceMemory();
  FaceMemory(const FaceMemory&) = delete;
  FaceMemory& operator=(const FaceMemory&) = delete;
  ~FaceMemory() = default;

  // What the dataset of a token has, if there is one.
  using ExtentOf = std::function<std::optional<FaceExtent>(std::uint64_t token)>;
  void tell_extents(ExtentOf extent_of) { extent_of_ = std::move(extent_of); }

  // A token and a selection, as HDF5 writes them, as a region reference of the native files. Throws
  // Error where there are too many.
  hdset_reg_ref_t reference_to(const std::string& content);
  // What a region reference leads to; nothing where it is of another file.
  std::optional<std::string> content_of(const hdset_reg_ref_t& reference);
  // HDF5 keeps what it has read: tells it which extents have changed since. Throws Error.
  void update_extents();
  [[nodiscard]] bool has_references() const { return !heaps_.empty(); }
  // One that no other attribute has had.
  std::uint64_t next_attribute() { return ++attributes_; }

  // For the driver; false where nothing is.
  [[nodiscard]] bool is_empty() const { return head_.empty(); }
  haddr_t allocate(H5FD_mem_t type, hsize_t size);
  bool read(haddr_t address, std::span<char> bytes);
  bool write(haddr_t address, std::span<const char> bytes);

 private:
  friend class NativeFile;
  // Of a native file that is made anew: all but the heaps goes.
  void restart();
  [[nodiscard]] std::optional<std::string> find(haddr_t address, std::uint32_t index) const;
  // The collection that has the address, if one does.
  [[nodiscard]] std::map<haddr_t, std::string>::iterator heap_at(haddr_t address);
  bool read_header(haddr_t token, std::span<char> bytes);

  ExtentOf extent_of_;
  std::set<const NativeFile*> open_;  // native files
  bool was_used_ = false;             // for references or headers of datasets
  std::size_t settled_ = 0;           // bytes of the body when the native file had been made
  // The superblock, which HDF5 wants at 0, and what else it allocates.
  std::string head_;
  std::string body_;
  haddr_t begin_;
  std::map<haddr_t, std::string> heaps_;  // collections, by their addresses
  std::unordered_map<std::string, hdset_reg_ref_t> known_;
  haddr_t open_heap_ = 0;               // one that HDF5 has not read, where there is one
  std::uint32_t objects_ = 0;           // that it has
  std::map<haddr_t, FaceExtent> told_;  // extents that may change, by tokens
  bool is_reading_ = false;             // an extent is asked for, which may lead here again
  // Of the header that was read last what HDF5 has not asked for.
  haddr_t rest_at_ = HADDR_UNDEF;
  std::string rest_;
  std::uint64_t attributes_ = 0;
};

}  // namespace headrace::vol
