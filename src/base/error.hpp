// What the code below the C edge throws. An error names the file, the object and the cause, and may
// carry an errno; std::throw_with_nested adds context, one HDF5 error record each.
#pragma once

#include <cerrno>
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

}  // namespace headrace
