// Any bytes with right checksums are a file of logs that lie within it, or an Error.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "engine/checksum.hpp"
#include "engine/log/node_file.hpp"
#include "percent.hpp"

namespace {

using namespace headrace;
using namespace headrace::engine;

// Zeros behind its end.
class Memory : public io::File {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}
  void write(std::uint64_t, std::span<const std::span<const std::byte>>) override { std::abort(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    const auto all = std::as_bytes(std::span(bytes_));
    const auto from = all.subspan(std::min<std::uint64_t>(offset, all.size()));
    std::ranges::fill(to, std::byte{});
    std::ranges::copy(from.first(std::min(from.size(), to.size())), to.begin());
  }
  void sync() override {}
  void resize(std::uint64_t) override { std::abort(); }

 private:
  std::string bytes_;
};

// Where there is room, the checksums of the header and of a length behind it.
void put_checksums(std::string& file) {
  constexpr std::size_t kFixed = 48;
  if (file.size() < kFixed) return;
  const auto bytes = std::as_writable_bytes(std::span(file));
  const std::uint64_t ranks = little_endian<std::uint32_t>(bytes.data() + 40);
  const std::uint64_t end = kFixed + ranks * 4;
  if (end > file.size()) return;
  const auto numbers = bytes.subspan(kFixed, ranks * 4);
  put_little_endian(bytes.data() + 44, checksum(numbers, checksum(bytes.first(44))));
  const std::uint64_t length = (end + 15) / 16 * 16;
  if (length + 16 > file.size()) return;
  put_little_endian(bytes.data() + length + 8, 0U);
  put_little_endian(bytes.data() + length + 12, checksum(bytes.subspan(length, 12)));
}

void use(io::File& file, std::uint64_t bytes) {
  const log::NodeFile node = log::node_file_of(file);
  for (std::size_t place = 0; place < std::min<std::size_t>(node.ranks.size(), 3); ++place) {
    const std::uint64_t length = log::length_of(file, node, place, bytes);
    if (length > bytes || (length > 0 && node.at(place, length - 1) >= bytes)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes = from_percent(data, size);
  put_checksums(bytes);
  for (const std::uint64_t more : {0, 4096, 1 << 20}) {
    Memory file(bytes);
    try {
      use(file, bytes.size() + more);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
    }
  }
  return 0;
}
