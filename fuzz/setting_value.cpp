// Any text is a value of a type or an Error; the first byte picks the type.
#include <cstdint>

#include "base/error.hpp"
#include "base/settings/settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  if (size == 0) return 0;
  const auto type = static_cast<Type>(*data % (static_cast<unsigned>(Type::duration) + 1));
  const Setting setting{"option", "HEADRACE_OPTION", type, "a|bc|", "", "", ""};
  const std::string_view value(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    check_value(setting, "option", value);
  } catch (const Error&) {  // the documented answer to nonsense
  }
  return 0;
}
