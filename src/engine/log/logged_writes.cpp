#include "engine/log/logged_writes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "engine/buffer.hpp"

namespace headrace::engine::log {

void Covered::add(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t at = begin; at < end;) {
    std::uint64_t& word = words_[at / kBits];
    const std::uint64_t stop = std::min(end, (at / kBits + 1) * kBits);
    const std::uint64_t mask = ~std::uint64_t{0} >> (kBits - (stop - at)) << at % kBits;
    count_ += static_cast<unsigned>(std::popcount(mask & ~word));
    word |= mask;
    at = stop;
  }
}

void LoggedWrites::add(const Reader& reader, std::uint32_t dataset, std::uint64_t end,
                       std::uint64_t begin) {
  const Index& index = reader.index();
  element_ = index.datasets.at(dataset).kind->element;
  const auto& all = index.writes[dataset];
  const auto first = std::ranges::lower_bound(all, begin, {}, &LoggedWrite::epoch);
  for (const LoggedWrite& write : std::ranges::subrange(first, all.end())) {
    if (write.epoch >= end) break;  // it never goes back
    writes_.push_back({&reader, &index.patterns[write.pattern], write.first, write.position,
                       write.epoch, writes_.size()});
  }
  constexpr std::size_t kFew = 64;
  if (unsorted().size() > kFew) sort();
}

void LoggedWrites::sort() {
  const auto middle = writes_.begin() + static_cast<std::ptrdiff_t>(reaches_.size());
  std::ranges::sort(middle, writes_.end(), {}, &Write::first);
  std::ranges::inplace_merge(writes_, middle, {}, &Write::first);
  reaches_.clear();
  std::uint64_t reach = 0;
  for (const Write& write : writes_) reaches_.push_back(reach = std::max(reach, write.end()));
}

std::uint64_t LoggedWrites::end() const {
  std::uint64_t end = reaches_.empty() ? 0 : reaches_.back();
  for (const Write& write : unsorted()) end = std::max(end, write.end());
  return end;
}

template <typename Visit>
void LoggedWrites::visit_within(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
  for (const Write& write : unsorted())
    if (write.first < end && write.end() > begin && !visit(write)) return;
  const auto behind = std::ranges::lower_bound(sorted(), end, {}, &Write::first);
  for (auto at = static_cast<std::size_t>(behind - sorted().begin());
       at > 0 && reaches_[at - 1] > begin; --at)
    if (writes_[at - 1].end() > begin && !visit(writes_[at - 1])) return;
}

std::vector<const LoggedWrites::Write*> LoggedWrites::within(std::uint64_t begin,
                                                             std::uint64_t end) const {
  std::vector<const Write*> found;
  visit_within(begin, end, [&](const Write& write) {
    found.push_back(&write);
    return true;
  });
  std::ranges::sort(found, {},
                    [](const Write* one) { return std::tuple(one->epoch, one->number); });
  return found;
}

std::uint64_t LoggedWrites::next(std::uint64_t begin, std::uint64_t enough) const {
  std::uint64_t found = ~std::uint64_t{0};
  const auto look = [&](const Write& write) {
    const std::uint64_t at = write.pattern->next(std::max(begin, write.first) - write.first);
    if (at != ~std::uint64_t{0}) found = std::min(found, write.first + at);
    return found >= enough;
  };
  visit_within(begin, begin + 1, look);
  const auto starts_behind = [&](const Write& write) {
    if (write.first > begin) found = std::min(found, write.first);
  };
  const auto behind = std::ranges::upper_bound(sorted(), begin, {}, &Write::first);
  if (found >= enough && behind != sorted().end()) starts_behind(*behind);
  if (found >= enough) std::ranges::for_each(unsorted(), starts_behind);
  return found;
}

void LoggedWrites::apply(std::span<const Run> runs, std::span<std::byte> bytes, Covered& covered,
                         std::uint64_t place) const {
  const auto goes_back = [](const Run& one, const Run& next) {
    return next.first < one.first + one.count;
  };
  // Points come in any order: what ascends is looked up together.
  while (!runs.empty()) {
    const auto last = std::ranges::adjacent_find(runs, goes_back);
    const auto size = static_cast<std::size_t>(last - runs.begin()) + (last != runs.end() ? 1 : 0);
    const auto part = runs.first(size);
    const std::uint64_t elements = elements_of(part);
    apply_ascending(part, bytes.first(elements * element_), covered, place);
    runs = runs.subspan(size);
    bytes = bytes.subspan(elements * element_);
    place += elements;
  }
}

void LoggedWrites::apply_ascending(std::span<const Run> runs, std::span<std::byte> bytes,
                                   Covered& covered, std::uint64_t place) const {
  const auto writes = within(runs.front().first, runs.back().first + runs.back().count);
  if (writes.empty()) return;
  Range range(runs);
  for (const Write* write : writes) {
    if (range.is(*write->pattern, write->first)) {
      write->reader->read(write->position, bytes);
      covered.add(place, place + range.elements());
    } else if (!range.misses(*write->pattern, write->first)) {
      copy(*write, range, bytes, covered, place);
    }
  }
}

// Calls visit(place in the range, count, position in the write) for what is in both.
template <typename Visit>
void LoggedWrites::match(const Write& write, const Range& range, const Visit& visit) {
  const auto runs = range.runs();
  const auto end_of = [&](std::size_t i) { return runs[i].first + runs[i].count; };
  const std::uint64_t begin = std::max(runs.front().first, write.first) - write.first;
  std::size_t i = 0;
  const auto step = [&](const Run& run, std::uint64_t position) {
    const std::uint64_t first = write.first + run.first;
    const std::uint64_t end = first + run.count;
    if (i > 0 && end_of(i - 1) > first)  // the write does not ascend
      i = static_cast<std::size_t>(
          std::ranges::partition_point(
              runs, [&](const Run& one) { return one.first + one.count <= first; }) -
          runs.begin());
    while (i < runs.size() && end_of(i) <= first) ++i;
    for (; i < runs.size() && runs[i].first < end; ++i) {
      const std::uint64_t from = std::max(first, runs[i].first);
      const std::uint64_t to = std::min(end, end_of(i));
      visit(range.before(i) + (from - runs[i].first), to - from, position + (from - first));
      if (end_of(i) > end) break;
    }
  };
  write.pattern->within(begin, end_of(runs.size() - 1) - write.first, step);
}

void LoggedWrites::copy(const Write& write, const Range& range, std::span<std::byte> bytes,
                        Covered& covered, std::uint64_t place) const {
  constexpr std::uint64_t kWindow = 1 << 20;
  constexpr std::uint64_t kNear = 4 << 10;  // takes no longer to read than to ask for
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  std::uint64_t pieces = 0;
  match(write, range, [&](std::uint64_t, std::uint64_t count, std::uint64_t position) {
    low = std::min(low, position);
    high = std::max(high, position + count);
    ++pieces;
  });
  if (high == 0) return;
  const std::uint64_t span = (high - low) * element_;
  // What lies near each other in the log is read at once. It comes in the order of the log.
  Buffer window(span / pieces < kNear ? std::min(span, kWindow) : 0);
  std::uint64_t begin = 0;  // of the window in the write
  std::uint64_t end = 0;
  match(write, range, [&](std::uint64_t at, std::uint64_t count, std::uint64_t position) {
    const auto to = bytes.subspan(at * element_, count * element_);
    const std::uint64_t from = position * element_;
    if (to.size() > window.size()) {
      write.reader->read(write.position + from, to);
    } else {
      if (from < begin || from + to.size() > end) {
        begin = from;
        end = std::min(from + window.size(), high * element_);
        write.reader->read(write.position + begin, window.bytes().first(end - begin));
      }
      std::memcpy(to.data(), window.data() + (from - begin), to.size());
    }
    covered.add(place + at, place + at + count);
  });
}

}  // namespace headrace::engine::log
