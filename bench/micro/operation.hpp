// One benchmarked operation of plain HDF5, and what the kernel needs to run it.
#pragma once

#include <hdf5.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace micro {

// Passes on the result of an HDF5 call that succeeded; throws for one that did not.
template <typename Result>
Result check(Result result) {
  if (result < 0) throw std::runtime_error("an HDF5 call failed");
  return result;
}

// Throws when the operations have not had the effect they should have.
inline void verify_that(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string("verification failed: ") + what);
}

// An HDF5 id and the function that closes it.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(check(id)), close_(close) {}
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) {
    other.id_ = H5I_INVALID_HID;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): as HDF5 takes it

 private:
  hid_t id_;
  Close close_;
};

// Where a batch works.
struct Place {
  std::string folder;  // for files of its own
  hid_t group;         // an empty group of its own
  int limit;           // the number of calls to prepare for
};

// A batch of calls. The constructor prepares, untimed; run() is timed; verify() checks the effect.
class Batch {
 public:
  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  Batch(Batch&&) = delete;
  Batch& operator=(Batch&&) = delete;
  virtual ~Batch() = default;
  virtual void run(int call) = 0;
  virtual void verify(int calls) = 0;
};

struct Operation {
  std::string_view name;
  int units;  // operations that one call stands for: the links of an iteration
  std::unique_ptr<Batch> (*prepare)(const Place& place);
};

template <typename Kind>
std::unique_ptr<Batch> prepare(const Place& place) {
  return std::make_unique<Kind>(place);
}

std::span<const Operation> file_operations();
std::span<const Operation> object_operations();

}  // namespace micro
