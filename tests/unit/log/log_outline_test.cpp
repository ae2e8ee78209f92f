#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "engine/log/outline.hpp"
#include "engine/log/writer.hpp"
#include "unit/files.hpp"

namespace headrace::engine {
namespace {

using log::Belonging;
using log::LoggedDataset;
using log::Reader;
using log::Writer;

// Refuses what an outline has.
class DataOnly final : public io::File {
 public:
  DataOnly(const std::string& path, const Reader& reader) : file_(io::posix_file(path.c_str())) {
    reader.for_data([&](std::uint64_t at, std::uint64_t bytes) { data_.emplace_back(at, bytes); });
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    for (const auto& [at, size] : data_)
      if (offset >= at && offset + bytes.size() <= at + size) return file_->read(offset, bytes);
    throw Error("read at " + std::to_string(offset) + " of what an outline has");
  }
  void write(std::uint64_t, std::span<const std::span<const std::byte>>) override { FAIL(); }
  void sync() override {}
  void resize(std::uint64_t) override { FAIL(); }

 private:
  std::unique_ptr<io::File> file_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> data_;
};

TEST(LogOutline, HasAllButTheData) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  Writer writer(file.storage(), Belonging{{}, 1, 2});
  LoggedDataset dataset;
  dataset.kind = std::make_shared<log::Kind>(log::Kind{1, {}, {}});
  writer.add(dataset);
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::string data(1000, static_cast<char>('a' + i));
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{0, 1000}}, {}), 1000 * i);
    if (i % 2 == 0) writer.flush(false);
  }
  writer.flush(false);
  const std::uint64_t size = std::filesystem::file_size(file.path);
  const Reader whole(io::posix_file(file.path.c_str()), size);
  const auto outline = log::outline_of(whole);
  EXPECT_LT(outline.size(), 1000U);

  const Reader other(log::outlined(outline, std::make_unique<DataOnly>(file.path, whole)), size);
  EXPECT_EQ(other.owner(), (Belonging{{}, 1, 2}));
  EXPECT_EQ(other.end(), whole.end());
  ASSERT_EQ(other.index().write_count, 5U);
  EXPECT_EQ(other.damage(), std::nullopt);
  std::string read(5000, ' ');
  other.read(0, std::as_writable_bytes(std::span(read)));
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(read.substr(1000 * i, 1000), std::string(1000, static_cast<char>('a' + i)));

  for (std::size_t cut = 0; cut < outline.size(); ++cut)
    EXPECT_THROW(
        log::outlined({outline.begin(), outline.begin() + static_cast<long>(cut)}, nullptr), Error)
        << cut;
}

}  // namespace
}  // namespace headrace::engine
