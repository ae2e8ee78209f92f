#include "hdf5/error_stack.hpp"

#include <cstring>
#include <exception>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "hdf5/api.hpp"

namespace headrace {
namespace {

// HDF5's own wording of system errors: programs (h5py among them) read the number back from it.
std::string text_of(const std::exception& error) {
  int number = 0;
  if (const auto* ours = dynamic_cast<const Error*>(&error)) number = ours->error_number();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error))
    number = system->code().value();
  std::string text = error.what();
  if (number != 0)
    text +=
        ": errno = " + std::to_string(number) + ", error message = '" + std::strerror(number) + "'";
  return text;
}

void push_literal(const char* callback, const char* text) {
  h5.Epush2(kDefaultStack, "headrace", callback, 0, h5.error_class.get(), h5.error_major.get(),
            h5.error_minor.get(), "%s", text);
}

void push(const char* callback, const std::string& text) {
  push_literal(callback, printable(text).c_str());
}

void push_nested(const char* callback, const std::exception& error) {
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& inner) {
    push_nested(callback, inner);
  } catch (...) {
    push(callback, "unknown C++ exception");
  }
  push(callback, text_of(error));
}

}  // namespace

std::string root_cause() {
  std::string text;
  const auto read = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
    if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
    return 1;  // the first is enough
  };
  h5.Ewalk2(kDefaultStack, H5E_WALK_UPWARD, read, &text);
  return text;
}

void push_current_exception(const char* callback) noexcept {
  try {
    throw;
  } catch (const std::exception& error) {
    try {
      push_nested(callback, error);
    } catch (...) {  // out of memory: the record goes without its text
      push_literal(callback, "out of memory");
    }
  } catch (...) {
    push_literal(callback, "unknown C++ exception");
  }
}

}  // namespace headrace
