// Registers connectors and drivers that are linked into the test, and watches HDF5's error stack.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "vfd/make_class.hpp"
#include "vol/make_class.hpp"

namespace headrace::test {

// Binds the base to the libhdf5 of the test. Idempotent.
void bind_to_test_library();

// A file access property list that leads through `cls` to the native connector.
hid_t fapl_with(const H5VL_class_t& cls, const char* info = "");
// A file access property list for a driver registered from `cls`.
hid_t fapl_with(const H5FD_class_t& cls);

// What HDF5 printed, or would have, since the watch began: one string a time, its records joined.
class PrintedErrors {
 public:
  PrintedErrors();
  ~PrintedErrors();
  PrintedErrors(const PrintedErrors&) = delete;
  PrintedErrors& operator=(const PrintedErrors&) = delete;
  [[nodiscard]] const std::vector<std::string>& all() const { return printed_; }
  [[nodiscard]] bool contains(const std::string& text) const;
  void clear() { printed_.clear(); }

 private:
  static herr_t on_error(hid_t stack, void* self);
  std::vector<std::string> printed_;
  H5E_auto2_t old_function_ = nullptr;
  void* old_data_ = nullptr;
};

// A new empty folder, removed with its contents at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace headrace::test
