// Any bytes are the header of an object of a container, which is the same when it is written and
// read again, or an Error. Their checksum is made right, or hardly anything would get past it.
#include <array>
#include <cstdlib>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/checksum.hpp"
#include "objects/format/header.hpp"
#include "percent.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  std::string input = from_percent(data, size);
  std::array<std::byte, 4> checksum{};
  put_little_endian(checksum.data(), engine::checksum(std::as_bytes(std::span(input))));
  input.append(reinterpret_cast<const char*>(checksum.data()), checksum.size());
  try {
    const objects::Header header = objects::decode_header(input);
    if (objects::decode_header(objects::encode(header)) != header) std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  return 0;
}
