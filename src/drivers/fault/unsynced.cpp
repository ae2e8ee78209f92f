#include "drivers/fault/unsynced.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace headrace::fault {

void Unsynced::note_write(std::uint64_t offset, std::span<const std::byte> bytes) {
  Change change{false, offset, storage_.size(), {bytes.begin(), bytes.end()}, {}};
  if (offset < change.size_before) {
    change.before.resize(std::min<std::uint64_t>(bytes.size(), change.size_before - offset));
    storage_.read(offset, change.before);
  }
  changes_.push_back(std::move(change));
}

void Unsynced::note_resize(std::uint64_t size) {
  Change change{true, size, storage_.size(), {}, {}};
  if (size < change.size_before) {
    change.before.resize(change.size_before - size);
    storage_.read(size, change.before);
  }
  changes_.push_back(std::move(change));
}

std::vector<Kept> Unsynced::cut(Outcome outcome, Random& random) {
  std::vector<Kept> kept = survivors(outcome, random);
  roll_back();
  for (const Kept& one : kept) apply(one);
  forget();
  return kept;
}

// Also right for a last change that was noted and then not made, or made in part.
void Unsynced::roll_back() {
  for (const Change& change : std::views::reverse(changes_)) {
    if (!change.before.empty()) storage_.write(change.offset, change.before);
    storage_.resize(change.size_before);
  }
}

void Unsynced::apply(const Kept& kept) {
  const Change& change = changes_[kept.change];
  if (change.resize)
    storage_.resize(change.offset);
  else if (kept.bytes > 0)
    storage_.write(change.offset, std::span(change.after).first(kept.bytes));
}

Kept Unsynced::whole(std::size_t change) const { return {change, changes_[change].after.size()}; }

// The write up to a sector's end inside it; nothing of one that lies in a single sector.
Kept Unsynced::part(std::size_t change, Random& random) const {
  const std::uint64_t begin = changes_[change].offset;
  const std::uint64_t end = begin + changes_[change].after.size();
  const std::uint64_t first = begin / kSector + 1;  // the ends inside are first..last - 1
  const std::uint64_t last = (end + kSector - 1) / kSector;
  if (changes_[change].resize || first >= last) return {change, 0};
  return {change, (first + random.below(last - first)) * kSector - begin};
}

std::vector<Kept> Unsynced::survivors(Outcome outcome, Random& random) const {
  std::vector<Kept> kept;
  if (outcome == Outcome::lost) return kept;
  if (outcome == Outcome::kept || outcome == Outcome::torn) {
    const std::size_t number =
        outcome == Outcome::kept ? count() : random.below(changes_.size() + 1);
    for (std::size_t i = 0; i < number; ++i) kept.push_back(whole(i));
    if (number < count())
      if (const Kept torn = part(number, random); torn.bytes > 0) kept.push_back(torn);
    return kept;
  }
  for (std::size_t i = 0; i < count(); ++i) {
    if (random.coin()) continue;
    const Kept one = outcome == Outcome::mixed && random.coin() ? part(i, random) : whole(i);
    if (one.bytes > 0 || changes_[i].resize) kept.push_back(one);
  }
  for (std::size_t i = kept.size(); i > 1; --i) std::swap(kept[i - 1], kept[random.below(i)]);
  return kept;
}

}  // namespace headrace::fault
