#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <random>
#include <string>

#include "unit/files.hpp"
#include "unit/log/log_contents.hpp"

namespace headrace::engine::log {
namespace {

TEST(LogFile, HoldsWhatWasWritten) {
  std::mt19937 random(11);
  const TestFolder folder;
  for (int round = 0; round < 50; ++round) {
    const TestFile file(folder / "log");
    std::vector<Content> contents{Content(1), Content(8), Content(12)};
    Writer writer(file.storage());
    for (char name = 'a'; const Content& content : contents)
      writer.add(dataset(content.element, name++));
    const auto writes = random() % 40;
    for (unsigned i = 0; i < writes; ++i) {
      write_some(writer, contents, random);
      if (random() % 5 == 0) writer.flush(false);
    }
    if (round % 2 == 0)
      writer.flush(true);
    else
      writer.close(round % 4 == 1);
    const Reader reader = read_log(file.path);
    EXPECT_EQ(reader.end(), std::filesystem::file_size(file.path));
    EXPECT_EQ(reader.covered(), reader.end());
    EXPECT_EQ(reader.closed(), round % 2 == 1);
    EXPECT_EQ(reader.damage(), std::nullopt);
    ASSERT_EQ(reader.index().write_count, writes);
    for (std::uint32_t i = 0; i < contents.size(); ++i) {
      LoggedWrites held;
      if (writes > 0) held.add(reader, i);
      expect_content(held, contents[i], random);
      expect_selected(held, contents[i], random);
    }
  }
}

TEST(LogFile, TellsWhereItGoesOn) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  Writer writer(file.storage());
  writer.add(dataset(1, 'x'));
  for (const std::uint64_t first : {30U, 10U, 12U}) {
    const std::string data(5, 'a');
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{first, 5}}, {}), first);
  }
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.end(), writer.end());
  EXPECT_EQ(reader.index().write_count, writer.writes());
  LoggedWrites held;
  EXPECT_EQ(held.next(0, 0), ~std::uint64_t{0});
  held.add(reader, 0);
  EXPECT_EQ(held.next(0, 0), 10);
  EXPECT_EQ(held.next(16, 16), 16);
  EXPECT_EQ(held.next(17, 17), 30);
  EXPECT_EQ(held.next(35, 35), ~std::uint64_t{0});
}

// A storage that is full for a while.
class Failing : public io::File {
 public:
  Failing(std::unique_ptr<io::File> storage, const bool& full)
      : storage_(std::move(storage)), full_(full) {}
  void write(std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) override {
    // All of the first half is there.
    if (full_) storage_->write(offset, pieces.first(pieces.size() / 2 + 1));
    if (full_) throw Error("no room", ENOSPC);
    storage_->write(offset, pieces);
  }
  void read(std::uint64_t offset, std::span<std::byte> bytes) override {
    storage_->read(offset, bytes);
  }
  void sync() override { storage_->sync(); }
  void resize(std::uint64_t size) override { storage_->resize(size); }

 private:
  std::unique_ptr<io::File> storage_;
  const bool& full_;
};

TEST(LogFile, HasAllButALargeWriteThatFailed) {
  constexpr std::uint64_t kLarge = 3'000'001;
  constexpr std::uint64_t kGathered = 200'000;
  const TestFolder folder;
  const TestFile file(folder / "log");
  bool full = false;
  Writer writer(std::make_unique<Failing>(file.storage(), full));
  writer.add(dataset(1, 'x'));
  const auto write = [&](char value, std::uint64_t first, std::uint64_t size) {
    const std::string data(size, value);
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{first, size}}, {}), first);
  };
  write('a', 0, 100);
  write('b', kLarge / 2, kGathered);
  full = true;
  // The first large write goes to the storage at once; later ones only where it was fast.
  EXPECT_THROW(write('c', 0, kLarge), Error);
  full = false;
  write('d', 10, kLarge / 2);
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.damage(), std::nullopt);
  EXPECT_EQ(reader.index().write_count, 3);
  LoggedWrites held;
  held.add(reader, 0);
  std::string found(kLarge / 2 + kGathered, '-');
  Covered covered(found.size());
  const std::array rows{engine::Run{0, found.size()}};
  held.apply(rows, std::as_writable_bytes(std::span(found)), covered, 0);
  EXPECT_TRUE(covered.all());
  EXPECT_EQ(found,
            std::string(10, 'a') + std::string(kLarge / 2, 'd') + std::string(kGathered - 10, 'b'));
}

TEST(LogFile, SaysWhatItBelongsTo) {
  const TestFolder folder;
  const TestFile nobodys(folder / "nobodys");
  Writer(nobodys.storage()).flush(false);
  EXPECT_EQ(read_log(nobodys.path).owner(), std::nullopt);

  const TestFile file(folder / "log");
  Belonging owner{{}, 2, 3};
  owner.owner.fill(std::byte{7});
  Writer writer(file.storage(), owner);
  writer.add(dataset(1, 'x'));
  const std::string data(10, 'a');
  writer.append(std::as_bytes(std::span(data)));
  writer.add(0, Pattern({{5, 10}}, {}), 5);
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.owner(), owner);
  EXPECT_EQ(reader.index().write_count, 1);

  // Cut off, or of another version.
  auto bytes = encode(owner);
  EXPECT_EQ(decode_owner(bytes), owner);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_THROW(decode_owner(std::span(bytes).first(i)), Error) << i;
  bytes[0] = std::byte{2};
  EXPECT_THROW(decode_owner(bytes), Error);
  EXPECT_THROW(decode_owner(encode(Belonging{{}, 3, 3})), Error);
}

TEST(LogFile, FlushesThatFailAreTriedAgain) {
  std::mt19937 random(14);
  const TestFolder folder;
  const TestFile file(folder / "log");
  std::vector<Content> contents{Content(4)};
  std::atomic<bool> full = true;
  Writer writer(std::make_unique<Before>(file.storage(), [&] {
    if (full) throw Error("no space");
  }));
  writer.add(dataset(4, 'x'));
  for (int i = 0; i < 3; ++i) {
    write_some(writer, contents, random);
    EXPECT_THROW(writer.flush(false), Error);
  }
  full = false;
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.end(), writer.end());
  EXPECT_EQ(reader.index().write_count, writer.writes());
  LoggedWrites held;
  held.add(reader, 0);
  expect_content(held, contents[0], random);
}

TEST(LogFile, SaysWhatDatasetsAre) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  const Kind field{8, "8-byte little-endian float e11 m52", {7, 1, std::uint64_t{1} << 40}};
  const std::vector<LoggedDataset> datasets{dataset(field, 'x'), dataset(1, 'y'),
                                            dataset(field, 'z')};
  Writer writer(file.storage());
  for (const LoggedDataset& one : datasets) writer.add(one);
  const std::string data(8, 'a');
  writer.append(std::as_bytes(std::span(data)));
  writer.add(0, Pattern({{5, 1}}, {}), 5);
  writer.close(false);
  const Reader reader = read_log(file.path);
  ASSERT_EQ(reader.index().datasets.size(), datasets.size());
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    const LoggedDataset& found = reader.index().datasets[i];
    EXPECT_EQ(found.kind->element, datasets[i].kind->element);
    EXPECT_EQ(found.token, datasets[i].token);
    EXPECT_EQ(found.name, datasets[i].name);
    EXPECT_EQ(found.kind->type, datasets[i].kind->type);
    EXPECT_EQ(found.kind->row, datasets[i].kind->row);
  }
}

TEST(LogFile, LaterEpochsThenLaterLogsWin) {
  const TestFolder folder;
  const TestFile one(folder / "one");
  const TestFile two(folder / "two");
  Writer first(one.storage());
  Writer second(two.storage());
  const auto put = [](Writer& writer, char byte, std::uint64_t at) {
    const std::string data(10, byte);
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{at, 10}}, {}), at);
  };
  first.add(dataset(1, 'x'));
  second.add(dataset(1, 'x'));
  put(second, 'b', 0);
  put(first, 'a', 5);
  put(first, 'A', 20);
  second.flush(false);
  first.flush(false);
  put(second, 'B', 25);
  put(first, 'c', 0);
  first.flush(false);
  second.flush(false);
  const Reader read_first = read_log(one.path);
  const Reader read_second = read_log(two.path);
  LoggedWrites held;
  held.add(read_first, 0);
  held.add(read_second, 0);
  std::string found(40, '.');
  Covered covered(40);
  held.apply(std::array{headrace::engine::Run{0, found.size()}},
             std::as_writable_bytes(std::span(found)), covered);
  EXPECT_EQ(found, "ccccccccccaaaaa.....AAAAABBBBBBBBBB.....");
}

}  // namespace
}  // namespace headrace::engine::log
