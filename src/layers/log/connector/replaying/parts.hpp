// Datasets in logs: which logs hold something of the dataset with a token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/log/reader.hpp"
#include "hdf5/api.hpp"

namespace headrace::log_layout {

// A dataset in a log. The reader must outlive it.
struct Part {
  const engine::log::Reader* reader;
  std::uint32_t place;
  std::uint64_t end = ~std::uint64_t{0};  // the first epoch that no flush has covered
  [[nodiscard]] const engine::log::LoggedDataset& logged() const {
    return reader->index().datasets[place];
  }
};

bool is_of(const engine::log::LoggedDataset& logged, const H5O_token_t& token);

// By the dataset's token in the file; the parts in the order of the logs.
using Token = std::array<std::byte, 16>;
using Parts = std::map<Token, std::vector<Part>>;

Token token_of(const H5O_token_t& token);
void add_parts(Parts& parts, const engine::log::Reader& reader);

}  // namespace headrace::log_layout
