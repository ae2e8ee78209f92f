// How many links neighbouring entries of a group's table have; see docs/formats/container.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::objects {

struct CountedBlock {
  std::string begin;  // the first key that may be among them
  std::uint64_t links = 0;

  bool operator==(const CountedBlock&) const = default;
};

std::string encode(const CountedBlock& block);
// Throws Error (corrupt).
CountedBlock decode_counted_block(std::string_view bytes);

}  // namespace headrace::objects
