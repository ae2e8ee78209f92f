#include "engine/log/layers.hpp"

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

void Layers::add(const Reader& reader, std::uint32_t dataset) {
  const Index& index = reader.index();
  element_ = index.datasets.at(dataset).element;
  for (const LoggedWrite& write : index.writes)
    if (write.dataset == dataset)
      writes_.push_back({&reader, &index.patterns[write.pattern], write.first, write.position,
                         write.epoch, writes_.size()});
  sort();
}

void Layers::sort() {
  std::ranges::sort(writes_, {}, &Write::first);
  reaches_.clear();
  std::uint64_t reach = 0;
  for (const Write& write : writes_) reaches_.push_back(reach = std::max(reach, write.end()));
}

template <typename Visit>
void Layers::visit_within(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
  const auto behind = std::ranges::lower_bound(writes_, end, {}, &Write::first);
  for (auto at = static_cast<std::size_t>(behind - writes_.begin());
       at > 0 && reaches_[at - 1] > begin; --at)
    if (writes_[at - 1].end() > begin && !visit(writes_[at - 1])) return;
}

std::vector<const Layers::Write*> Layers::within(std::uint64_t begin, std::uint64_t end) const {
  std::vector<const Write*> found;
  visit_within(begin, end, [&](const Write& write) {
    found.push_back(&write);
    return true;
  });
  std::ranges::sort(found, {},
                    [](const Write* one) { return std::tuple(one->epoch, one->number); });
  return found;
}

std::uint64_t Layers::next(std::uint64_t begin) const {
  const auto behind = std::ranges::upper_bound(writes_, begin, {}, &Write::first);
  const auto before = static_cast<std::size_t>(behind - writes_.begin());
  if (before > 0 && reaches_[before - 1] > begin) return begin;
  return behind == writes_.end() ? ~std::uint64_t{0} : behind->first;
}

bool Layers::any(std::uint64_t begin, std::uint64_t end) const {
  bool found = false;
  visit_within(begin, end, [&](const Write&) {
    found = true;
    return false;
  });
  return found;
}

void Layers::apply(std::uint64_t begin, std::span<std::byte> bytes, Covered& covered,
                   std::uint64_t place) const {
  for (const Write* write : within(begin, begin + bytes.size() / element_))
    copy(*write, begin, bytes, covered, place);
}

void Layers::copy(const Write& write, std::uint64_t begin, std::span<std::byte> bytes,
                  Covered& covered, std::uint64_t place) const {
  // Runs that lie together in the range lie together in the log, but for points without order.
  constexpr std::uint64_t kTogether = 32 << 20;
  const std::uint64_t end = begin + bytes.size() / element_;
  const auto visit = [&](const auto& action) {
    write.pattern->within(std::max(begin, write.first) - write.first, end - write.first,
                          [&](const Run& run, std::uint64_t position) {
                            action(write.first + run.first - begin, run.count, position);
                          });
  };
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  visit([&](std::uint64_t, std::uint64_t count, std::uint64_t position) {
    low = std::min(low, position);
    high = std::max(high, position + count);
  });
  if (high == 0) return;
  const bool together = (high - low) * element_ <= kTogether;
  Buffer data(together ? (high - low) * element_ : 0);
  if (together) write.reader->read(write.position + low * element_, data.bytes());
  visit([&](std::uint64_t at, std::uint64_t count, std::uint64_t position) {
    const auto to = bytes.subspan(at * element_, count * element_);
    if (together)
      std::memcpy(to.data(), data.data() + (position - low) * element_, to.size());
    else
      write.reader->read(write.position + position * element_, to);
    covered.add(place + at, place + at + count);
  });
}

}  // namespace headrace::engine::log
