#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine/codec/deflate.hpp"
#include "engine/log/index_reader.hpp"
#include "engine/log/index_writer.hpp"
#include "engine/varint.hpp"
#include "support/rounds.hpp"

namespace headrace::engine::log {
namespace {

using Parts = std::array<std::string, Columns::kHowMany>;

std::string contents_of(const Parts& parts) {
  std::string contents(1, '\0');
  for (const std::string& part : parts) put_varint(contents, part.size());
  for (const std::string& part : parts) contents += part;
  return contents;
}

std::string plain(const std::string& contents) {
  std::string segment;
  put_varint(segment, contents.size());
  return segment + contents;
}

std::string compressed(const std::string& contents, std::uint64_t size) {
  std::string segment;
  put_varint(segment, size);
  const Buffer small = deflate(6, std::as_bytes(std::span(contents)));
  return segment.append(reinterpret_cast<const char*>(small.data()), small.size());
}

// One dataset of single bytes, patterns of one run each, and writes of them.
Parts parts_of(const std::string& counts, const std::string& patterns) {
  Parts parts;
  parts[Columns::kinds] = std::string("\1\0\1", 3);
  for (const auto name : {Columns::kind_of, Columns::token_low, Columns::token_high})
    parts.at(name) = std::string(1, '\0');
  parts[Columns::name_length] = '\1';
  parts[Columns::names] = 'x';
  for (const char count : counts) {
    parts[Columns::head] += {'\0', '\1'};
    parts[Columns::gap] += '\0';
    parts[Columns::count] += count;
    parts[Columns::times] += '\1';
  }
  parts[Columns::pattern] = patterns;
  for (const auto name : {Columns::dataset, Columns::unit, Columns::first})
    parts.at(name) = std::string(patterns.size(), '\0');
  return parts;
}

std::size_t writes_in(const std::string& segment, std::uint64_t data = 100) {
  IndexReader reader;
  reader.add(segment, data);
  return reader.index().write_count;
}

TEST(LogIndex, AllPatternsAreUsed) {
  const auto read = [](const std::string& counts, const std::string& patterns) {
    return writes_in(plain(contents_of(parts_of(counts, patterns))));
  };
  const std::string fresh(1, '\0');
  EXPECT_EQ(read("\x3c\x28", fresh + fresh), 2);
  EXPECT_EQ(read("\x28", fresh + '\1'), 2);
  EXPECT_EQ(read("\x28\x0a", fresh + fresh + '\2' + '\1'), 4);
  EXPECT_THROW(read("\x28", fresh + '\2'), Error) << "there is no such pattern";
  EXPECT_THROW(read("\x28", "\1"), Error) << "none is known yet";
  EXPECT_THROW(read("\x3c\x28", fresh), Error) << "nobody needs the second";
  EXPECT_THROW(read("\x3c", ""), Error);
  EXPECT_THROW(read("\x3c\x3c", fresh + fresh), Error) << "more data than there is";
}

TEST(LogIndex, ColumnsAreOfTheSameThings) {
  const Parts good = parts_of("\5", std::string(1, '\0'));
  EXPECT_EQ(writes_in(plain(contents_of(good))), 1);
  for (std::size_t i = 0; i < good.size(); ++i) {
    Parts parts = good;
    parts.at(i) += '\0';
    EXPECT_THROW(writes_in(plain(contents_of(parts))), Error) << i;
    if (i == Columns::kinds) continue;
    parts.at(i) = good.at(i).substr(1);
    EXPECT_THROW(writes_in(plain(contents_of(parts))), Error) << i;
  }
  Parts parts = good;
  parts[Columns::unit] = '\1';
  EXPECT_THROW(writes_in(plain(contents_of(parts))), Error) << "it has one dimension";
}

TEST(LogIndex, ADimensionWithoutElementsIsNoUnit) {
  Parts parts = parts_of("\5", std::string(1, '\0'));
  parts[Columns::kinds] = std::string("\1\0\2\3", 4);
  EXPECT_EQ(writes_in(plain(contents_of(parts))), 1);
  parts[Columns::kinds] = std::string("\1\0\2\0", 4);
  EXPECT_THROW(writes_in(plain(contents_of(parts))), Error);
}

TEST(LogIndex, CompressedContentsAreNoMoreThanTheyShould) {
  const std::string few = contents_of(parts_of("\5", std::string(1, '\0')));
  EXPECT_EQ(writes_in(compressed(few, few.size())), 1);
  EXPECT_THROW(writes_in(compressed(few, few.size() + 1)), Error);
  EXPECT_THROW(writes_in(compressed(few, few.size() - 1)), Error);
  EXPECT_THROW(writes_in(compressed(few, std::uint64_t{1} << 50U)), Error);
  EXPECT_THROW(writes_in(compressed(few, ~std::uint64_t{0})), Error);
  std::string damaged = compressed(few, few.size());
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_THROW(writes_in(damaged), Error);
  // As many writes of a byte each as there is data for, and a name that nothing is written for.
  const std::string many =
      contents_of(parts_of("\1", std::string(1, '\0') + std::string(99, '\1')));
  EXPECT_EQ(writes_in(compressed(many, many.size())), 100);
  Parts parts = parts_of("\5", std::string(1, '\0'));
  parts[Columns::names] = std::string(100000, 'x');
  parts[Columns::name_length].clear();
  put_varint(parts[Columns::name_length], parts[Columns::names].size());
  const std::string name = contents_of(parts);
  EXPECT_EQ(writes_in(plain(name)), 1);
  EXPECT_THROW(writes_in(compressed(name, name.size())), Error);
  EXPECT_EQ(writes_in(compressed(name, name.size()), 100000), 1);
}

struct Written {
  std::uint32_t dataset;
  Pattern pattern;
  std::uint64_t first;
};

void expect_equal(const Index& index, const std::vector<Written>& writes) {
  ASSERT_EQ(index.write_count, writes.size());
  std::vector<std::size_t> seen(index.datasets.size());
  std::uint64_t position = 0;
  for (const Written& write : writes) {
    const LoggedWrite& found = index.writes.at(write.dataset).at(seen[write.dataset]++);
    EXPECT_EQ(found.position, position);
    position += write.pattern.elements() * index.datasets[write.dataset].kind->element;
    EXPECT_EQ(found.first, write.first);
    std::array<PatternColumns, 2> columns;
    index.patterns.at(found.pattern).encode(1, columns[0]);
    write.pattern.encode(1, columns[1]);
    EXPECT_EQ(columns[0].head, columns[1].head);
    EXPECT_EQ(columns[0].gap, columns[1].gap);
    EXPECT_EQ(columns[0].count, columns[1].count);
    EXPECT_EQ(columns[0].times, columns[1].times);
  }
}

// The rows that are written are often the same, of datasets with rows of different lengths.
Written some_write(std::uint32_t dataset, std::uint64_t row, std::mt19937& random) {
  const std::uint64_t unit = random() % 4 == 0 ? 1 : row;
  std::vector<Run> runs;
  std::uint64_t at = 0;
  for (auto left = 1 + random() % 3; left > 0; --left) {
    runs.push_back({at * unit, (1 + random() % 2) * unit});
    at += 2 + random() % 2;
  }
  if (random() % 5 == 0) std::ranges::reverse(runs);
  return {dataset, Pattern(runs, {}), random() % 50 * (random() % 4 == 0 ? 1 : unit)};
}

TEST(LogIndex, HoldsWhatWasAdded) {
  std::mt19937 random(21);
  for (unsigned round = 0; round < test::rounds(200); ++round) {
    IndexWriter writer;
    IndexReader reader;
    std::vector<LoggedDataset> datasets;
    std::vector<Written> writes;
    std::uint64_t data = 0;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      for (auto left = random() % 20 + (epoch == 0 ? 1 : 0); left > 0; --left) {
        LoggedDataset dataset;
        dataset.kind = std::make_shared<const Kind>(
            Kind{1 + random() % 2, std::string(random() % 3, 't'), {1 + random() % 3, 5}});
        for (std::byte& byte : dataset.token) byte = static_cast<std::byte>(random());
        dataset.name = std::string(random() % 4, static_cast<char>('a' + datasets.size() % 20));
        EXPECT_EQ(writer.add(dataset), datasets.size());
        datasets.push_back(dataset);
      }
      for (auto left = random() % 100; left > 0; --left) {
        const auto dataset = static_cast<std::uint32_t>(random() % datasets.size());
        const Kind& kind = *datasets[dataset].kind;
        writes.push_back(some_write(dataset, 5 * (random() % 2 == 0 ? 1 : kind.row[0]), random));
        writer.add(dataset, writes.back().pattern, writes.back().first);
        data += writes.back().pattern.elements() * kind.element;
      }
      reader.add(writer.take(epoch), data);
      expect_equal(reader.index(), writes);
      EXPECT_EQ(reader.index().data_bytes, data);
    }
    ASSERT_EQ(reader.index().datasets.size(), datasets.size());
    for (std::size_t i = 0; i < datasets.size(); ++i) {
      const LoggedDataset& found = reader.index().datasets[i];
      EXPECT_EQ(found.name, datasets[i].name);
      EXPECT_EQ(found.token, datasets[i].token);
      EXPECT_EQ(found.kind->element, datasets[i].kind->element);
      EXPECT_EQ(found.kind->type, datasets[i].kind->type);
      EXPECT_EQ(found.kind->row, datasets[i].kind->row);
    }
  }
}

// What an ocean model's ranks write: the same rows of variables with rows of other lengths.
TEST(LogIndex, TheSameRowsOfOtherVariablesCostNextToNothing) {
  std::mt19937 random(22);
  const auto size_with = [&](std::uint32_t variables) {
    IndexWriter writer;
    for (std::uint32_t i = 0; i < variables; ++i) {
      const std::uint64_t row = std::array{1, 100, 101}.at(i % 3);
      writer.add({std::make_shared<const Kind>(Kind{8, "8-byte float", {row}}), {}, "v"});
    }
    for (std::uint64_t rank = 0; rank < 16; ++rank) {
      std::vector<engine::Run> cells;
      for (std::uint64_t at = 0; cells.size() < 10; at += 2 + random() % 40)
        cells.push_back({at, 1 + random() % 2});
      for (std::uint32_t i = 0; i < variables; ++i) {
        const std::uint64_t row = std::array{1, 100, 101}.at(i % 3);
        std::vector<engine::Run> rows;
        rows.reserve(cells.size());
        for (const engine::Run& cell : cells) rows.push_back({cell.first * row, cell.count * row});
        writer.add(i, Pattern(rows, {}), (rank * 1000 + 7) * row);
      }
    }
    return writer.take(0).size();
  };
  EXPECT_LT(size_with(60), size_with(3) + 100);
}

}  // namespace
}  // namespace headrace::engine::log
