// headrace-log LOG: what a log of the log layer holds, as a JSON object; of a file with the logs of
// several ranks one a line. docs/formats/log.md has what is in it; `headrace log ls` shows it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/report/json.hpp"
#include "base/report/printable.hpp"
#include "engine/log/node_file.hpp"
#include "engine/log/reader.hpp"

namespace {

using namespace headrace;
using engine::Run;
using engine::log::Index;
using engine::log::LoggedWrite;
using engine::log::Reader;

class OpenFile {
 public:
  explicit OpenFile(const char* name) : descriptor_(::open(name, O_RDONLY | O_CLOEXEC)) {
    struct stat status{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
      throw Error(std::string(name) + ": " + std::strerror(errno));
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

// Of one dataset.
class Held {
 public:
  void add(const LoggedWrite& write, const engine::Pattern& pattern) {
    elements_ += pattern.elements();
    pattern.within(0, pattern.extent(), [&](const Run& row, std::uint64_t /*position*/) {
      if (++count_ <= kMostRows) rows_.push_back({write.first + row.first, row.count});
    });
  }
  [[nodiscard]] std::uint64_t elements() const { return elements_; }
  [[nodiscard]] std::uint64_t rows() const { return count_; }

  // Elements that are written once more; none where it would take too much memory to know.
  std::optional<std::uint64_t> overlapping() {
    if (count_ > kMostRows) return std::nullopt;
    std::ranges::sort(rows_, {}, &Run::first);
    std::uint64_t different = 0;
    std::uint64_t end = 0;
    for (const Run& row : rows_) {
      const std::uint64_t begin = std::max(end, row.first);
      end = std::max(end, row.first + row.count);
      different += end - begin;
    }
    return elements_ - different;
  }

 private:
  static constexpr std::uint64_t kMostRows = 1 << 26;
  std::vector<Run> rows_;
  std::uint64_t count_ = 0;
  std::uint64_t elements_ = 0;
};

std::string describe_datasets(const Index& index) {
  std::string text;
  for (std::size_t place = 0; place < index.datasets.size(); ++place) {
    Held held;
    for (const LoggedWrite& write : index.writes[place])
      held.add(write, index.patterns[write.pattern]);
    const auto overlapping = held.overlapping();
    const auto& dataset = index.datasets[place];
    const auto in_bytes = [&](std::uint64_t count) {
      const std::uint64_t bytes = count * dataset.kind->element;
      return static_cast<long long>(bytes);
    };
    if (!text.empty()) text += ',';
    text += JsonObject()
                .text("name", printable(dataset.name))
                .number("element", static_cast<long long>(dataset.kind->element))
                .number("writes", static_cast<long long>(index.writes[place].size()))
                .number("rows", static_cast<long long>(held.rows()))
                .number("bytes", in_bytes(held.elements()))
                .raw("overlapping", overlapping ? std::to_string(in_bytes(*overlapping)) : "null")
                .str();
  }
  return '[' + text + ']';
}

JsonObject describe(const Reader& reader, std::uint64_t size) {
  const Index& index = reader.index();
  std::uint64_t epochs = 0;
  for (const auto& writes : index.writes)
    if (!writes.empty()) epochs = std::max(epochs, writes.back().epoch + 1);
  return JsonObject()
      .number("size", static_cast<long long>(size))
      .boolean("closed", reader.closed())
      .number("covered", static_cast<long long>(reader.covered()))
      .number("data_segments", static_cast<long long>(reader.data_segments()))
      .number("data_bytes", static_cast<long long>(index.data_bytes))
      .number("index_segments", static_cast<long long>(reader.index_segments()))
      .number("index_bytes", static_cast<long long>(reader.index_bytes()))
      .number("patterns", static_cast<long long>(index.patterns.size()))
      .number("epoch", static_cast<long long>(index.epoch))
      .number("flushes", static_cast<long long>(epochs))
      .text("damage", reader.damage().value_or(""))
      .raw("datasets", describe_datasets(index));
}

void describe(const char* name) {
  const OpenFile file(name);
  const auto storage = [&] { return engine::io::posix_file(file.descriptor(), name); };
  if (!engine::log::is_node_file(*storage())) {
    std::cout << describe(Reader(storage(), file.size()), file.size()).str() << '\n';
    return;
  }
  const auto node = engine::log::node_file_of(*storage());
  for (std::size_t place = 0; place < node.ranks.size(); ++place) {
    const auto size = engine::log::length_of(*storage(), node, place, file.size());
    const Reader reader(engine::log::log_in(storage(), node, place), size);
    std::cout << describe(reader, size).number("rank", node.ranks[place]).str() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw Error("usage: headrace-log LOG");
    describe(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
