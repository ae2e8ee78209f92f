// HDF5 functions called inside a callback. Every one that fails prints the error stack: without
// these a program's one error would appear once more for each layer. The records stay, for the
// function that the program called to print.
#pragma once

#include "hdf5/id.hpp"

namespace headrace {

// Turns HDF5's printing of errors off for its lifetime. For stretches in which no code of the
// program runs: it would find its handler gone. Within another one it has nothing to do.
class QuietErrors {
 public:
  QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  QuietErrors(QuietErrors&&) = delete;
  QuietErrors& operator=(QuietErrors&&) = delete;
  ~QuietErrors();

 private:
  static thread_local unsigned depth_;

  H5E_auto2_t function2_ = nullptr;
  H5E_auto1_t function1_ = nullptr;
  void* data_ = nullptr;
};

// Keeps the H5VL functions that forward a callback from printing, and nothing else. The program's
// own functions may run below (iteration, filters, conversions): what fails in them is printed, and
// a handler that they set stays.
class QuietForwarding {
 public:
  QuietForwarding();
  QuietForwarding(const QuietForwarding&) = delete;
  QuietForwarding& operator=(const QuietForwarding&) = delete;
  QuietForwarding(QuietForwarding&&) = delete;
  QuietForwarding& operator=(QuietForwarding&&) = delete;
  ~QuietForwarding();

 private:
  static herr_t on_error2(hid_t stack, void* self);
  static herr_t on_error1(void* self);

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
class PrivateErrors {
 public:
  PrivateErrors() : kept_(h5.Eget_num(kDefaultStack) > 0 ? h5.Eget_current_stack() : kInvalidId) {}
  PrivateErrors(const PrivateErrors&) = delete;
  PrivateErrors& operator=(const PrivateErrors&) = delete;
  PrivateErrors(PrivateErrors&&) = delete;
  PrivateErrors& operator=(PrivateErrors&&) = delete;
  ~PrivateErrors() {
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
