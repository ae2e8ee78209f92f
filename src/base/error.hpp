// What the code below the C edge throws. An error names the file, the object and the cause, and may
// carry an errno; std::throw_with_nested adds context, one HDF5 error record each.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>

namespace headrace {

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, int error_number = 0)
      : std::runtime_error(what), errno_(error_number) {}
  // The errno of the cause, or 0.
  [[nodiscard]] int error_number() const { return errno_; }

 private:
  int errno_;
};

// What an action throws; null where it throws nothing. A thread that ends goes on ending.
template <typename Action>
std::exception_ptr error_of(const Action& action) {
  try {
    action();
    return nullptr;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace headrace
