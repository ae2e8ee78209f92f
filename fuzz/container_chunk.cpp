// Any bytes are a chunk of a container, which is the same when it is written and read again, or an
// Error. Their checksum is made right where it would be in short ones.
#include <algorithm>
#include <cstdlib>
#include <span>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/checksum.hpp"
#include "objects/format/stored_chunk.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  std::string input = from_percent(data, size);
  const std::span bytes(reinterpret_cast<std::byte*>(input.data()), input.size());
  constexpr std::size_t kHead = 3;
  if (bytes.size() >= kHead + 4)
    put_little_endian(bytes.data() + kHead, engine::checksum(bytes.subspan(kHead + 4),
                                                             engine::checksum(bytes.first(kHead))));
  try {
    const objects::StoredChunk chunk = objects::decode_chunk(bytes);
    const std::string again =
        objects::encode_head(chunk) + std::string(store::text_of(chunk.bytes));
    const objects::StoredChunk second = objects::decode_chunk(store::bytes_of(again));
    if (second.epoch != chunk.epoch || second.left_out != chunk.left_out ||
        !std::ranges::equal(second.bytes, chunk.bytes))
      std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  return 0;
}
