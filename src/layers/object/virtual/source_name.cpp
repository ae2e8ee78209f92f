#include "layers/object/virtual/source_name.hpp"

namespace headrace::object {

SourceName::SourceName(const std::string& pattern) : parts_(1) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (pattern[i] != '%' || (next != 'b' && next != '%')) {
      parts_.back() += pattern[i];
      continue;
    }
    ++i;
    if (next == 'b')
      parts_.emplace_back();
    else
      parts_.back() += '%';
  }
}

std::string SourceName::of(std::uint64_t block) const {
  std::string name = parts_.front();
  for (std::size_t i = 1; i < parts_.size(); ++i) name += std::to_string(block) + parts_[i];
  return name;
}

}  // namespace headrace::object
