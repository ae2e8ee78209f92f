// What tests write to logs, and find in them again.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/log/logged_writes.hpp"
#include "engine/log/reader.hpp"
#include "engine/log/writer.hpp"
#include "unit/files.hpp"

namespace headrace::engine::log {

inline constexpr std::uint64_t kElements = 300;

inline LoggedDataset dataset(Kind kind, char name) {
  LoggedDataset result;
  result.kind = std::make_shared<const Kind>(std::move(kind));
  result.name = name;
  result.token.fill(static_cast<std::byte>(name));
  return result;
}

inline LoggedDataset dataset(std::uint64_t element, char name) {
  return dataset(Kind{element, {}, {}}, name);
}

// Now and then the same columns in some rows.
inline constexpr std::uint64_t kRow = 60;
inline constexpr std::array<std::uint64_t, 1> kStrides{kRow};

inline std::vector<Run> some_columns(std::mt19937& random) {
  std::vector<Run> runs;
  const std::uint64_t begin = random() % kRow;
  const std::uint64_t first = random() % 3;
  const std::uint64_t rows = 1 + random() % (kElements / kRow - first);
  for (std::uint64_t row = first; row < first + rows; ++row)
    for (std::uint64_t at = begin; at < kRow; at += 20) runs.push_back({row * kRow + at, 1});
  return runs;
}

inline std::vector<Run> some_runs(std::mt19937& random) {
  if (random() % 3 == 0) return some_columns(random);
  std::vector<Run> runs;
  for (std::uint64_t at = random() % 200; at < kElements && runs.size() < 12;) {
    runs.push_back({at, std::min<std::uint64_t>(1 + random() % 9, kElements - at)});
    at += runs.back().count + 1 + random() % 9;
  }
  if (random() % 4 == 0) std::ranges::shuffle(runs, random);
  return runs;
}

inline std::unique_ptr<io::File> open(const std::string& path) {
  return io::posix_file(path.c_str());
}

inline Reader read_log(const std::string& path) {
  return {open(path), std::filesystem::file_size(path)};
}

// What datasets of a number of elements hold, and which of them were written.
struct Content {
  explicit Content(std::size_t of) : element(of), bytes(of * kElements, '\0'), written(kElements) {}
  std::size_t element;
  std::string bytes;
  std::vector<bool> written;
};

// A write of random runs to a random one of the datasets.
inline void write_some(Writer& writer, std::vector<Content>& contents, std::mt19937& random) {
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

inline void expect_content(const LoggedWrites& held, const Content& content, std::mt19937& random) {
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t begin = i == 0 ? 0 : random() % kElements;
    const std::uint64_t end = i == 0 ? kElements : begin + random() % (kElements - begin + 1);
    std::string found((end - begin) * content.element, '\0');
    Covered covered(end - begin);
    held.apply(std::array{headrace::engine::Run{begin, end - begin}},
               std::as_writable_bytes(std::span(found)), covered);
    EXPECT_EQ(found, content.bytes.substr(begin * content.element, found.size()));
    const auto written = std::count(content.written.begin() + static_cast<long>(begin),
                                    content.written.begin() + static_cast<long>(end), true);
    EXPECT_EQ(covered.none(), written == 0);
    EXPECT_EQ(covered.all(), static_cast<std::uint64_t>(written) == end - begin);
    const auto next = std::ranges::find(content.written.begin() + static_cast<long>(begin),
                                        content.written.end(), true);
    const auto at = next == content.written.end()
                        ? ~std::uint64_t{0}
                        : static_cast<std::uint64_t>(next - content.written.begin());
    EXPECT_EQ(held.next(begin, begin), at);
    const std::uint64_t any = held.next(begin, end);
    EXPECT_TRUE(any == at || (any > begin && any < end && content.written[any]));
  }
}

// Selected elements only, in the order of a hyperslab or, in that of points, in any.
inline void expect_selected(const LoggedWrites& held, const Content& content,
                            std::mt19937& random) {
  for (int i = 0; i < 20; ++i) {
    std::vector<Run> runs = some_runs(random);
    if (i % 2 == 0) std::ranges::sort(runs, {}, &Run::first);
    std::string expected;
    for (const Run& run : runs)
      expected += content.bytes.substr(run.first * content.element, run.count * content.element);
    std::string found(expected.size(), '\0');
    Covered covered(elements_of(runs));
    held.apply(runs, std::as_writable_bytes(std::span(found)), covered);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace headrace::engine::log
