#include "layers/log/connector/replaying/parts.hpp"

#include <cstring>

namespace headrace::log_layout {

using engine::log::Reader;

bool is_of(const engine::log::LoggedDataset& logged, const H5O_token_t& token) {
  return std::memcmp(logged.token.data(), &token, logged.token.size()) == 0;
}

Token token_of(const H5O_token_t& token) {
  Token result{};
  std::memcpy(result.data(), &token, result.size());
  return result;
}

void add_parts(Parts& parts, const Reader& reader) {
  const auto& datasets = reader.index().datasets;
  for (std::uint32_t place = 0; place < datasets.size(); ++place)
    parts[datasets[place].token].push_back({&reader, place});
}

}  // namespace headrace::log_layout
