// The objects of a file that a trace has told of, by the paths that the program has found them by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace headrace::trace {

// Shared by all that a program holds of an object by one of its paths.
struct KnownObject {
  static constexpr unsigned kDescribed = ~0U;

  std::uint32_t id = 0;
  std::string path;             // from the file's root group
  unsigned transfers = 0;       // of a dataset; kDescribed once its layout has been told
  bool told_as_opened = false;  // of a dataset: what it was when it was opened first
};
using KnownRef = std::shared_ptr<KnownObject>;

// Of one file. The application's threads, one at a time.
class KnownPaths {
 public:
  KnownPaths() { all().insert(this); }
  KnownPaths(const KnownPaths&) = delete;
  KnownPaths& operator=(const KnownPaths&) = delete;
  ~KnownPaths() {
    clear();
    all().erase(this);
  }

  // `tell(path)` tells of an object that is new, and returns its id.
  template <typename Tell>
  const KnownRef& find(std::string_view path, Tell tell) {
    if (time_ != time_of_all_) clear();
    if (const auto found = objects_.find(path); found != objects_.end()) return found->second;
    constexpr std::size_t kEntry = 200;  // bytes that an entry takes beside its path
    constexpr std::size_t kMost = std::size_t{4} << 20U;
    if (bytes_of_all_ > kMost)
      for (KnownPaths* const file : all()) file->clear();
    auto object = std::make_shared<KnownObject>(tell(path), std::string(path));
    bytes_ += kEntry + path.size();
    bytes_of_all_ += kEntry + path.size();
    const std::string_view key = object->path;
    return objects_.emplace(key, std::move(object)).first->second;
  }

  // Paths of all files may lead to other objects from now on.
  static void forget_all() { ++time_of_all_; }

 private:
  void clear() {
    objects_.clear();
    bytes_of_all_ -= std::exchange(bytes_, 0);
    time_ = time_of_all_;
  }

  // Leaked: HDF5 closes files after the statics of C++ are gone.
  static std::unordered_set<KnownPaths*>& all() {
    static auto& files = *new std::unordered_set<KnownPaths*>;
    return files;
  }

  static inline std::uint64_t time_of_all_ = 0;
  static inline std::size_t bytes_of_all_ = 0;

  std::unordered_map<std::string_view, KnownRef> objects_;  // the keys are the objects' own paths
  std::size_t bytes_ = 0;
  std::uint64_t time_ = 0;
};

}  // namespace headrace::trace
