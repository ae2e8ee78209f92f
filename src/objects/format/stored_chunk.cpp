#include "objects/format/stored_chunk.hpp"

#include <array>
#include <limits>

#include "base/little_endian.hpp"
#include "engine/checksum.hpp"
#include "objects/format/fields.hpp"

namespace headrace::objects {
namespace {

constexpr std::uint8_t kChunkVersion = 1;

std::uint32_t checksum_of(std::string_view head, store::Bytes bytes) {
  return engine::checksum(bytes, engine::checksum(store::bytes_of(head)));
}

}  // namespace

std::string encode_head(const StoredChunk& chunk) {
  std::string head;
  head += static_cast<char>(kChunkVersion);
  put_varint(head, chunk.epoch);
  put_varint(head, chunk.left_out);
  std::array<std::byte, kChecksum> checksum{};
  put_little_endian(checksum.data(), checksum_of(head, chunk.bytes));
  return head.append(store::text_of(checksum));
}

ChunkHead decode_head(store::Bytes blob) {
  std::string_view left = store::text_of(blob);
  if (take_byte(left) != kChunkVersion)
    throw Error("a chunk is of another version of Headrace", ErrorKind::unsupported);
  ChunkHead head;
  head.epoch = take_varint(left);
  const std::uint64_t left_out = take_varint(left);
  if (left.size() < kChecksum || left_out > std::numeric_limits<std::uint32_t>::max())
    fail_damaged("a chunk");
  head.left_out = static_cast<std::uint32_t>(left_out);
  head.size = blob.size() - left.size() + kChecksum;
  return head;
}

StoredChunk decode_chunk(store::Bytes blob) {
  const ChunkHead head = decode_head(blob);
  const StoredChunk chunk{head.epoch, head.left_out, blob.subspan(head.size)};
  const store::Bytes front = blob.first(head.size - kChecksum);
  if (little_endian<std::uint32_t>(blob.data() + front.size()) !=
      checksum_of(store::text_of(front), chunk.bytes))
    fail_damaged("a chunk");
  return chunk;
}

}  // namespace headrace::objects
