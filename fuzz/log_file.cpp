// Any segments are a log whose writes all have data, or an Error. A line break separates segments;
// the first byte of each says what it is: D, I, O, C, or anything for one with a wrong checksum.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "engine/checksum.hpp"
#include "engine/log/logged_writes.hpp"
#include "engine/log/reader.hpp"
#include "percent.hpp"

namespace {

using namespace headrace;
using namespace headrace::engine;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class Memory : public io::File {
 public:
  explicit Memory(std::string bytes) : bytes_(std::move(bytes)) {}
  void write(std::uint64_t, std::span<const std::span<const std::byte>>) override { std::abort(); }
  void read(std::uint64_t offset, std::span<std::byte> to) override {
    if (offset > bytes_.size() || to.size() > bytes_.size() - offset) std::abort();
    std::ranges::copy(bytes_of(bytes_).subspan(offset, to.size()), to.begin());
  }
  void sync() override {}
  void resize(std::uint64_t) override { std::abort(); }

 private:
  std::string bytes_;
};

void add_segment(std::string& file, std::uint64_t number, const std::string& line) {
  constexpr std::string_view kKinds = "DIOC";
  const std::size_t kind = line.empty() ? kKinds.size() : kKinds.find(line.front());
  const std::string content = line.substr(std::min<std::size_t>(line.size(), 1));
  log::SegmentHeader header;
  header.sequence = number;
  header.bytes = content.size();
  header.checksum = checksum(bytes_of(content));
  if (kind < kKinds.size()) header.kind = static_cast<log::SegmentKind>(kind + 1);
  const auto encoded = header.encode();
  file.append(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  if (kind >= kKinds.size()) file.back() = static_cast<char>(file.back() ^ 1);
  file += content;
}

std::string file_of(const std::string& input) {
  std::string file;
  std::uint64_t number = 0;
  for (std::size_t begin = 0; begin <= input.size();) {
    const std::size_t end = std::min(input.find('\n', begin), input.size());
    add_segment(file, number++, input.substr(begin, end - begin));
    begin = end + 1;
  }
  return file;
}

// All that a program would do with the log.
void use(const log::Reader& reader, std::uint64_t size) {
  if (reader.covered() > reader.end() || reader.end() > size) std::abort();
  if (reader.closed() && reader.covered() != reader.end()) std::abort();
  const bool damaged = reader.damage().has_value();
  if (damaged && reader.closed() && reader.end() == size) std::abort();  // checksums are right
  for (std::uint32_t i = 0; i < reader.index().datasets.size(); ++i) {
    log::LoggedWrites held;
    held.add(reader, i);
    const std::uint64_t element = reader.index().datasets[i].kind->element;
    for (std::uint64_t at = held.next(0, 0); at < held.end() && at < 4096;) {
      constexpr std::uint64_t kPart = 64;
      std::string found(kPart * element, '\0');
      log::Covered covered(kPart);
      held.apply(std::array{headrace::engine::Run{at, kPart}},
                 std::as_writable_bytes(std::span(found)), covered);
      at = held.next(at + kPart, at + 2 * kPart);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = file_of(from_percent(data, size));
  try {
    use(log::Reader(std::make_unique<Memory>(file), file.size()), file.size());
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  return 0;
}
