// Plain HDF5 as the kernels use it: its headers, handles that close themselves, and calls that
// throw.
//
// The kernels are linked with no libhdf5. The program that loads them (main.cpp) has made one
// global, and any of 1.14 or newer fits: so the check of the headers' version is switched off here.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

#undef H5CHECK
#define H5CHECK

namespace headrace::bench {

// Throws Error with `what` and the records of HDF5's error stack.
[[noreturn]] void throw_hdf5(const std::string& what);

// For calls that return a negative number when they fail.
template <typename Result>
Result check(Result result, const std::string& what) {
  if (result < 0) throw_hdf5(what);
  return result;
}

// An id with the function that closes it. close() tells of failure, the destructor cannot.
class Handle {
 public:
  using Close = herr_t(hid_t);
  Handle() = default;
  // Throws Error when `id` is negative.
  Handle(hid_t id, Close* close, const std::string& what) : id_(check(id, what)), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }

  [[nodiscard]] hid_t get() const { return id_; }
  void close() {
    if (id_ >= 0) check(close_(std::exchange(id_, H5I_INVALID_HID)), "close");
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close* close_ = nullptr;
};

// The function of the loaded libhdf5 with that name; null when it lacks it (those for MPI, in a
// serial build).
void* hdf5_function(const char* name);

}  // namespace headrace::bench
