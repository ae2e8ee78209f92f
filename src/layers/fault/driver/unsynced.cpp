#include "layers/fault/driver/unsynced.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace headrace::fault {

// The size is read with the lock held: a change must not be noted after a sync point with the size
// from before it.
void Unsynced::note(Change change, std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  change.size_before = storage_.size();
  if (change.offset < change.size_before) {
    change.before.resize(std::min(end, change.size_before) - change.offset);
    storage_.read(change.offset, change.before);
  }
  changes_.push_back(std::move(change));
}

void Unsynced::note_write(std::uint64_t offset,
                          std::span<const std::span<const std::byte>> pieces) {
  Change change{false, offset, 0, {}, {}};
  for (const auto piece : pieces)
    change.after.insert(change.after.end(), piece.begin(), piece.end());
  const std::uint64_t end = offset + change.after.size();
  note(std::move(change), end);
}

void Unsynced::note_resize(std::uint64_t size) { note({true, size, 0, {}, {}}, UINT64_MAX); }

std::uint64_t Unsynced::noted() const {
  const std::lock_guard lock(mutex_);
  return forgotten_ + changes_.size();
}

void Unsynced::forget(std::uint64_t noted) {
  const std::lock_guard lock(mutex_);
  if (noted <= forgotten_) return;
  const auto count = static_cast<std::ptrdiff_t>(noted - forgotten_);
  changes_.erase(changes_.begin(), changes_.begin() + count);
  forgotten_ = noted;
}

void Unsynced::forget() { forget(noted()); }

std::size_t Unsynced::count() const {
  const std::lock_guard lock(mutex_);
  return changes_.size();
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
