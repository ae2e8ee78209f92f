#include "objects/format/counted_block.hpp"

#include "objects/format/fields.hpp"

namespace headrace::objects {

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
  if (!bytes.empty()) fail_damaged("a count of links");
  return block;
}

}  // namespace headrace::objects
