// What the code below the C edge throws. An error names the file, the object and the cause, has a
// kind, and may carry an errno; std::throw_with_nested adds context, one HDF5 error record each.
#pragma once

#include <cxxabi.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>

namespace headrace {

// What a caller that can go on after some failures must know of one.
enum class ErrorKind {
  failed,       // anything else
  not_found,    // there is nothing of that name
  conflict,     // something of that name is there, or another has changed what was to be changed
  busy,         // another has it now: it may succeed later
  corrupt,      // what is stored is damaged, or cut off
  no_space,     // the storage is full
  unsupported,  // this storage, or this version, cannot do it
};

// Of an errno; 0 is none.
constexpr ErrorKind kind_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENAMETOOLONG:  // no file can have that name
      return ErrorKind::not_found;
    case EEXIST:
      return ErrorKind::conflict;
    case EAGAIN:
    case EBUSY:
      return ErrorKind::busy;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::no_space;
    case ENOSYS:
    case ENOTSUP:
      return ErrorKind::unsupported;
    default:
      return ErrorKind::failed;
  }
}

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, int error_number = 0)
      : std::runtime_error(what), errno_(error_number), kind_(headrace::kind_of(error_number)) {}
  Error(const std::string& what, ErrorKind kind) : std::runtime_error(what), kind_(kind) {}
  // Tells more of `cause`, and keeps its kind and errno.
  Error(const std::string& what, const Error& cause)
      : std::runtime_error(what), errno_(cause.errno_), kind_(cause.kind_) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  // The errno of the cause, or 0.
  [[nodiscard]] int error_number() const { return errno_; }

 private:
  int errno_ = 0;
  ErrorKind kind_;
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

// For what goes on after a failure, and tells of the first one.
class FirstError {
 public:
  template <typename Action>
  bool of(const Action& action) {
    const std::exception_ptr failed = error_of(action);
    if (first_ == nullptr) first_ = failed;
    return failed != nullptr;
  }
  [[nodiscard]] const std::exception_ptr& get() const { return first_; }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace headrace
