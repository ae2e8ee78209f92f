// Logs of random writes, and what they must hold.
#pragma once

#include <algorithm>
#include <filesystem>
#include <random>

#include "engine/log/reader.hpp"
#include "engine/log/writer.hpp"
#include "unit/devices.hpp"

namespace headrace::engine::log {

inline constexpr std::uint64_t kElements = 300;

inline LoggedDataset dataset(std::uint64_t element, char name) {
  LoggedDataset result;
  result.element = element;
  result.name = name;
  result.token.fill(static_cast<std::byte>(name));
  return result;
}

inline std::vector<Run> some_runs(std::mt19937& random) {
  std::vector<Run> runs;
  for (std::uint64_t at = random() % 200; at < kElements && runs.size() < 12;) {
    runs.push_back({at, std::min<std::uint64_t>(1 + random() % 9, kElements - at)});
    at += runs.back().count + 1 + random() % 9;
  }
  if (random() % 4 == 0) std::ranges::shuffle(runs, random);
  return runs;
}

inline std::unique_ptr<Device> open(const std::string& path) { return posix_device(path.c_str()); }

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
  writer.add(which, Pattern(runs, {}), first);
}

}  // namespace headrace::engine::log
