// The name of a source file or dataset of a virtual dataset: %b stands for the number of a block,
// %% for a percent sign.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::object {

class SourceName {
 public:
  explicit SourceName(const std::string& pattern);
  [[nodiscard]] std::string of(std::uint64_t block) const;

 private:
  std::vector<std::string> parts_;  // a block's number is between two of them
};

}  // namespace headrace::object
