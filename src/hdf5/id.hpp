// Move-only owners of HDF5 ids and of the error stack.
#pragma once

#include <utility>

#include "hdf5/api.hpp"

namespace headrace {

// Keeps the records on the default error stack across HDF5 calls, which clear it on entry. Costs
// one call when the stack is empty. Records pushed in between stay, above the kept ones.
class ErrorStackKeeper {
 public:
  ErrorStackKeeper()
      : kept_(h5.Eget_num(kDefaultStack) > 0 ? h5.Eget_current_stack() : kInvalidId) {}
  ErrorStackKeeper(const ErrorStackKeeper&) = delete;
  ErrorStackKeeper& operator=(const ErrorStackKeeper&) = delete;
  ErrorStackKeeper(ErrorStackKeeper&&) = delete;
  ErrorStackKeeper& operator=(ErrorStackKeeper&&) = delete;
  ~ErrorStackKeeper() {
    if (kept_ < 0) return;
    if (h5.Eget_num(kDefaultStack) > 0) {
      const hid_t newer = h5.Eget_current_stack();
      h5.Eappend_stack(kept_, newer, /*close_source_stack=*/true);
    }
    h5.Eset_current_stack(kept_);  // closes kept_
  }

 private:
  hid_t kept_;
};

enum class Kind { attribute, dataspace, datatype, file, plist, vol };

// Owns one reference to an id of the given kind. Releasing it leaves the error stack as it was, so
// a handle may go out of scope after a failed call.
template <Kind kind>
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}  // takes over the caller's reference
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, kInvalidId)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  ~Id() {
    if (id_ < 0) return;
    const ErrorStackKeeper keep;
    h5.Idec_ref(id_);
  }

  [[nodiscard]] hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = kInvalidId;
};

}  // namespace headrace
