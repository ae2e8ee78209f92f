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

// Else few bytes might take much memory.
void expect_use(const headrace::engine::log::Index& index) {
  std::vector<bool> used(index.patterns.size());
  for (const auto& write : index.writes) used.at(write.pattern) = true;
  if (std::ranges::find(used, false) != used.end()) std::abort();
  for (const auto& dataset : index.datasets)
    if (dataset.kind->row.size() >= headrace::engine::kMaxRank) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::engine;
  constexpr std::uint64_t kData = 4096;
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
  for (const log::LoggedWrite& write : reader.index().writes) {
    const Pattern& pattern = reader.index().patterns.at(write.pattern);
    const std::uint64_t element = reader.index().datasets.at(write.dataset).kind->element;
    if (write.position + pattern.elements() * element > kData) std::abort();
    std::uint64_t elements = 0;
    pattern.within(0, ~std::uint64_t{0}, [&](const Run& run, std::uint64_t position) {
      if (run.first + run.count > pattern.extent()) std::abort();
      if (position + run.count > pattern.elements()) std::abort();
      elements += run.count;
    });
    if (elements != pattern.elements()) std::abort();
  }
  return 0;
}
