#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "engine/log/node_file.hpp"
#include "engine/log/reader.hpp"
#include "engine/log/writer.hpp"
#include "unit/files.hpp"

namespace headrace {
namespace {

using engine::Pattern;
using engine::io::File;
using engine::log::Belonging;
using engine::log::NodeFile;
using engine::log::Reader;
using engine::log::Writer;

constexpr std::uint64_t kBlock = 4096;

NodeFile node_of(std::vector<std::uint32_t> ranks) {
  NodeFile node{{}, 1, 3, kBlock, std::move(ranks)};
  node.owner.fill(std::byte{7});
  return node;
}

// A file with logs of nothing.
class Logs {
 public:
  explicit Logs(std::vector<std::uint32_t> ranks)
      : node(node_of(std::move(ranks))), file_(folder_ / "logs") {
    make_node_file(*file_.storage(), node);
  }
  [[nodiscard]] std::unique_ptr<engine::io::File> log(std::size_t place) const {
    return engine::log::log_in(file_.storage(), node, place);
  }
  [[nodiscard]] std::uint64_t length(std::size_t place) const {
    return engine::log::length_of(*file_.storage(), node, place, bytes());
  }
  [[nodiscard]] std::unique_ptr<engine::io::File> file() const { return file_.storage(); }
  [[nodiscard]] std::uint64_t bytes() const { return std::filesystem::file_size(file_.path); }
  [[nodiscard]] Reader reader(std::size_t place) const { return {log(place), length(place)}; }

  const NodeFile node;

 private:
  TestFolder folder_;
  TestFile file_;
};

std::string random_text(std::mt19937& random, std::size_t bytes) {
  std::string text(bytes, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(LogNodeFile, SaysWhatItIs) {
  for (const std::size_t ranks : {1U, 3U, 250U, 3000U}) {
    std::vector<std::uint32_t> numbers(ranks);
    for (std::size_t i = 0; i < ranks; ++i) numbers[i] = static_cast<std::uint32_t>(5 * i + 2);
    const Logs logs(numbers);
    EXPECT_EQ(engine::log::node_file_of(*logs.file()), logs.node);
    EXPECT_EQ(logs.bytes(), logs.node.begin());
    for (std::size_t place = 0; place < ranks; ++place) EXPECT_EQ(logs.length(place), 0U);
  }
}

TEST(LogNodeFile, LogsAreFilesOfTheirOwn) {
  std::mt19937 random(3);
  const Logs logs({4, 0, 9});
  std::vector<std::string> expected(3);
  std::vector<std::unique_ptr<engine::io::File>> files;
  files.reserve(3);
  for (std::size_t place = 0; place < 3; ++place) files.push_back(logs.log(place));
  for (int i = 0; i < 300; ++i) {
    const std::size_t place = random() % 3;
    std::string& text = expected[place];
    const std::size_t offset = random() % (place == 2 ? 100 * kBlock : 5 * kBlock);
    const std::string first = random_text(random, random() % 100);
    const std::string second = random_text(random, 1 + random() % (3 * kBlock));
    text.resize(std::max(text.size(), offset + first.size() + second.size()));
    text.replace(offset, first.size() + second.size(), first + second);
    write(*files[place], offset, {first, "", second});
    EXPECT_EQ(logs.length(place), text.size());
  }
  for (std::size_t place = 0; place < 3; ++place) {
    const auto again = logs.log(place);
    EXPECT_EQ(read(*again, 0, expected[place].size()), expected[place]);
    EXPECT_EQ(read(*again, expected[place].size(), kBlock), std::string(kBlock, '\0'));
  }
  EXPECT_EQ(engine::log::node_file_of(*logs.file()), logs.node);
}

void write_log(std::unique_ptr<engine::io::File> storage, std::uint32_t rank, int writes,
               bool closes) {
  Writer writer(std::move(storage), Belonging{{}, rank, 4});
  engine::log::LoggedDataset dataset;
  dataset.kind = std::make_shared<engine::log::Kind>(engine::log::Kind{1, {}, {}});
  writer.add(dataset);
  for (int i = 0; i < writes; ++i) {
    const std::string data(3000, static_cast<char>('a' + rank));
    writer.append(std::as_bytes(std::span(data)));
    writer.add(0, Pattern({{0, 3000}}, {}), 3000 * static_cast<std::uint64_t>(i));
    if (i % 7 == 6) writer.flush(false);
  }
  closes ? writer.close(false) : writer.flush(false);
}

void expect_log(const Logs& logs, std::uint32_t rank, int writes) {
  const Reader reader = logs.reader(rank);
  EXPECT_EQ(reader.owner(), (Belonging{{}, rank, 4}));
  EXPECT_EQ(reader.damage(), std::nullopt);
  ASSERT_EQ(reader.index().write_count, static_cast<std::size_t>(writes));
  std::string data(3000 * static_cast<std::size_t>(writes), ' ');
  reader.read(0, std::as_writable_bytes(std::span(data)));
  EXPECT_EQ(data, std::string(data.size(), static_cast<char>('a' + rank)));
}

TEST(LogNodeFile, ProcessesWriteAtOnce) {
  const Logs logs({0, 1, 2, 3});
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    children.push_back(::fork());
    if (children.back() > 0) continue;
    write_log(logs.log(rank), rank, 30 * static_cast<int>(rank + 1), true);
    std::_Exit(0);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    expect_log(logs, rank, 30 * static_cast<int>(rank + 1));
    EXPECT_TRUE(logs.reader(rank).closed());
  }
}

TEST(LogNodeFile, AKilledProcessLeavesWhatItFlushed) {
  const Logs logs({0, 1, 2, 3});
  for (const std::uint32_t rank : {0U, 2U}) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto log = logs.log(rank);
      write_log(logs.log(rank), rank, 20, false);
      const std::string more(10 * kBlock, 'x');  // in the file, but not told there
      logs.file()->write(logs.node.at(rank, logs.length(rank) / kBlock * kBlock + kBlock),
                         std::array{std::as_bytes(std::span(more)).first(kBlock)});
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  write_log(logs.log(1), 1, 50, true);
  expect_log(logs, 0, 20);
  expect_log(logs, 1, 50);
  expect_log(logs, 2, 20);
  EXPECT_FALSE(logs.reader(0).closed());
  EXPECT_EQ(logs.reader(3).owner(), std::nullopt);
}

TEST(LogNodeFile, NothingOfOldLogsIsFoundInNewOnes) {
  const Logs logs({0, 1, 2, 3});
  for (std::uint32_t rank = 0; rank < 4; ++rank) write_log(logs.log(rank), rank, 40, true);
  engine::log::empty_node_file(*logs.file(), logs.node);
  for (std::uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(logs.length(rank), 0U);
  write(*logs.log(1), 30 * kBlock, {"far"});
  EXPECT_EQ(read(*logs.log(1), 0, 30 * kBlock), std::string(30 * kBlock, '\0'));
  EXPECT_EQ(logs.reader(1).end(), 0U);
  for (std::uint32_t rank = 0; rank < 4; ++rank) write_log(logs.log(rank), rank, 2, true);
  for (std::uint32_t rank = 0; rank < 4; ++rank) expect_log(logs, rank, 2);
}

TEST(LogNodeFile, DamageIsFound) {
  const Logs logs({0, 1, 2});
  write(*logs.log(1), 0, {"some"});
  const std::size_t lengths = 64;  // behind 48 bytes and three numbers
  const std::string all = read(*logs.file(), 0, lengths + 48);
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string wrong = all;
    wrong[at] = static_cast<char>(wrong[at] ^ 4);
    write(*logs.file(), 0, {wrong});
    if (at < 60) {
      EXPECT_THROW(engine::log::node_file_of(*logs.file()), Error) << at;
    } else if (at >= lengths) {
      EXPECT_THROW(static_cast<void>(logs.length((at - lengths) / 16)), Error) << at;
    }
  }
  write(*logs.file(), 0, {all});
  EXPECT_EQ(logs.length(1), 4U);
}

TEST(LogNodeFile, LengthsEndWithTheFile) {
  const Logs logs({0, 1, 2});
  for (std::size_t place = 0; place < 3; ++place) write(*logs.log(place), 9 * kBlock, {"end"});
  for (std::uint64_t bytes = logs.bytes(); bytes > logs.node.begin(); bytes -= 512) {
    logs.file()->resize(bytes);
    for (std::size_t place = 0; place < 3; ++place) {
      const std::uint64_t length = logs.length(place);
      const auto is_in_file = [&](std::uint64_t at) { return logs.node.at(place, at) < bytes; };
      EXPECT_TRUE(length == 0 || is_in_file(length - 1));
      EXPECT_TRUE(length == 9 * kBlock + 3 || !is_in_file(length));
    }
  }
}

// Of a communicator of ranks on some nodes, what one sees.
class SomeNodes : public Communicator {
 public:
  explicit SomeNodes(std::vector<int> lowest) : lowest_(std::move(lowest)) {}
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return static_cast<int>(lowest_.size()); }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override { FAIL(); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    EXPECT_TRUE(std::ranges::equal(mine, std::as_bytes(std::span(lowest_)).subspan(4, 4)));
    std::ranges::copy(std::as_bytes(std::span(lowest_)), all.begin());
  }
  std::vector<std::vector<std::byte>> all_gather_any(std::span<const std::byte>) override {
    return {};
  }
  std::int64_t reduce(std::int64_t mine, Reduction) override { return mine; }
  int lowest_on_node() override {
    if (lowest_[1] < 0) throw Error("MPI is broken");
    return lowest_[1];
  }

 private:
  std::vector<int> lowest_;
};

TEST(LogNodeFile, RanksOfNodesAreToldByTheirLowest) {
  const std::vector<int> by_turns{0, 1, 0, 1, 4};
  SomeNodes nodes(by_turns);
  EXPECT_EQ(nodes_of(nodes), by_turns);
  for (const auto& wrong : {std::vector<int>{0, -1, 0}, {0, 0, 1}, {2, 0, 2}, {0, 1, 3}}) {
    SomeNodes misfits(wrong);
    EXPECT_THROW(nodes_of(misfits), Error);
  }
}

}  // namespace
}  // namespace headrace
