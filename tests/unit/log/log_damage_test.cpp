// Logs that are cut off or damaged, and how writing one guards against that.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <random>
#include <string>

#include "unit/files.hpp"
#include "unit/log/log_contents.hpp"

namespace headrace::engine::log {
namespace {

TEST(LogFile, LargeWritesAreCutIntoSegments) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  Writer writer(file.storage());
  writer.add(dataset(8, 'x'));
  std::vector<std::uint64_t> data(20U << 20U);  // 160 MiB
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = i * 0x9e3779b97f4a7c15;
  writer.append(std::as_bytes(std::span(data)).first(1000));
  writer.append(std::as_bytes(std::span(data)).subspan(1000));
  writer.add(0, Pattern({{7, data.size()}}, {}), 7);
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.damage(), std::nullopt);
  LoggedWrites held;
  held.add(reader, 0);
  std::vector<std::uint64_t> found(data.size());
  Covered covered(data.size());
  held.apply(std::array{headrace::engine::Run{7, data.size()}},
             std::as_writable_bytes(std::span(found)), covered);
  EXPECT_TRUE(covered.all());
  EXPECT_TRUE(found == data);
}

// After a crash: what was flushed before the place is found, and no more; nothing says then that
// this is all.
TEST(LogFile, CutAnywhere) {
  std::mt19937 random(12);
  const TestFolder folder;
  const TestFile file(folder / "log");
  std::vector<Content> contents{Content(2)};
  std::vector<std::pair<std::uint64_t, std::size_t>> flushed{{0, 0}};  // size of the file, writes
  {
    Writer writer(file.storage());
    writer.add(dataset(2, 'x'));
    for (std::size_t i = 1; i <= 12; ++i) {
      write_some(writer, contents, random);
      if (i % 3 != 0) continue;
      writer.flush(false);
      flushed.emplace_back(std::filesystem::file_size(file.path), i);
    }
    writer.close(false);
  }
  const std::string whole = content(file.path);
  for (std::uint64_t size = 0; size <= whole.size(); ++size) {
    const TestFile cut(folder / "cut");
    write(*cut.storage(), 0, {std::string_view(whole).substr(0, size)});
    const Reader reader = read_log(cut.path);
    std::size_t expected = 0;
    for (const auto& [bytes, writes] : flushed)
      if (bytes <= size) expected = writes;
    EXPECT_EQ(reader.index().write_count, expected) << size;
    EXPECT_EQ(reader.closed(), size == whole.size()) << size;
    EXPECT_LE(reader.covered(), reader.end()) << size;
    EXPECT_EQ(reader.damage(), std::nullopt) << size;
  }
}

// The bytes of a log with three flushes.
std::string three_flushes(const std::string& path, bool close) {
  std::mt19937 random(13);
  const TestFile file(path);
  std::vector<Content> contents{Content(4), Content(1)};
  Writer writer(file.storage());
  for (const Content& one : contents) writer.add(dataset(one.element, 'x'));
  for (int i = 0; i < 9; ++i) {
    write_some(writer, contents, random);
    if (i % 3 == 2) writer.flush(false);
  }
  if (close) writer.close(false);
  return content(path);
}

Reader read_bytes(const std::string& path, std::string_view bytes) {
  const TestFile file(path);
  write(*file.storage(), 0, {bytes});
  return read_log(path);
}

std::string flipped(std::string bytes, std::size_t place, std::mt19937& random) {
  bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
  return bytes;
}

TEST(LogFile, DamageAnywhereIsFound) {
  std::mt19937 random(14);
  const TestFolder folder;
  const std::string whole = three_flushes(folder / "log", true);
  for (std::size_t place = 0; place < whole.size(); ++place) {
    const Reader reader = read_bytes(folder / "damaged", flipped(whole, place, random));
    EXPECT_TRUE(!reader.closed() || reader.damage()) << place;
  }
  EXPECT_TRUE(read_bytes(folder / "longer", whole + '\0').damage());
}

// A crash damages nothing that a flush ends behind, so this is none.
TEST(LogFile, DamageBeforeTheLastFlushIsNoCrash) {
  std::mt19937 random(15);
  const TestFolder folder;
  const std::string whole = three_flushes(folder / "log", false);
  const std::size_t last = whole.rfind(kMagic);  // of the index
  for (std::size_t place = 0; place < whole.size(); ++place) {
    const Reader reader = read_bytes(folder / "damaged", flipped(whole, place, random));
    EXPECT_FALSE(reader.closed());
    EXPECT_EQ(reader.damage().has_value(), place < last) << place;
    EXPECT_TRUE(place < last || reader.covered() < last) << place;
  }
}

// Notes how far writes reach until the first is synchronised.
class UntilSynced final : public io::File {
 public:
  UntilSynced(std::unique_ptr<io::File> under, std::uint64_t& end)
      : under_(std::move(under)), end_(end) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    under_->write(offset, pieces);
    for (const auto piece : pieces) offset += piece.size();
    const std::lock_guard lock(mutex_);
    if (!synced_) end_ = std::max(end_, offset);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    under_->read(offset, bytes);
  }
  void sync() override {
    const std::lock_guard lock(mutex_);
    synced_ = true;
    under_->sync();
  }
  void resize(std::uint64_t size) override { under_->resize(size); }

 private:
  std::unique_ptr<io::File> under_;
  std::mutex mutex_;
  bool synced_ = false;
  std::uint64_t& end_;
};

TEST(LogFile, AnIndexIsWrittenWhenItsDataIsSafe) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  std::uint64_t end = 0;
  Writer writer(std::make_unique<UntilSynced>(file.storage(), end));
  writer.add(dataset(1, 'x'));
  const std::string data(100000, 'a');
  writer.append(std::as_bytes(std::span(data)));
  writer.add(0, Pattern({{0, data.size()}}, {}), 0);
  writer.flush(true);
  EXPECT_EQ(end, kHeaderBytes + data.size());
  EXPECT_GT(std::filesystem::file_size(file.path), end);
}

}  // namespace
}  // namespace headrace::engine::log
