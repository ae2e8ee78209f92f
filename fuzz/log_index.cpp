// Any bytes are segments of a log's index, all of whose writes have data and places and all of
// whose patterns have writes, or an Error. A line break separates the segments.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "engine/box.hpp"
#include "engine/log/index_reader.hpp"
#include "percent.hpp"

namespace {

constexpr std::uint64_t kData = 4096;

// Else few bytes might take much memory.
void expect_use(const headrace::engine::log::Index& index) {
  std::vector<bool> used(index.patterns.size());
  std::uint64_t count = 0;
  for (const auto& writes : index.writes) {
    for (const auto& write : writes) used.at(write.pattern) = true;
    count += writes.size();
  }
  if (count != index.write_count || index.writes.size() != index.datasets.size()) std::abort();
  if (std::ranges::find(used, false) != used.end()) std::abort();
  for (const auto& dataset : index.datasets)
    if (dataset.kind->row.size() >= headrace::engine::kMaxRank) std::abort();
}

void expect_sound(const headrace::engine::Pattern& pattern, std::uint64_t position,
                  std::uint64_t element) {
  using headrace::engine::Run;
  if (position + pattern.elements() * element > kData) std::abort();
  std::uint64_t elements = 0;
  pattern.within(0, ~std::uint64_t{0}, [&](const Run& run, std::uint64_t at) {
    if (run.first + run.count > pattern.extent()) std::abort();
    if (at + run.count > pattern.elements()) std::abort();
    elements += run.count;
  });
  if (elements != pattern.elements()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::engine;
  const std::string input = from_percent(data, size);
  log::IndexReader reader;
  try {
    for (std::size_t begin = 0; begin <= input.size();) {
      const std::size_t end = std::min(input.find('\n', begin), input.size());
      reader.add(std::string_view(input).substr(begin, end - begin), kData);
      begin = end + 1;
      expect_use(reader.index());
    }
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  const log::Index& index = reader.index();
  for (std::size_t i = 0; i < index.datasets.size(); ++i)
    for (const log::LoggedWrite& write : index.writes[i])
      expect_sound(index.patterns.at(write.pattern), write.position,
                   index.datasets[i].kind->element);
  return 0;
}
