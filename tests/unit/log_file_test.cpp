#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <random>

#include "engine/log/layers.hpp"
#include "engine/log/reader.hpp"
#include "engine/log/writer.hpp"
#include "unit/devices.hpp"

namespace headrace::engine::log {
namespace {

constexpr std::uint64_t kElements = 300;

LoggedDataset dataset(Kind kind, char name) {
  LoggedDataset result;
  result.kind = std::make_shared<const Kind>(std::move(kind));
  result.name = name;
  result.token.fill(static_cast<std::byte>(name));
  return result;
}

LoggedDataset dataset(std::uint64_t element, char name) {
  return dataset(Kind{element, {}, {}}, name);
}

// Now and then the same columns in some rows.
constexpr std::uint64_t kRow = 60;
constexpr std::array<std::uint64_t, 1> kStrides{kRow};

std::vector<Run> some_columns(std::mt19937& random) {
  std::vector<Run> runs;
  const std::uint64_t begin = random() % kRow;
  const std::uint64_t first = random() % 3;
  const std::uint64_t rows = 1 + random() % (kElements / kRow - first);
  for (std::uint64_t row = first; row < first + rows; ++row)
    for (std::uint64_t at = begin; at < kRow; at += 20) runs.push_back({row * kRow + at, 1});
  return runs;
}

std::vector<Run> some_runs(std::mt19937& random) {
  if (random() % 3 == 0) return some_columns(random);
  std::vector<Run> runs;
  for (std::uint64_t at = random() % 200; at < kElements && runs.size() < 12;) {
    runs.push_back({at, std::min<std::uint64_t>(1 + random() % 9, kElements - at)});
    at += runs.back().count + 1 + random() % 9;
  }
  if (random() % 4 == 0) std::ranges::shuffle(runs, random);
  return runs;
}

std::unique_ptr<Device> open(const std::string& path) { return posix_device(path.c_str()); }

Reader read_log(const std::string& path) { return {open(path), std::filesystem::file_size(path)}; }

// What datasets of a number of elements hold, and which of them were written.
struct Content {
  explicit Content(std::size_t of) : element(of), bytes(of * kElements, '\0'), written(kElements) {}
  std::size_t element;
  std::string bytes;
  std::vector<bool> written;
};

// A write of random runs to a random one of the datasets.
void write_some(Writer& writer, std::vector<Content>& contents, std::mt19937& random) {
  const auto which = static_cast<std::uint32_t>(random() % contents.size());
  Content& content = contents[which];
  const std::vector<Run> runs = some_runs(random);
  std::uint64_t first = kElements;
  for (const Run& run : runs) {
    first = std::min(first, run.first);
    for (std::uint64_t i = run.first; i < run.first + run.count; ++i) content.written[i] = true;
    std::string data(run.count * content.element, ' ');
    for (char& c : data) c = static_cast<char>(random());
    content.bytes.replace(run.first * content.element, data.size(), data);
    writer.append(std::as_bytes(std::span(data)));
  }
  writer.add(which, Pattern(runs, kStrides), first);
}

void expect_content(const Layers& layers, const Content& content, std::mt19937& random) {
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t begin = i == 0 ? 0 : random() % kElements;
    const std::uint64_t end = i == 0 ? kElements : begin + random() % (kElements - begin + 1);
    std::string found((end - begin) * content.element, '\0');
    Covered covered(end - begin);
    layers.apply(std::array{headrace::engine::Run{begin, end - begin}},
                 std::as_writable_bytes(std::span(found)), covered);
    EXPECT_EQ(found, content.bytes.substr(begin * content.element, found.size()));
    const auto written = std::count(content.written.begin() + static_cast<long>(begin),
                                    content.written.begin() + static_cast<long>(end), true);
    EXPECT_EQ(covered.none(), written == 0);
    EXPECT_EQ(covered.all(), static_cast<std::uint64_t>(written) == end - begin);
    EXPECT_TRUE(written == 0 || layers.any(begin, end));
    EXPECT_TRUE(written == 0 || layers.next(begin) < end);
  }
}

// Selected elements only, in the order of a hyperslab or, in that of points, in any.
void expect_selected(const Layers& layers, const Content& content, std::mt19937& random) {
  for (int i = 0; i < 20; ++i) {
    std::vector<Run> runs = some_runs(random);
    if (i % 2 == 0) std::ranges::sort(runs, {}, &Run::first);
    std::string expected;
    for (const Run& run : runs)
      expected += content.bytes.substr(run.first * content.element, run.count * content.element);
    std::string found(expected.size(), '\0');
    Covered covered(elements_of(runs));
    layers.apply(runs, std::as_writable_bytes(std::span(found)), covered);
    EXPECT_EQ(found, expected);
  }
}

TEST(LogFile, HoldsWhatWasWritten) {
  std::mt19937 random(11);
  const TestFolder folder;
  for (int round = 0; round < 50; ++round) {
    const TestFile file(folder / "log");
    std::vector<Content> contents{Content(1), Content(8), Content(12)};
    Writer writer(file.device());
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
    ASSERT_EQ(reader.index().writes.size(), writes);
    for (std::uint32_t i = 0; i < contents.size(); ++i) {
      Layers layers;
      if (writes > 0) layers.add(reader, i);
      expect_content(layers, contents[i], random);
      expect_selected(layers, contents[i], random);
    }
  }
}

TEST(LogFile, TellsWhereItGoesOn) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  Writer writer(file.device());
  writer.add(dataset(1, 'x'));
  for (const std::uint64_t first : {30U, 10U, 12U}) {
    const std::string data(5, 'a');
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{first, 5}}, {}), first);
  }
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.end(), writer.end());
  EXPECT_EQ(reader.index().writes.size(), writer.writes());
  Layers layers;
  EXPECT_EQ(layers.next(0), ~std::uint64_t{0});
  layers.add(reader, 0);
  EXPECT_EQ(layers.next(0), 10);
  EXPECT_EQ(layers.next(16), 16);
  EXPECT_EQ(layers.next(17), 30);
  EXPECT_EQ(layers.next(35), ~std::uint64_t{0});
}

TEST(LogFile, SaysWhatItBelongsTo) {
  const TestFolder folder;
  const TestFile nobodys(folder / "nobodys");
  Writer(nobodys.device()).flush(false);
  EXPECT_EQ(read_log(nobodys.path).owner(), std::nullopt);

  const TestFile file(folder / "log");
  Belonging owner{{}, 2, 3};
  owner.owner.fill(std::byte{7});
  Writer writer(file.device(), owner);
  writer.add(dataset(1, 'x'));
  const std::string data(10, 'a');
  writer.append(std::as_bytes(std::span(data)));
  writer.add(0, Pattern({{5, 10}}, {}), 5);
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.owner(), owner);
  EXPECT_EQ(reader.index().writes.size(), 1);

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
  Writer writer(std::make_unique<Before>(file.device(), [&] {
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
  EXPECT_EQ(reader.index().writes.size(), writer.writes());
  Layers layers;
  layers.add(reader, 0);
  expect_content(layers, contents[0], random);
}

TEST(LogFile, SaysWhatDatasetsAre) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  const Kind field{8, "8-byte little-endian float e11 m52", {7, 1, std::uint64_t{1} << 40}};
  const std::vector<LoggedDataset> datasets{dataset(field, 'x'), dataset(1, 'y'),
                                            dataset(field, 'z')};
  Writer writer(file.device());
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
  Writer first(one.device());
  Writer second(two.device());
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
  Layers layers;
  layers.add(read_first, 0);
  layers.add(read_second, 0);
  std::string found(40, '.');
  Covered covered(40);
  layers.apply(std::array{headrace::engine::Run{0, found.size()}},
               std::as_writable_bytes(std::span(found)), covered);
  EXPECT_EQ(found, "ccccccccccaaaaa.....AAAAABBBBBBBBBB.....");
}

TEST(LogFile, LargeWritesAreCutIntoSegments) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  Writer writer(file.device());
  writer.add(dataset(8, 'x'));
  std::vector<std::uint64_t> data(20U << 20U);  // 160 MiB
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = i * 0x9e3779b97f4a7c15;
  writer.append(std::as_bytes(std::span(data)).first(1000));
  writer.append(std::as_bytes(std::span(data)).subspan(1000));
  writer.add(0, Pattern({{7, data.size()}}, {}), 7);
  writer.flush(false);
  const Reader reader = read_log(file.path);
  EXPECT_EQ(reader.damage(), std::nullopt);
  Layers layers;
  layers.add(reader, 0);
  std::vector<std::uint64_t> found(data.size());
  Covered covered(data.size());
  layers.apply(std::array{headrace::engine::Run{7, data.size()}},
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
    Writer writer(file.device());
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
    write(*cut.device(), 0, {std::string_view(whole).substr(0, size)});
    const Reader reader = read_log(cut.path);
    std::size_t expected = 0;
    for (const auto& [bytes, writes] : flushed)
      if (bytes <= size) expected = writes;
    EXPECT_EQ(reader.index().writes.size(), expected) << size;
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
  Writer writer(file.device());
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
  write(*file.device(), 0, {bytes});
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
class UntilSynced final : public Device {
 public:
  UntilSynced(std::unique_ptr<Device> under, std::uint64_t& end)
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
  std::unique_ptr<Device> under_;
  std::mutex mutex_;
  bool synced_ = false;
  std::uint64_t& end_;
};

TEST(LogFile, AnIndexIsWrittenWhenItsDataIsSafe) {
  const TestFolder folder;
  const TestFile file(folder / "log");
  std::uint64_t end = 0;
  Writer writer(std::make_unique<UntilSynced>(file.device(), end));
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
