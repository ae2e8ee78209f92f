// HDF5 functions called inside a callback.
#pragma once

#include "hdf5/id.hpp"

namespace headrace {

// Turns off HDF5's printing of errors for its lifetime. Every HDF5 function that fails prints the
// stack, the ones called inside a callback too: without this a program's one error would appear
// once more for each layer. The records stay, for the function that the program called to print.
class QuietErrors {
 public:
  QuietErrors() {
    unsigned v2 = 1;
    h5.Eauto_is_v2(kDefaultStack, &v2);
    if (v2 != 0) {
      h5.Eget_auto2(kDefaultStack, &function2_, &data_);
      if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, nullptr, nullptr);
    } else if (h5.Eget_auto1 != nullptr) {
      h5.Eget_auto1(&function1_, &data_);
      if (function1_ != nullptr) h5.Eset_auto1(nullptr, nullptr);
    }
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  QuietErrors(QuietErrors&&) = delete;
  QuietErrors& operator=(QuietErrors&&) = delete;
  ~QuietErrors() {
    if (function2_ != nullptr) h5.Eset_auto2(kDefaultStack, function2_, data_);
    if (function1_ != nullptr) h5.Eset_auto1(function1_, data_);
  }

 private:
  H5E_auto2_t function2_ = nullptr;
  H5E_auto1_t function1_ = nullptr;
  void* data_ = nullptr;
};

// For callbacks that call HDF5 functions which clear the stack: what was on it stays.
struct NestedCalls {
  ErrorStackKeeper keep;
  QuietErrors quiet;
};

// For questions that a connector asks on its own account: whatever they put on the error stack
// goes, what was there before stays.
class Aside {
 public:
  Aside() : kept_(h5.Eget_num(kDefaultStack) > 0 ? h5.Eget_current_stack() : kInvalidId) {}
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  Aside(Aside&&) = delete;
  Aside& operator=(Aside&&) = delete;
  ~Aside() {
    if (kept_ < 0)
      h5.Eclear2(kDefaultStack);
    else
      h5.Eset_current_stack(kept_);  // closes kept_
  }

 private:
  QuietErrors quiet_;
  hid_t kept_;
};

// For callbacks that call no HDF5 function which may fail.
struct NoGuard {};

}  // namespace headrace
