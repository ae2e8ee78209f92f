#include "objects/format/counted_block.hpp"

#include "objects/format/fields.hpp"

namespace headrace::objects {
namespace {

constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 48U;  // of which no store has room

}  // namespace

std::string encode(const CountedBlock& block) {
  std::string bytes;
  put_text(bytes, block.begin);
  put_varint(bytes, block.links);
  return bytes;
}

CountedBlock decode_counted_block(std::string_view bytes) {
  CountedBlock block;
  block.begin = take_text(bytes);
  block.links = take_varint(bytes);
  if (!bytes.empty() || block.links > kMostLinks) fail_damaged("a count of links");
  return block;
}

}  // namespace headrace::objects
